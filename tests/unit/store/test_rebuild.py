"""The projections are what a replay of the log gives, and can be made anew from it."""

import asyncio
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from midstream.protocol.records.item import AgentMessageItem, UserMessageItem
from midstream.server.graph.events import (
    CheckpointPut,
    Event,
    HandoffPut,
    ItemPut,
    ProviderThreadPut,
    RequestPut,
    RunPut,
    TextAppended,
    ThreadPut,
    TransferPut,
)
from midstream.server.store import ItemAnchor, Store
from support import records
from support.stores import ThreadLog

THREADS = ("thr_1", "thr_2")
number = st.integers(1, 3)
said = partial(records.item, UserMessageItem)
answered = partial(records.item, AgentMessageItem)


def put(make: Callable[[str, int, bool], Event]) -> st.SearchStrategy[Callable[[str], Event]]:
    """Return events of one sort: of any of three records, in either of two versions."""
    return st.builds(lambda n, late: lambda thread_id: make(thread_id, n, late), number, st.booleans())


EVENTS = st.one_of(
    put(lambda t, n, late: ThreadPut(records.thread(id=t, title=f"{n}", status="running" if late else "idle"))),
    put(
        lambda t, n, late: RunPut(
            records.run(n if late else None, id=f"run_{t}_{n}", thread_id=t, status="running" if late else "queued")
        )
    ),
    put(
        lambda t, n, late: ItemPut(
            (said if n == 1 else answered)(
                n, id=f"itm_{t}_{n}", thread_id=t, text="words", status="completed" if late else "running"
            )
        )
    ),
    put(lambda t, n, late: CheckpointPut(records.checkpoint(f"ckp_{t}_{n}", thread_id=t, mixed=late))),
    put(lambda t, n, late: TransferPut(records.transfer(f"trf_{t}_{n}", "fork", error="late" if late else None))),
    put(lambda t, n, late: HandoffPut(records.handoff(f"hof_{t}_{n}", (n,), thread_id=t, redactions=int(late)))),
    put(
        lambda t, n, late: RequestPut(
            records.request(f"req_{t}_{n}", "?", thread_id=t, status="resolved" if late else "pending")
        )
    ),
    put(
        lambda t, n, late: ProviderThreadPut(
            records.provider_thread(id=f"pth_{t}_{n}", thread_id=t, model="late" if late else None)
        )
    ),
)
HISTORY = st.lists(st.tuples(st.sampled_from(THREADS), st.lists(EVENTS, max_size=5)), max_size=12)


def projections(path: Path) -> dict[str, list[tuple[object, ...]]]:
    with closing(sqlite3.connect(path)) as connection:
        return {
            table: connection.execute(f"SELECT * FROM {table} ORDER BY 1, 2, 3").fetchall()
            for table in ("threads", "items", "records")
        }


async def replayed(store: Store, thread_id: str) -> dict[str, object]:
    """Return the newest version of each record of a thread, as the log tells it."""
    events = await store.events(thread_id, 0, 10_000)
    puts = [committed.event for committed in events]
    return {event.record.id: event.record for event in puts if not isinstance(event, TextAppended)}


async def projected(store: Store, thread_id: str) -> dict[str, object]:
    """Return the same, as the projections hold it."""
    snapshot = await store.snapshot(thread_id)
    page = await store.items(((thread_id, None),), None, ItemAnchor(), 100)
    assert snapshot is not None
    assert page is not None
    read = snapshot.read
    lists = (read.runs, read.provider_threads, read.transfers, read.handoffs, read.checkpoints, read.requests)
    found = [read.thread, *page.items, *(record for records in lists for record in records)]
    return {record.id: record for record in found}


async def commit_all(store: Store, history: list[tuple[str, list[Callable[[str], Event]]]]) -> None:
    """Commit a history, what follows each other of one thread in one batch with the other's."""
    logs = {thread_id: ThreadLog(store, thread_id) for thread_id in THREADS}
    writes = [log.write(ThreadPut(records.thread(id=thread_id))) for thread_id, log in logs.items()]
    writes += [logs[thread_id].write(*(make(thread_id) for make in events)) for thread_id, events in history]
    await asyncio.gather(*map(store.commit, writes))


@given(HISTORY)
@settings(max_examples=30, deadline=None)
def test_replay_and_projections_and_rebuilt_projections_agree(
    history: list[tuple[str, list[Callable[[str], Event]]]],
) -> None:
    async def check(path: Path) -> None:
        store = await Store.open(path)
        try:
            await commit_all(store, history)
            for thread_id in THREADS:
                assert await projected(store, thread_id) == await replayed(store, thread_id)
            before = projections(path)
            await store.rebuild()
            assert projections(path) == before
        finally:
            await store.aclose()

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(check(Path(folder) / "midstream.db"))


async def test_a_rebuild_mends_projections_that_were_lost_or_are_wrong(
    store: Store, log: ThreadLog, path: Path
) -> None:
    await log.commit(
        ThreadPut(records.thread()),
        *(ItemPut(records.item(AgentMessageItem, n, text="words")) for n in range(1, 2_501)),
        RunPut(records.run(1)),
    )
    before = projections(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DELETE FROM items WHERE ordinal > 7")
        connection.execute("DELETE FROM threads")
        connection.execute("INSERT INTO records VALUES ('thr_1', 'run', 'run_9', 1, 9, 0)")
        connection.commit()
    assert await store.thread("thr_1") is None
    await store.rebuild()
    assert projections(path) == before
    assert await store.thread("thr_1") == records.thread()


async def test_a_rebuild_that_fails_leaves_the_projections_as_they_were(
    store: Store, log: ThreadLog, path: Path
) -> None:
    await log.commit(ThreadPut(records.thread()), RunPut(records.run(1)))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE events SET kind = 'unheard' WHERE sequence = 2")
        connection.commit()
    before = projections(path)
    with pytest.raises(KeyError, match="unheard"):
        await store.rebuild()
    assert projections(path) == before
    await log.commit(RunPut(records.run(2)))
