"""A daemon that is killed in the middle of a restore: the next one finds the files as they were."""

import json

import pytest

from midstream.server.checkpoints import CheckpointError, CheckpointStore
from support.killed_restore import killed_restore
from support.workspaces import files_of

NOW = {"changed": b"2", "made": b"2", "other": b"2", "folder": b"a file now", "place/a/b": b"2"}


@pytest.fixture
async def first(store, workspace):
    workspace.commit(changed="1", deleted="1", other="1", place="1", **{"folder/inner": "1"})
    captured = await store.capture(workspace.path, "thread", "1")
    for name in ("deleted", "place", "folder/inner"):
        workspace.file(name).unlink()
    workspace.file("folder").rmdir()
    for name, content in NOW.items():
        workspace.write(name, content)
    await store.capture(workspace.path, "thread", "2")
    return captured


@pytest.fixture
def restore_killed(data, workspace, first):
    """Restore in a process that is killed after it came to a point so many times."""

    async def do(point: str, times: int) -> None:
        await killed_restore(data, workspace.path, "thread", first.ref, point, times)

    return do


POINTS = [*(("prepare", times) for times in (1, 3)), *(("set_aside", times) for times in (1, 3, 6)), ("fill", 5)]


@pytest.mark.parametrize(("point", "times"), POINTS)
async def test_files_are_as_before_once_the_next_daemon_has_started(data, workspace, restore_killed, point, times):
    await restore_killed(point, times)
    assert workspace.files() != NOW or point == "prepare"
    await CheckpointStore(data).recover()
    assert workspace.files() == NOW
    assert not list(data.glob("*/restore.json"))


async def test_no_checkpoint_holds_half_a_restore(data, workspace, first, restore_killed):
    await restore_killed("fill", 2)
    captured = await CheckpointStore(data).capture(workspace.path, "thread", "3")
    assert {name.decode(): content for name, (_, content) in files_of(data, captured.ref).items()} == NOW


async def test_what_the_user_edits_before_the_next_start_is_not_lost(data, workspace, restore_killed):
    await restore_killed("fill", 4)
    edited = [name for name, content in workspace.files().items() if content == b"1" and name[0] != "."]
    assert len(edited) == 4
    for name in edited:
        workspace.write(name, "edited after the crash")
    await CheckpointStore(data).recover()
    assert {name: workspace.files().get(name) for name in edited} == dict.fromkeys(edited, b"edited after the crash")


async def test_a_restore_can_be_done_anew_after_it_was_undone(data, workspace, first, restore_killed, restore):
    await restore_killed("fill", 1)
    done = await restore(first)
    assert done.conflicts == {}
    assert workspace.files() == {"changed": b"1", "deleted": b"1", "other": b"1", "place": b"1", "folder/inner": b"1"}


async def test_another_folder_in_the_place_of_the_workspace_stays_as_it_is(data, workspace, restore_killed):
    await restore_killed("fill", 1)
    workspace.path.rename(workspace.path.with_name("moved"))
    await CheckpointStore(data).recover()
    assert list(data.glob("*/restore.json"))
    workspace.path.mkdir()
    await CheckpointStore(data).recover()
    assert not list(data.glob("*/restore.json"))
    assert workspace.files() == {}


async def test_a_restore_that_cannot_be_undone_yet_stops_captures_and_says_so(data, workspace, restore_killed):
    await restore_killed("fill", 1)
    (journal,) = data.glob("*/restore.json")
    fields = json.loads(journal.read_text())
    fields["steps"] = [[path, before and [before[0], "0" * 40], after] for path, before, after in fields["steps"]]
    journal.write_text(json.dumps(fields))
    with pytest.raises(CheckpointError, match="was cut off, and cannot be undone"):
        await CheckpointStore(data).capture(workspace.path, "thread", "3")
    await CheckpointStore(data).recover()
    assert journal.exists()
