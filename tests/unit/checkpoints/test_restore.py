"""Bringing files back: what is written, what is left alone, and what stands against it."""

import os
import stat

import pytest

from midstream.server.checkpoints import (
    CheckpointError,
    CheckpointMissing,
    CheckpointPolicy,
    CheckpointStore,
    Selection,
)
from midstream.server.checkpoints.plan import CHANGED, IN_THE_WAY, NOT_KEPT, UNSAVED
from support.workspaces import Workspace, files_of, state


@pytest.fixture
def capture(store, workspace):
    async def take(name: str, path=workspace.path, thread: str = "thread", **options):
        return await store.capture(path, thread, name, **options)

    return take


@pytest.fixture
async def first(workspace, capture):
    """A checkpoint of four files, after which one was changed, one deleted, one made and one left."""
    workspace.commit(changed="1", deleted="1", left="1", **{"folder/inner": "1"})
    captured = await capture("1")
    workspace.write("changed", "2")
    workspace.file("deleted").unlink()
    workspace.write("made/new", "2")
    return captured


FIRST = {"changed": b"1", "deleted": b"1", "left": b"1", "folder/inner": b"1"}
SECOND = {"changed": b"2", "left": b"1", "made/new": b"2", "folder/inner": b"1"}


async def test_the_workspace_is_as_the_checkpoint_and_unchanged_files_are_not_touched(
    workspace, capture, first, restore
):
    await capture("2")
    left = workspace.file("left").stat()
    done = await restore(first)
    assert workspace.files() == FIRST
    assert not workspace.file("made").exists()
    assert workspace.file("left").stat() == left
    assert set(done.plan.written) == {b"changed", b"deleted"}
    assert set(done.plan.deleted) == {b"made/new"}
    assert (await capture("3")).tree == first.tree


async def test_a_restore_is_undone_by_restoring_its_safety_checkpoint_and_redone(workspace, capture, first, restore):
    await capture("2")
    undo = (await restore(first)).safety
    redo = (await restore(undo)).safety
    assert workspace.files() == SECOND
    await restore(redo)
    assert workspace.files() == FIRST


async def test_one_file_or_folder_only_is_brought_back(workspace, capture, first, restore):
    second = await capture("2")
    await restore(first, "changed", "made")
    assert workspace.files() == {"changed": b"1", "left": b"1", "folder/inner": b"1"}
    await restore(second, "made")
    assert workspace.files() == {"changed": b"1", "left": b"1", "made/new": b"2", "folder/inner": b"1"}


async def test_the_rest_is_restored_after_one_file_was(workspace, capture, first, restore):
    await capture("2")
    await restore(first, "changed")
    done = await restore(first)
    assert done.conflicts == {}
    assert set(done.plan.written + done.plan.deleted) == {b"deleted", b"made/new"}
    assert workspace.files() == FIRST


async def test_a_plan_alone_leaves_no_trace_and_says_what_a_restore_does(store, workspace, data, capture, first):
    await capture("2")
    before = workspace.files(), state(workspace.path)
    plans = []
    for _ in range(2):
        async with store.restoring(workspace.path, "thread", first.ref, Selection()) as restore:
            plans.append(restore.plan)
    assert (workspace.files(), state(workspace.path)) == before
    async with store.restoring(workspace.path, "thread", first.ref, Selection()) as restore:
        await restore.keep("s")
        await restore.apply()
        plans.append(restore.plan)
    assert plans[0] == plans[1] == plans[2]


async def test_what_changed_since_the_latest_checkpoint_is_a_conflict_and_nothing_is_written(
    workspace, capture, first, restore
):
    await capture("2")
    workspace.write("changed", "the user's")
    workspace.write("deleted", "the user's")
    before = workspace.files()
    done = await restore(first)
    assert done.conflicts == {b"changed": CHANGED, b"deleted": CHANGED}
    assert done.safety is None
    assert workspace.files() == before


