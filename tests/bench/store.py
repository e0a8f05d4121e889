"""`store.commit_rate`: commits beside plain SQLite. `store.open_thread_growth`: what opening costs ten times later."""

import asyncio
import gc
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TypeAlias

sys.path.insert(0, str(Path(__file__).parents[1]))

import attrs
from figures import medians, show

from midstream.protocol.records.item import AgentMessageItem
from midstream.server.graph.events import ItemPut, RunPut, ThreadPut
from midstream.server.store import Store, Write
from support import records
from support.stores import ThreadLog

Rows: TypeAlias = dict[str, list[tuple[object, ...]]]

PRODUCERS = 64
LIVES, PIECES = 30, 4
COMMITS = LIVES * (PIECES + 2)
"""By each producer, one after the other."""
PIECE = "x" * 200
ROUNDS = 7
RATE_BAR = 0.6
RUNS = 100
GROWTH_BAR = 1.5


def writes_of(log: ThreadLog) -> Iterator[Write]:
    """Yield the lives of `LIVES` items: begun, `PIECES` pieces of text one after the other, ended."""
    for ordinal in range(1, LIVES + 1):
        item_id = f"itm_{log.thread_id}_{ordinal}"
        item = records.item(AgentMessageItem, ordinal, id=item_id, thread_id=log.thread_id, text="")
        yield log.write(ItemPut(attrs.evolve(item, status="running")))
        for _ in range(PIECES):
            yield log.write(log.text(item_id, PIECE))
        yield log.write(ItemPut(attrs.evolve(item, text=PIECE * PIECES)))


async def commits(path: Path) -> float:
    """Return commits in a second through the store."""
    store = await Store.open(path)
    producers = [tuple(writes_of(ThreadLog(store, f"thr_{number}"))) for number in range(PRODUCERS)]

    async def produce(writes: tuple[Write, ...]) -> None:
        for write in writes:
            await store.commit(write)

    # What was made beforehand is no garbage to look through while the clock runs.
    gc.collect()
    gc.freeze()
    began = time.perf_counter()
    await asyncio.gather(*map(produce, producers))
    seconds = time.perf_counter() - began
    gc.unfreeze()
    await store.aclose()
    return PRODUCERS * COMMITS / seconds


def rows_of(path: Path) -> Rows:
    """Return all that the commits wrote, and each item twice, as it was put."""
    with closing(sqlite3.connect(path)) as connection:
        rows = {table: connection.execute(f"SELECT * FROM {table}").fetchall() for table in ("events", "texts")}
        items = connection.execute("SELECT * FROM items ORDER BY position").fetchall()
    rows["items"] = [row for item in items for row in ((item[0], item[1] - 1, *item[2:5], 1, 0), item)]
    return rows


def plainly(path: Path, rows: Rows, empty: Path) -> float:
    """Return commits in a second of plain SQLite: the same rows into the same tables, `PRODUCERS` commits at once."""
    path.write_bytes(empty.read_bytes())
    batches = COMMITS
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        began = time.perf_counter()
        for batch in range(batches):
            connection.execute("BEGIN IMMEDIATE")
            for table, all_rows in rows.items():
                some = all_rows[len(all_rows) * batch // batches : len(all_rows) * (batch + 1) // batches]
                if some:
                    marks = ", ".join("?" * len(some[0]))
                    connection.executemany(f"INSERT OR REPLACE INTO {table} VALUES ({marks})", some)
            connection.execute("COMMIT")
        return PRODUCERS * COMMITS / (time.perf_counter() - began)


def commit_rate(folder: Path) -> None:
    empty, first = folder / "empty.db", folder / "first.db"

    async def make_empty() -> None:
        await (await Store.open(empty)).aclose()

    asyncio.run(make_empty())
    asyncio.run(commits(first))
    rows = rows_of(first)
    names = iter(range(1_000))
    ours, plain = medians(
        ROUNDS,
        lambda: asyncio.run(commits(folder / f"{next(names)}.db")),
        lambda: plainly(folder / f"{next(names)}.db", rows, empty),
    )
    show("store.commit_rate", ours, "commits/s", plain, RATE_BAR, higher_is_better=True)


async def fill(path: Path, items: int, threads: int) -> None:
    """Make a thread of `RUNS` runs with so many items, among so many threads."""
    store = await Store.open(path)
    for number in range(threads):
        log = ThreadLog(store, f"thr_{number}")
        await log.commit(ThreadPut(records.thread(id=log.thread_id, updated_at=records.NOW)))
    log = ThreadLog(store, "thr_1", sequence=1)
    runs = [RunPut(records.run(ordinal)) for ordinal in range(1, RUNS + 1)]
    for start in range(0, items, 500):
        puts = (
            ItemPut(records.item(AgentMessageItem, n, in_run=n * RUNS // (items + 1) + 1, text=PIECE))
            for n in range(start + 1, min(start + 500, items) + 1)
        )
        await log.commit(*puts)
    await log.commit(*runs)
    await store.aclose()


async def opened(path: Path) -> float:
    """Return seconds to read the thread and the first page of the list, twenty times."""
    store = await Store.open(path)
    began = time.perf_counter()
    for _ in range(20):
        snapshot = await store.snapshot("thr_1")
        page, _cursor = await store.threads(limit=50)
        assert snapshot is not None
        assert (len(snapshot.read.runs), len(page)) == (RUNS, 50)
    seconds = time.perf_counter() - began
    await store.aclose()
    return seconds


def open_thread_growth(folder: Path) -> None:
    large, small = folder / "large.db", folder / "small.db"
    asyncio.run(fill(large, 10_000, 1_000))
    asyncio.run(fill(small, 1_000, 100))
    ours, tenth = medians(ROUNDS, lambda: asyncio.run(opened(large)), lambda: asyncio.run(opened(small)))
    show("store.open_thread_growth", ours / 20, "s", tenth / 20, GROWTH_BAR)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="midstream-bench-") as folder:
        commit_rate(Path(folder))
        open_thread_growth(Path(folder))
