"""A process that is killed while it writes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from midstream.server.graph.events import RunPut
from midstream.server.store import Store

TESTS = Path(__file__).parents[2]


def killed_after(acknowledged: int, path: Path) -> dict[str, int]:
    """Kill a writing process after so many acknowledgements; return each thread's last acknowledged ordinal."""
    with subprocess.Popen(
        [sys.executable, "-m", "support.store_writer", str(path)],
        cwd=TESTS,
        env=os.environ | {"PYTHONPATH": str(TESTS)},
        stdout=subprocess.PIPE,
        text=True,
    ) as writing:
        assert writing.stdout is not None
        lines = [writing.stdout.readline() for _ in range(acknowledged)]
        writing.kill()
        lines += writing.stdout.readlines()
    # The last line may have been cut in the middle.
    return {thread: int(ordinal) for thread, ordinal in (line.split() for line in lines if line.endswith("\n"))}


@pytest.mark.parametrize("acknowledged", [1, 400])
async def test_a_killed_process_loses_nothing_that_it_acknowledged(path: Path, acknowledged: int) -> None:
    last = killed_after(acknowledged, path)
    assert last
    store = await Store.open(path)
    try:
        for thread_id, ordinal in last.items():
            events = await store.events(thread_id, 0, 1_000_000)
            stored = [event.event.record.ordinal for event in events if isinstance(event.event, RunPut)]
            assert stored == list(range(1, len(stored) + 1))
            assert len(stored) >= ordinal
            text = await store.text(f"itm_{thread_id}", "text")
            assert text == "".join(f"{n} " for n in range(1, len(stored) + 1))
            assert await store.receipt(f"{thread_id}-{len(stored)}") is not None
            assert await store.receipt(f"{thread_id}-{len(stored) + 1}") is None
    finally:
        await store.aclose()