async def test_a_forced_restore_keeps_what_it_takes_away_in_its_safety_checkpoint(
    workspace, capture, first, restore, data
):
    await capture("2")
    workspace.write("changed", "the user's")
    done = await restore(first, force=True)
    assert workspace.files() == FIRST
    assert files_of(data, done.safety.ref)[b"changed"] == ("100644", b"the user's")
    await restore(done.safety)
    assert workspace.files() == {**SECOND, "changed": b"the user's"}


async def test_what_the_user_did_elsewhere_since_is_left_alone(workspace, capture, first, restore):
    await capture("2")
    workspace.write("left", "the user's")
    workspace.write("user", "the user's")
    done = await restore(first)
    assert done.conflicts == {}
    assert workspace.files() == {**FIRST, "left": b"the user's", "user": b"the user's"}
    await restore(done.safety)
    assert workspace.files() == {**SECOND, "left": b"the user's", "user": b"the user's"}


async def test_what_the_user_did_elsewhere_is_still_a_conflict_after_a_restore(workspace, capture, first, restore):
    second = await capture("2")
    workspace.write("left", "the user's")
    await restore(first)
    assert (await restore(second, "left")).conflicts == {b"left": CHANGED}
    assert workspace.files()["left"] == b"the user's"


async def test_the_latest_checkpoint_itself_is_restored_over_conflicts_only(workspace, capture, first, restore):
    second = await capture("2")
    workspace.write("changed", "damaged")
    workspace.file("left").unlink()
    assert (await restore(second)).conflicts == {b"changed": CHANGED, b"left": CHANGED}
    await restore(second, force=True)
    assert workspace.files() == SECOND


async def test_a_file_that_already_is_as_wanted_is_no_conflict(workspace, capture, first, restore):
    await capture("2")
    workspace.write("changed", "1")
    done = await restore(first)
    assert done.conflicts == {}
    assert b"changed" not in done.plan.written
    assert workspace.files() == FIRST


async def test_nothing_is_done_where_all_is_as_the_checkpoint(workspace, capture, first, restore):
    second = await capture("2")
    done = await restore(second)
    assert (done.plan.steps, done.safety) == ((), None)


async def test_unsaved_edits_in_an_editor_are_a_conflict(workspace, capture, first, restore):
    await capture("2")
    done = await restore(first, dirty=frozenset({b"changed", b"left"}))
    assert done.conflicts == {b"changed": UNSAVED}
    assert workspace.files() == SECOND


async def test_ignored_files_survive_also_where_the_rule_goes(workspace, capture, restore):
    workspace.commit(a="1")
    first = await capture("1")
    workspace.write(".gitignore", "secret\n")
    workspace.write("secret", "mine")
    workspace.write("a", "2")
    await capture("2")
    await restore(first)
    assert workspace.files() == {"a": b"1", "secret": b"mine"}


async def test_an_ignored_file_in_the_way_is_a_conflict_and_kept_safe_where_forced(workspace, capture, restore, data):
    workspace.commit(a="1", **{"out/log": "tracked once"})
    first = await capture("1")
    workspace.file("out/log").unlink()
    workspace.write(".gitignore", "out\n")
    workspace.git("add", "-A")
    await capture("2")
    workspace.write("out/log", "ignored")
    assert (await restore(first)).conflicts == {b"out/log": IN_THE_WAY}
    assert workspace.files()["out/log"] == b"ignored"
    done = await restore(first, force=True)
    assert workspace.files()["out/log"] == b"tracked once"
    assert files_of(data, done.safety.ref)[b"out/log"] == ("100644", b"ignored")


async def test_ignored_files_in_a_folder_where_a_file_was_are_a_conflict_and_kept_safe(
    workspace, capture, restore, data
):
    workspace.commit(a="1", place="file")
    first = await capture("1")
    workspace.file("place").unlink()
    workspace.write("place/inner", "2")
    workspace.write(".gitignore", "*.log\n")
    await capture("2")
    workspace.write("place/deep/x.log", "ignored")
    workspace.file("place/deep/empty").mkdir()
    assert (await restore(first)).conflicts == {b"place/deep/x.log": IN_THE_WAY}
    done = await restore(first, force=True)
    assert workspace.files() == {"a": b"1", "place": b"file"}
    assert files_of(data, done.safety.ref)[b"place/deep/x.log"] == ("100644", b"ignored")


