"""What the doctor says of a database: damaged, of another version, out of step with its log; and the rebuild."""

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from midstream.server.cli.listing import list_threads
from midstream.server.store.migrations import VERSION
from support.doctor import examined, locked
from support.editor import Editor, editor_on


def execute(data: Path, statement: str) -> None:
    with closing(sqlite3.connect(data / "midstream.db")) as connection:
        connection.execute(statement)
        connection.commit()


def garbage(data: Path) -> str:
    (data / "midstream.db").write_bytes(b"this is no database, whatever its name says" * 100)
    return "cannot be read: file is not a database"


def half(data: Path) -> str:
    file = data / "midstream.db"
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2 // 4096 * 4096])
    return "cannot be read: database disk image is malformed"


def newer(data: Path) -> str:
    execute(data, "PRAGMA user_version = 1000")
    return "was written by a newer Midstream (store version 1000)"


def another(data: Path) -> str:
    (data / "midstream.db").unlink()
    execute(data, "CREATE TABLE bookmarks (url TEXT)")
    return "it is no Midstream store"


def a_folder(data: Path) -> str:
    (data / "midstream.db").unlink()
    (data / "midstream.db").mkdir()
    return "there is no such file"


def a_pipe(data: Path) -> str:
    (data / "midstream.db").unlink()
    os.mkfifo(data / "midstream.db")
    return "there is no such file"


def no_record(data: Path) -> str:
    execute(data, "UPDATE events SET body = CAST('{}' AS BLOB) WHERE kind = 'thread'")
    return "it holds a record that is none"


def no_json(data: Path) -> str:
    execute(data, "UPDATE events SET body = CAST('{' AS BLOB) WHERE kind = 'providerThread'")
    return "malformed JSON"


@pytest.mark.parametrize(
    "harm", [garbage, half, newer, another, a_folder, a_pipe, no_record, no_json], ids=lambda harm: harm.__name__
)
async def test_a_database_that_cannot_be_read_is_an_error_and_is_left_as_it_is(
    data: Path, harm: Callable[[Path], str], capsys: pytest.CaptureFixture[str]
) -> None:
    message = harm(data)
    before = (data / "midstream.db").stat().st_mtime_ns
    found = await examined(data)
    assert [(subject, message in said) for subject, said in found.errors] == [("database", True)]
    assert found.about("checkpoints")[0][0] == "ok"
    assert (data / "midstream.db").stat().st_mtime_ns == before
    assert list_threads(data, None, archived=False, as_json=True) == 1
    told = capsys.readouterr()
    assert (told.out, message in told.err, "midstream doctor says more" in told.err) == ("", True, True)


async def test_damage_that_only_a_look_at_every_page_shows_is_an_error(data: Path) -> None:
    with closing(sqlite3.connect(data / "midstream.db")) as connection:
        query = "SELECT rootpage FROM sqlite_schema WHERE name = 'items_of_run'"
        (page,) = connection.execute(query).fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    with (data / "midstream.db").open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)
    ((subject, message),) = (await examined(data)).errors
    assert (subject, message.split(":")[0]) == ("database", "damaged")


async def test_an_older_database_is_told_of_and_brought_up_to_date_by_nobody_but_the_daemon(data: Path) -> None:
    execute(data, "PRAGMA user_version = 0")
    found = await examined(data)
    assert (found.errors, found.about("database")) == ([], [("warning", "whole, of the older version 0")])


async def test_a_write_ahead_log_that_nobody_writes_back_is_told_of(data: Path) -> None:
    execute(data, f"PRAGMA user_version = {VERSION}")  # leaves no log behind
    with (data / "midstream.db-wal").open("wb") as file:
        file.truncate(70_000_000)
    severity, message = (await examined(data)).about("database")[-1]
    assert (severity, message) == ("warning", "its write-ahead log has grown to 70.0 MB")


async def test_a_rebuild_gives_the_same_threads_runs_and_items(data: Path) -> None:
    async def everything(editor: Editor) -> tuple[object, ...]:
        page = await editor.call("thread/list")
        reads = [await editor.call("thread/read", thread_id=thread.id) for thread in page.threads]
        return page, reads, [await editor.items(thread) for thread in page.threads]

    copy = shutil.copytree(data, data.with_name("copy"))
    async with editor_on(copy, "--rehearsal") as editor:
        before = await everything(editor)
    found = await examined(data, rebuilding=True)
    assert (found.errors, found.about("rebuild")) == ([], [("ok", "tables made anew from the log")])
    async with editor_on(data, "--rehearsal") as editor:
        assert await everything(editor) == before


@pytest.mark.parametrize(
    ("harm", "places"),
    [
        ("DELETE FROM threads", 3),
        ("UPDATE items SET position = position + 1000000 WHERE ordinal = 1", 2),
        ("UPDATE records SET position = position + 1000000 WHERE kind = 'run'", 3),
        ("UPDATE threads SET position = position + 1000000", 3),
    ],
)
async def test_tables_that_disagree_with_the_log_are_an_error_that_a_rebuild_mends(
    data: Path, harm: str, places: int
) -> None:
    execute(data, harm)
    assert (await examined(data)).errors == [("database", f"its tables and its log disagree in {places} places")]
    assert (await examined(data, rebuilding=True)).errors == []


async def test_a_rebuild_is_refused_while_a_daemon_runs(data: Path) -> None:
    execute(data, "DELETE FROM threads")
    with locked(data, b'{"pid": 4711, "version": "0.1.0"}'):
        found = await examined(data, rebuilding=True)
    refusal = "not done: a daemon runs, pid 4711, and a rebuild needs the database alone"
    assert found.errors[0] == ("rebuild", refusal)
    assert found.wrong == ["rebuild", "database"]


async def test_a_log_that_cannot_be_read_is_not_rebuilt_from(data: Path) -> None:
    execute(data, "UPDATE events SET body = CAST('{}' AS BLOB) WHERE kind = 'item'")
    found = await examined(data, rebuilding=True)
    assert [(subject, "holds a record that is none" in said) for subject, said in found.errors] == [("rebuild", True)]
    assert (await examined(data)).errors == []


async def test_a_rebuild_makes_no_database_where_there_is_none(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    found = await examined(data, rebuilding=True)
    assert (found.errors, found.about("database")) == ([], [("ok", "not there yet")])
    assert list(data.iterdir()) == []
