"""Opening: what is no store of ours, or another's just now, is refused and left as it is."""

import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from midstream.protocol.errors import ErrorKind, MidstreamError
from midstream.protocol.records.item import AgentMessageItem
from midstream.server.graph.events import ItemPut, ThreadPut
from midstream.server.store import Store, StoreFailed
from support import records
from support.stores import ThreadLog


@pytest.fixture
async def closed(path: Path) -> Path:
    """A store with some content, closed."""
    store = await Store.open(path)
    log = ThreadLog(store)
    await log.commit(ThreadPut(records.thread()))
    for ordinal in range(1, 51):
        await log.commit(ItemPut(records.item(AgentMessageItem, ordinal, text="x" * 1_000)))
    await store.aclose()
    return path


def execute(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(statement)
        connection.commit()


def make_newer(path: Path) -> None:
    execute(path, "PRAGMA user_version = 1000")


def make_garbage(path: Path) -> None:
    path.write_bytes(b"no database at all\n" * 1_000)


def make_shorter(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2 // 4096 * 4096])


def make_tiny(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:50])


def make_foreign(path: Path) -> None:
    path.unlink()
    execute(path, "CREATE TABLE bookmarks (url TEXT)")


def overwrite_the_threads(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        (page,) = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'threads'").fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    with path.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)


def state_of(path: Path) -> tuple[bytes, int]:
    return path.read_bytes(), path.stat().st_mode


@contextmanager
def another_process_with(path: Path) -> Iterator[None]:
    """Hold the store open in another process, and kill that one."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holding:
        assert holding.stdout is not None
        assert holding.stdout.readline() == b"open\n"
        yield
        holding.kill()


HOLD = """
import asyncio, sys
from pathlib import Path
from midstream.server.store import Store

async def hold():
    store = await Store.open(Path(sys.argv[1]))
    print("open", flush=True)
    sys.stdin.read()
    await store.aclose()

asyncio.run(hold())
"""


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (make_newer, "storeNewer"),
        (make_garbage, "storeCorrupt"),
        (make_shorter, "storeCorrupt"),
        (make_tiny, "storeCorrupt"),
        (make_foreign, "storeCorrupt"),
    ],
)
async def test_a_file_that_cannot_be_used_is_refused_and_not_touched(
    closed: Path, change: Callable[[Path], None], kind: ErrorKind
) -> None:
    change(closed)
    before = state_of(closed)
    for _ in range(2):
        with pytest.raises(MidstreamError) as raised:
            await Store.open(closed)
        assert (raised.value.kind, raised.value.data["path"]) == (kind, str(closed))
        assert state_of(closed) == before


async def test_damage_found_while_reading_is_named(closed: Path) -> None:
    overwrite_the_threads(closed)
    store = await Store.open(closed)
    try:
        with pytest.raises(MidstreamError) as raised:
            await store.thread("thr_1")
        assert (raised.value.kind, raised.value.data["path"]) == ("storeCorrupt", str(closed))
    finally:
        await store.aclose()


async def test_a_store_that_is_open_cannot_be_opened_again_until_it_is_closed(closed: Path) -> None:
    first = await Store.open(closed)
    with pytest.raises(MidstreamError) as raised:
        await Store.open(closed)
    assert (raised.value.kind, raised.value.data["path"]) == ("storeLocked", str(closed))
    assert await first.thread("thr_1") == records.thread()
    await first.aclose()
    second = await Store.open(closed)
    assert await second.thread("thr_1") == records.thread()
    await second.aclose()


async def test_another_process_that_has_the_store_open_locks_this_one_out(closed: Path) -> None:
    with another_process_with(closed), pytest.raises(MidstreamError) as raised:
        await Store.open(closed)
    assert raised.value.kind == "storeLocked"
    store = await Store.open(closed)
    await store.aclose()


async def test_a_database_that_a_tool_has_locked_fails_the_write_and_not_the_store(store: Store, path: Path) -> None:
    log = ThreadLog(store)
    write = log.write(ThreadPut(records.thread()))
    with closing(sqlite3.connect(path, isolation_level=None)) as tool:
        tool.execute("BEGIN IMMEDIATE")
        with pytest.raises(MidstreamError) as raised:
            await store.commit(write)
        tool.execute("ROLLBACK")
    assert raised.value.kind == "storeLocked"
    await store.commit(write)
    assert await store.thread("thr_1") == records.thread()


async def test_the_store_is_for_its_user_alone(store: Store, log: ThreadLog, path: Path) -> None:
    await log.commit(ThreadPut(records.thread()))
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert {file.name for file in path.parent.iterdir()} == {
        path.name,
        f"{path.name}-wal",
        f"{path.name}-shm",
        f"{path.name}.lock",
    }
    assert {stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()} == {0o600}


async def test_a_folder_that_cannot_be_made_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreFailed, match=r"file/midstream\.db"):
        await Store.open(tmp_path / "file" / "midstream.db")


async def test_a_durable_store_keeps_what_another_wrote(closed: Path) -> None:
    store = await Store.open(closed, durable=True)
    await ThreadLog(store, "thr_2").commit(ThreadPut(records.thread(id="thr_2")))
    assert await store.thread("thr_1") == records.thread()
    assert await store.thread("thr_2") == records.thread(id="thr_2")
    await store.aclose()