async def test_an_ignored_file_where_a_folder_was_is_a_conflict_and_kept_safe(workspace, capture, restore, data):
    workspace.commit(a="1", **{"place/inner": "1"})
    first = await capture("1")
    workspace.file("place/inner").unlink()
    workspace.file("place").rmdir()
    await capture("2")
    workspace.write(".git/info/exclude", "place\n")
    workspace.write("place", "ignored")
    assert (await restore(first)).conflicts == {b"place": IN_THE_WAY}
    done = await restore(first, force=True)
    assert workspace.files() == {"a": b"1", "place/inner": b"1"}
    assert files_of(data, done.safety.ref)[b"place"] == ("100644", b"ignored")


async def test_a_file_that_no_checkpoint_can_hold_is_not_taken_away_even_by_force(data, workspace, restore):
    small = CheckpointStore(data, CheckpointPolicy(max_untracked_bytes=10))
    workspace.write("grown", "small")
    workspace.write("other", "1")
    first = await small.capture(workspace.path, "thread", "1")
    workspace.write("grown", "2")
    workspace.write("other", "2")
    await small.capture(workspace.path, "thread", "2")
    workspace.write("grown", "larger than the limit")
    for force in (False, True):
        async with small.restoring(workspace.path, "thread", first.ref, Selection()) as planned:
            assert [(one.path, one.reason) for one in planned.plan.conflicts] == [(b"grown", NOT_KEPT)]
            assert planned.plan.written == (b"other",)
            if force:
                await planned.keep("s")
                await planned.apply()
    assert workspace.files() == {"grown": b"larger than the limit", "other": b"1"}


async def test_what_the_checkpoint_itself_left_out_is_left_alone(data, workspace):
    small = CheckpointStore(data, CheckpointPolicy(max_untracked_bytes=10))
    workspace.write("grown", "small")
    await small.capture(workspace.path, "thread", "1")
    workspace.write("grown", "larger than the limit")
    second = await small.capture(workspace.path, "thread", "2")
    workspace.write("grown", "shrunk")
    await small.capture(workspace.path, "thread", "3")
    async with small.restoring(workspace.path, "thread", second.ref, Selection()) as planned:
        assert planned.plan.steps == ()


async def test_a_pipe_in_the_way_is_left_alone(workspace, capture, first, restore):
    await capture("2")
    os.mkfifo(workspace.file("deleted"))
    done = await restore(first, force=True)
    assert done.conflicts == {b"deleted": NOT_KEPT}
    assert stat.S_ISFIFO(workspace.file("deleted").stat().st_mode)
    assert workspace.file("changed").read_bytes() == b"1"


async def test_files_and_folders_change_places_and_back(workspace, capture, restore):
    workspace.commit(file="1", **{"folder/inner/most": "1"})
    first = await capture("1")
    workspace.file("file").unlink()
    workspace.write("file/inner", "2")
    workspace.file("folder/inner/most").unlink()
    workspace.file("folder/inner").rmdir()
    workspace.file("folder").rmdir()
    workspace.write("folder", "2")
    await capture("2")
    done = await restore(first)
    assert workspace.files() == {"file": b"1", "folder/inner/most": b"1"}
    await restore(done.safety)
    assert workspace.files() == {"file/inner": b"2", "folder": b"2"}


async def test_the_executable_bit_and_other_permissions(workspace, capture, restore):
    workspace.write("tool", "1").chmod(0o700)
    workspace.write("secret", "1").chmod(0o600)
    first = await capture("1")
    workspace.write("tool", "2").chmod(0o600)
    workspace.write("secret", "2").chmod(0o640)
    await capture("2")
    await restore(first)
    assert stat.S_IMODE(workspace.file("tool").stat().st_mode) == 0o700
    assert stat.S_IMODE(workspace.file("secret").stat().st_mode) == 0o640


