"""What load tests and the load bench share: an agent that says much, a large thread, and a process' memory."""

import sys
from pathlib import Path
from typing import Any

from midstream.protocol.records.item import AgentMessageItem
from midstream.protocol.records.run import RunAttempt
from midstream.server.graph.events import ItemPut, RunPut, ThreadPut
from midstream.server.store import Store
from support import records
from support.stores import ThreadLog

COMMAND = [sys.executable, "-S", str(Path(__file__).with_name("firehose.py"))]
RUNS = 100
TEXT = "x" * 200


def firehoses(*kinds: str) -> dict[str, Any]:
    """Return the configuration of agents that say as much as they are told."""
    return {"providers": {kind: {"driver": "acp", "command": COMMAND} for kind in kinds}}


async def fill(data: Path, items: int, workspace: Path) -> str:
    """Store a thread of so many items in `RUNS` runs, the last of them cut off by a crash, and return its id."""
    store = await Store.open(data / "midstream.db")
    log = ThreadLog(store, "thr_large")
    thread = records.thread(id=log.thread_id, workspace=workspace.as_uri(), status="running", updated_at=records.NOW)
    runs = [records.run(ordinal, thread_id=log.thread_id) for ordinal in range(1, RUNS)]
    attempt = RunAttempt(ordinal=1, provider_thread_id=None, provider_turn_id=None, reason="initial", status="running")
    last = records.run(RUNS, thread_id=log.thread_id, status="running", completed_at=None, attempts=(attempt,))
    runs.append(last)
    await log.commit(ThreadPut(thread), *map(RunPut, runs))
    for start in range(0, items, 500):
        numbers = range(start + 1, min(start + 500, items) + 1)
        await log.commit(
            *(ItemPut(_item(log.thread_id, number, number * RUNS // (items + 1) + 1)) for number in numbers)
        )
    await store.aclose()
    return log.thread_id


def _item(thread_id: str, ordinal: int, in_run: int) -> AgentMessageItem:
    return records.item(AgentMessageItem, ordinal, in_run=in_run, thread_id=thread_id, text=TEXT)


def peak(pid: int) -> int:
    """Return the most memory that a process ever had, in bytes."""
    status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return int(status["VmHWM"].split()[0]) * 1024
