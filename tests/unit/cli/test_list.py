"""`midstream list`: which threads, in which order, and what of each."""

import subprocess
from pathlib import Path

import pytest

from midstream.server.cli.listing import list_threads
from support.cli import MIDSTREAM, midstream
from support.editor import editor_on
from unit.cli.conftest import Made


def titles(data: Path, *flags: object) -> list[str]:
    done = midstream("list", "--data-dir", data, "--json", *flags)
    assert (done.status, done.err) == (0, "")
    return [thread["title"] for thread in done.json]


def test_threads_are_listed_newest_first_with_who_took_part(data: Path, made: Made) -> None:
    short, long = midstream("list", "--data-dir", data, "--json").json
    assert set(short) == {"id", "title", "workspace", "providers", "status", "runs", "updatedAt", "archivedAt"}
    assert (short["title"], short["runs"], short["providers"]) == ("Sho\x1brt", 1, ["rehearsal"])
    assert (long["title"], long["runs"], long["providers"]) == ("Long", 2, ["rehearsal", "understudy"])
    assert (long["workspace"], long["status"], long["archivedAt"]) == (made.workspace.as_uri(), "idle", None)
    assert short["updatedAt"] > long["updatedAt"]


def test_archived_threads_are_listed_alone(data: Path) -> None:
    assert titles(data, "--archived") == ["Archived"]


def test_threads_of_a_workspace_are_listed_by_any_name_of_its_folder(data: Path, made: Made, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(made.workspace)
    assert titles(data, "--workspace", tmp_path / "link") == ["Sho\x1brt", "Long"]
    assert titles(data, "--workspace", tmp_path) == []


async def test_they_are_listed_beside_a_running_daemon_with_what_they_do(tmp_path: Path, workspace: Path) -> None:
    async with editor_on(tmp_path / "data", "--rehearsal") as editor:
        thread = await editor.new_thread(workspace, title="At work")
        run = await editor.begin(thread, "say: begun\nsleep 600000")
        await editor.until_output(run, "begun")
        (listed,) = midstream("list", "--data-dir", tmp_path / "data", "--json").json
        assert (listed["id"], listed["status"]) == (thread.id, "running")
        await editor.call("run/interrupt", run_id=run.id)
        assert (await editor.ended(run)).status == "interrupted"


def test_for_a_person_there_is_a_line_for_each_that_no_title_can_break(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert list_threads(data, None, archived=False, as_json=False) == 0
    head, short, long = capsys.readouterr().out.splitlines()
    assert head.split() == ["thread", "status", "runs", "providers", "updated", "workspace", "title"]
    assert short.endswith("  Sho rt")
    assert "  rehearsal, understudy  " in long


def test_where_there_are_none_that_is_said_and_nothing_is_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert list_threads(tmp_path / "data", None, archived=False, as_json=False) == 0
    told = capsys.readouterr()
    assert (told.out, told.err) == ("", "There are no such threads.\n")
    assert not (tmp_path / "data").exists()


def test_a_reader_that_has_seen_enough_is_no_error(data: Path) -> None:
    listing = subprocess.Popen(
        [*MIDSTREAM, "list", "--data-dir", str(data)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    with listing:
        assert listing.stdout is not None
        assert listing.stderr is not None
        listing.stdout.close()
        assert listing.stderr.read() == b""
    assert listing.returncode == 0