async def test_symlinks_are_restored_as_links_and_what_they_lead_to_is_not_touched(
    workspace, capture, restore, tmp_path
):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_bytes(b"outside")
    targets = {"dangling": b"nowhere", "folder": os.fsencode(outside), "escaping": b"../outside/file"}
    for name, target in targets.items():
        workspace.file(name).symlink_to(os.fsdecode(target))
    first = await capture("1")
    for name in targets:
        workspace.file(name).unlink()
        workspace.write(name, "plain")
    await capture("2")
    done = await restore(first)
    assert workspace.files() == targets
    await restore(done.safety)
    assert workspace.files() == dict.fromkeys(targets, b"plain")
    assert (outside / "file").read_bytes() == b"outside"


async def test_a_parent_folder_swapped_for_a_symlink_is_restored_as_a_folder(workspace, capture, restore, tmp_path):
    outside = Workspace(tmp_path / "outside")
    outside.write("inner", "outside")
    workspace.commit(**{"folder/inner": "1"})
    first = await capture("1")
    workspace.file("folder/inner").unlink()
    workspace.file("folder").rmdir()
    workspace.file("folder").symlink_to(outside.path)
    await capture("2")
    await restore(first)
    assert not workspace.file("folder").is_symlink()
    assert workspace.files() == {"folder/inner": b"1"}
    assert outside.files() == {"inner": b"outside"}


async def test_any_name_is_restored(workspace, capture, restore):
    names = ["new\nline", 'quo"te', "back\\slash", "*", ":(glob)", "-option", " ", "tab\t", os.fsdecode(b"\xff\xfe")]
    for name in names:
        workspace.write(name, "1")
    first = await capture("1")
    for name in names:
        workspace.file(name).unlink()
    await capture("2")
    done = await restore(first)
    assert workspace.files() == dict.fromkeys(names, b"1")
    await restore(done.safety)
    assert workspace.files() == {}


async def test_a_rename_that_changes_only_the_case_is_restored(workspace, capture, restore):
    workspace.commit(readme="1")
    first = await capture("1")
    workspace.file("readme").rename(workspace.file("README"))
    await capture("2")
    await restore(first)
    assert workspace.files() == {"readme": b"1"}


async def test_bytes_are_raw_and_no_filter_runs(workspace, capture, restore, tmp_path):
    marker = tmp_path / "ran"
    contents = {"crlf": b"a\r\nb\n", "ident": b"$Id$", "wide": "ä".encode("utf-16"), "lfs": b"version https://git-lfs"}
    workspace.commit(
        **{".gitattributes": "* text eol=lf ident filter=f\nwide working-tree-encoding=UTF-16\n"}, **contents
    )
    for driver in ("clean", "smudge", "process"):
        workspace.git("config", f"filter.f.{driver}", f"touch '{marker}'; cat")
    first = await capture("1")
    for name in contents:
        workspace.write(name, "2")
    await capture("2")
    await restore(first)
    assert {name: workspace.files()[name] for name in contents} == contents
    assert not marker.exists()


@pytest.mark.parametrize("committed", [True, False])
async def test_files_of_a_nested_repository_are_restored_and_its_git_directory_is_not_touched(
    workspace, capture, restore, committed
):
    workspace.commit(a="1")
    nested = Workspace(workspace.file("nested"))
    nested.path.mkdir()
    nested.git("init", "-q")
    nested.write("inner", "1")
    if committed:
        nested.commit()
    first = await capture("1")
    nested.write("inner", "2")
    nested.write("more", "2")
    await capture("2")
    await restore(first)
    assert workspace.files() == {"a": b"1", "nested/inner": b"1"}


async def test_a_repository_in_the_place_of_a_file_is_left_alone(workspace, capture, restore):
    workspace.commit(place="1")
    first = await capture("1")
    workspace.file("place").unlink()
    nested = Workspace(workspace.file("place"))
    nested.path.mkdir()
    nested.commit(inner="2")
    await capture("2")
    done = await restore(first, force=True)
    assert done.conflicts == {b"place/.git": NOT_KEPT}
    assert nested.git("status", "--porcelain") == b" D inner\n"


