"""What load tests and the load bench share: an agent that says much, a large thread, and a process' memory."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs

from midstream.protocol.records.item import AgentMessageItem
from midstream.protocol.records.run import RunAttempt
from midstream.server.graph.events import ItemPut, RunPut, ThreadPut
from midstream.server.runtime.clock import system_clock
from midstream.server.runtime.ids import id_maker
from midstream.server.store import Store
from support import records
from support.stores import ThreadLog

COMMAND = [sys.executable, "-S", str(Path(__file__).with_name("firehose.py"))]
RUNS = 100
TEXT = "x" * 200


def firehoses(*kinds: str) -> dict[str, Any]:
    """Return the configuration of agents that say as much as they are told."""
    return {"providers": {kind: {"driver": "acp", "command": COMMAND} for kind in kinds}}


async def fill(
    data: Path, items: int, workspace: Path, text: Callable[[int], str] = lambda _: TEXT, provider: str = "codex"
) -> str:
    """Store a thread of so many items in `RUNS` runs, the last of them cut off by a crash, and return its id.

    `text` says for an ordinal what its item says; `provider` answered, and answers next.
    """
    store = await Store.open(data / "midstream.db")
    new_id = id_maker(system_clock)
    log = ThreadLog(store, new_id("thr"))
    thread = records.thread(
        id=log.thread_id,
        workspace=workspace.as_uri(),
        selection=records.selection(provider),
        status="running",
        updated_at=records.NOW,
    )
    runs = [records.run(ordinal, provider, id=new_id("run"), thread_id=log.thread_id) for ordinal in range(1, RUNS + 1)]
    attempt = RunAttempt(ordinal=1, provider_thread_id=None, provider_turn_id=None, reason="initial", status="running")
    runs[-1] = attrs.evolve(runs[-1], status="running", completed_at=None, attempts=(attempt,))
    await log.commit(ThreadPut(thread), *map(RunPut, runs))

    def item(ordinal: int) -> AgentMessageItem:
        run = runs[ordinal * RUNS // (items + 1)]
        place = {"id": new_id("itm"), "run_id": run.id, "thread_id": log.thread_id}
        return records.item(AgentMessageItem, ordinal, text=text(ordinal), **place)

    for start in range(0, items, 500):
        await log.commit(*(ItemPut(item(ordinal)) for ordinal in range(start + 1, min(start + 500, items) + 1)))
    await store.aclose()
    return log.thread_id


def peak(pid: int) -> int:
    """Return the most memory that a process ever had, in bytes."""
    status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return int(status["VmHWM"].split()[0]) * 1024
