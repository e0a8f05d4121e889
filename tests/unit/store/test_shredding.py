"""What was forgotten is in none of the files any more, while the store is open."""

import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from midstream.protocol.records.item import AgentMessageItem
from midstream.server.graph.events import HandoffContent, HandoffPut, ItemPut, ThreadPut
from midstream.server.store import Receipt, Store, StoreFailed
from midstream.server.store.codec import encode_put
from midstream.server.store.migrations import APPLICATION_ID, MIGRATIONS
from support import records
from support.stores import ThreadLog

PIECES = (1, 10, 60, 400, 2000)
"""How often a phrase is repeated in a text: some stand within a page, some go on over several."""


def phrase(number: int) -> str:
    return f"phrase-of-thread-{number} "


def files_with(phrase: str, path: Path) -> dict[str, int]:
    """Return the files of a store that hold a phrase, and how often."""
    counts = {file.name: file.read_bytes().lower().count(phrase.encode()) for file in path.parent.iterdir()}
    return {name: count for name, count in counts.items() if count}


async def talk(store: Store, seed: int) -> list[ThreadLog]:
    """Let four threads say things of all lengths by turns, as they do when they run at once."""
    rng = random.Random(seed)
    logs = [ThreadLog(store, f"thr_{number}") for number in range(4)]
    for number, log in enumerate(logs):
        await log.commit(ThreadPut(records.thread(id=log.thread_id, title=phrase(number))))
    for ordinal in range(1, 150):
        number = rng.randrange(4)
        log, said = logs[number], phrase(number)
        item_id = f"itm_{number}_{ordinal}"
        item = records.item(AgentMessageItem, ordinal, id=item_id, thread_id=log.thread_id, text=said)
        content = HandoffContent(said * rng.choice(PIECES), said, ())
        await log.commit(
            ItemPut(item),
            log.text(item_id, said * rng.choice(PIECES)),
            HandoffPut(records.handoff(f"hof_{item_id}", (1,), thread_id=log.thread_id), content),
            receipt=Receipt(command_id=item_id, method="run/start", params_sha256="", answer=said.encode()),
        )
    return logs


@pytest.mark.parametrize("seed", range(4))
async def test_nothing_of_a_forgotten_thread_is_left_in_the_files(store: Store, path: Path, seed: int) -> None:
    forgotten, *others = await talk(store, seed)
    assert {"midstream.db-wal"} <= files_with(phrase(0), path).keys()
    await forgotten.commit(forget=True)
    await store.shred()
    assert files_with(phrase(0), path) == {}
    for number, log in enumerate(others, start=1):
        assert await store.thread(log.thread_id) is not None
        assert files_with(phrase(number), path)
        await log.commit(ThreadPut(records.thread(id=log.thread_id)))


@pytest.mark.parametrize("seed", [0, 5])
async def test_copies_that_the_database_made_when_it_moved_rows_are_gone_too(
    store: Store, path: Path, seed: int
) -> None:
    rng = random.Random(seed)
    logs = [ThreadLog(store, f"thr_{number:03}") for number in range(200)]
    rng.shuffle(logs)
    for _ in range(900):  # titles of changing length, which move their neighbours in the index of threads
        log = rng.choice(logs)
        title = f"{log.thread_id} " * rng.choice((1, 10, 60, 100))
        await log.commit(ThreadPut(records.thread(id=log.thread_id, title=title)))
    forgotten = [log for log in logs if log.sequence and log.thread_id[-1] in "05"]
    for log in forgotten:
        await log.commit(forget=True)
    await store.shred()
    assert [log.thread_id for log in forgotten if files_with(f"{log.thread_id} ", path)] == []


async def test_forgotten_text_is_overwritten_before_the_files_are_made_anew(
    store: Store, log: ThreadLog, path: Path
) -> None:
    await log.commit(ThreadPut(records.thread(title=phrase(0) * 5000)))
    await log.commit(forget=True)
    with closing(sqlite3.connect(path)) as outside:
        outside.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert files_with(phrase(0), path) == {}


async def test_a_reader_from_outside_makes_the_shredding_fail_and_a_later_one_succeeds(
    store: Store, log: ThreadLog, path: Path
) -> None:
    await log.commit(ThreadPut(records.thread(title=phrase(0))))
    with closing(sqlite3.connect(path, isolation_level=None)) as outside:
        outside.execute("BEGIN")
        outside.execute("SELECT count(*) FROM events").fetchone()
        await log.commit(forget=True)
        with pytest.raises(StoreFailed, match="still in its log"):
            await store.shred()
        outside.execute("COMMIT")
    await store.shred()
    assert files_with(phrase(0), path) == {}


async def test_receipts_of_the_first_version_lose_what_they_quote_with_their_thread(path: Path) -> None:
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as connection:
        for statement in MIGRATIONS[0]:
            connection.execute(statement)
        put = encode_put(ThreadPut(records.thread()))
        connection.execute("INSERT INTO events VALUES (1, 'thr_1', 1, 'c-1', 'thread', ?)", (put,))
        connection.execute("INSERT INTO receipts VALUES ('c-1', 'run/start', '', ?)", (phrase(0).encode(),))
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute("PRAGMA user_version = 1")
        connection.commit()
    store = await Store.open(path)
    await ThreadLog(store, sequence=1).commit(forget=True)
    forgotten = await store.receipt("c-1")
    await store.aclose()
    assert forgotten is not None
    assert forgotten.answer == b""