async def test_a_subfolder_of_a_repository_is_restored_alone(workspace, capture, restore):
    workspace.commit(outer="1", **{"sub/inner": "1"})
    sub = workspace.file("sub")
    first = await capture("1", sub)
    workspace.write("sub/inner", "2")
    workspace.write("sub/new", "2")
    workspace.write("outer", "2")
    await capture("2", sub)
    done = await restore(first, path=sub)
    assert workspace.files() == {"outer": b"2", "sub/inner": b"1"}
    await restore(done.safety, path=sub)
    assert workspace.files() == {"outer": b"2", "sub/inner": b"2", "sub/new": b"2"}


async def test_the_users_index_head_and_branches_stay_as_they_are(workspace, capture, restore):
    workspace.commit(a="1")
    first = await capture("1")
    workspace.write("a", "2")
    workspace.git("add", "a")
    await capture("2")
    index = workspace.file(".git/index").read_bytes()
    await restore(first)  # which fails if anything in .git was written to
    assert workspace.file(".git/index").read_bytes() == index
    assert workspace.git("status", "--porcelain") == b"MM a\n"


async def test_a_file_restored_against_the_rules_is_held_by_the_next_checkpoint(workspace, capture, restore, data):
    workspace.commit(a="1", kept="1")
    first = await capture("1")
    workspace.git("rm", "-q", "--cached", "kept")
    workspace.file("kept").unlink()
    await capture("2")
    workspace.write(".git/info/exclude", "kept\n")
    await restore(first)
    assert (await capture("3")).tree == first.tree


async def test_a_checkpoint_of_nothing_that_is_kept_is_missing(store, workspace, capture, first):
    with pytest.raises(CheckpointMissing):
        async with store.restoring(workspace.path, "thread", first.tree, Selection()):
            pass


async def test_a_workspace_without_git_is_restored(workspace, capture, restore):
    workspace.write("a", "1")
    first = await capture("1")
    workspace.write("a", "2")
    await capture("2")
    await restore(first)
    assert workspace.files() == {"a": b"1"}


async def test_many_files_are_restored(workspace, capture, restore):
    names = [f"folder{number % 7}/file{number}" for number in range(350)]
    for name in names:
        workspace.write(name, name)
    first = await capture("1")
    for name in names:
        workspace.write(name, "2")
    await capture("2")
    await restore(first)
    assert workspace.files() == {name: name.encode() for name in names}


async def test_an_edit_of_the_same_size_in_the_same_instant_is_a_conflict(workspace, capture, restore):
    workspace.write("a", "1")
    first = await capture("1")
    workspace.write("a", "2")
    await capture("2")
    at = workspace.file("a").stat()
    workspace.write("a", "3")
    os.utime(workspace.file("a"), ns=(at.st_atime_ns, at.st_mtime_ns))
    assert (await restore(first)).conflicts == {b"a": CHANGED}
    assert workspace.files() == {"a": b"3"}


def linked_worktree(workspace: Workspace) -> Workspace:
    workspace.commit(a="1", b="1")
    workspace.git("worktree", "add", "-q", "../linked")
    return Workspace(workspace.path.with_name("linked"))


def submodule(workspace: Workspace) -> Workspace:
    other = Workspace(workspace.path.with_name("other"))
    other.path.mkdir()
    other.commit(a="1", b="1")
    workspace.commit(top="1")
    workspace.git("submodule", "add", "-q", str(other.path), "sub")
    return Workspace(workspace.file("sub"))


def without_a_commit(workspace: Workspace) -> Workspace:
    workspace.git("init", "-q")
    workspace.write("a", "1")
    workspace.write("b", "1")
    return workspace


def detached(workspace: Workspace) -> Workspace:
    workspace.commit(a="1", b="1")
    workspace.git("checkout", "-q", "--detach")
    return workspace


def sparse(workspace: Workspace) -> Workspace:
    workspace.commit(a="1", b="1", **{"out/file": "1"})
    workspace.git("sparse-checkout", "set", "--no-cone", "/a", "/b")
    return workspace


def split_index(workspace: Workspace) -> Workspace:
    workspace.commit(a="1", b="1")
    workspace.git("update-index", "--split-index")
    return workspace


def unmerged(workspace: Workspace) -> Workspace:
    workspace.commit(a="1", b="1")
    blob = workspace.git("hash-object", "-w", "--stdin", stdin=b"theirs").decode().strip()
    lines = f"0 {'0' * 40}\ta\n" + "".join(f"100644 {blob} {stage}\ta\n" for stage in (1, 2, 3))
    workspace.git("update-index", "--index-info", stdin=lines.encode())
    return workspace


def intent_to_add(workspace: Workspace) -> Workspace:
    workspace.commit(b="1")
    workspace.write("a", "1")
    workspace.git("add", "-N", "a")
    return workspace


def blind_to_modes(workspace: Workspace) -> Workspace:
    workspace.commit(a="1", b="1")
    workspace.git("config", "core.fileMode", "false")
    return workspace


def with_hooks(workspace: Workspace) -> Workspace:
    workspace.commit(a="1", b="1")
    for hook in ("post-checkout", "post-index-change", "reference-transaction", "pre-commit"):
        workspace.write(f".git/hooks/{hook}", f"#!/bin/sh\ntouch '{workspace.path}/hook-ran'\n").chmod(0o755)
    workspace.git("config", "commit.gpgSign", "true")
    return workspace


SHAPES = [
    *(linked_worktree, submodule, without_a_commit, detached, sparse),
    *(split_index, unmerged, intent_to_add, blind_to_modes, with_hooks),
]


@pytest.mark.parametrize("shape", SHAPES, ids=[shape.__name__ for shape in SHAPES])
async def test_a_repository_in_any_shape_is_restored_and_not_written_to(
    workspace, capture, restore, shape, tmp_path, monkeypatch
):
    place = shape(workspace)
    for name in ("GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"):
        monkeypatch.setenv(name, str(tmp_path / "elsewhere"))
    before = place.files()
    first = await capture("1", place.path)
    place.write("a", "2").chmod(0o755)
    place.file("b").unlink()
    place.write("new", "2")
    await capture("2", place.path)
    done = await restore(first, path=place.path)
    assert done.conflicts == {}
    assert place.files() == before
    assert not place.file("a").stat().st_mode & 0o111


def test_a_workspace_of_another_owner_is_restored_where_its_files_may_be_written(workspace, data, as_nobody):
    workspace.path.chmod(0o777)

    async def restored() -> dict[str, bytes]:
        workspace.write("mine", "1")
        store = CheckpointStore(data)
        first = await store.capture(workspace.path, "thread", "1")
        workspace.write("mine", "2")
        await store.capture(workspace.path, "thread", "2")
        async with store.restoring(workspace.path, "thread", first.ref, Selection()) as planned:
            await planned.keep("s")
            await planned.apply()
        return workspace.files()

    workspace.commit(theirs="1")
    assert as_nobody(restored) == {"mine": b"1", "theirs": b"1"}


def test_a_folder_that_may_not_be_written_stops_a_restore_and_all_is_taken_back(workspace, data, as_nobody):
    workspace.path.chmod(0o777)

    async def refused() -> tuple[str, dict[str, bytes]]:
        for name in ("a", "locked/file"):
            workspace.write(name, "1")
        store = CheckpointStore(data)
        first = await store.capture(workspace.path, "thread", "1")
        for name in ("a", "locked/file"):
            workspace.write(name, "2")
        await store.capture(workspace.path, "thread", "2")
        workspace.file("locked").chmod(0o555)
        async with store.restoring(workspace.path, "thread", first.ref, Selection()) as planned:
            await planned.keep("s")
            try:
                await planned.apply()
            except CheckpointError as error:
                return str(error), workspace.files()
        return "", workspace.files()

    message, files = as_nobody(refused)
    assert "nothing was restored: [Errno 13] Permission denied" in message
    assert files == {"a": b"2", "locked/file": b"2"}
