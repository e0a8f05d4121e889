"""Checkpoints in every shape that the user's repository can have; none of them is written to."""

import os

import pytest

from midstream.server.checkpoints import CheckpointPolicy, CheckpointStore, WorkspaceRefused
from midstream.server.checkpoints import seed as seeding
from support.workspaces import Workspace, files_of, git, git_state, shadow_of


@pytest.mark.parametrize("committed", [True, False])
async def test_a_nested_repository_is_captured_as_plain_files(workspace, taken, committed):
    workspace.commit(a="1")
    nested = Workspace(workspace.path / "nested")
    nested.write("file", "1")
    nested.write(".gitignore", "*.log\n")
    nested.write("ignored.log", "x")
    nested.git("init", "-q")
    nested.write(".git/info/exclude", "excluded\n")
    nested.write("excluded", "x")
    if committed:
        nested.commit()
    expected = {b"a": b"1", b"nested/file": b"1", b"nested/.gitignore": b"*.log\n"}
    assert await taken() == expected
    nested.write("file", "2!")
    nested.write("deep/new", "n")
    assert await taken() == expected | {b"nested/file": b"2!", b"nested/deep/new": b"n"}


async def test_a_repository_nested_in_a_nested_one_is_captured(workspace, taken):
    workspace.commit(a="1")
    Workspace(workspace.path / "outer").commit(b="1")
    Workspace(workspace.path / "outer" / "inner").commit(c="1")
    assert await taken() == {b"a": b"1", b"outer/b": b"1", b"outer/inner/c": b"1"}


async def test_a_nested_repository_that_cannot_be_read_is_named_and_does_not_stop_the_checkpoint(store, workspace):
    workspace.commit(a="1")
    Workspace(workspace.path / "nested").commit(b="1")
    workspace.write("nested/.git/index", "no index")
    captured = await store.capture(workspace.path, "thread", "1")
    assert [(it.path, it.reason) for it in captured.skipped] == [(b"nested", "nested repository cannot be read")]


@pytest.fixture
def with_submodule(workspace, tmp_path):
    library = Workspace(tmp_path / "library")
    library.path.mkdir()
    library.commit(lib="1")
    workspace.commit(a="1")
    workspace.git("submodule", "add", "-q", str(library.path), "sub")
    workspace.commit()
    return workspace


async def test_a_submodule_is_captured_as_plain_files(with_submodule, taken):
    assert set(await taken()) == {b"a", b".gitmodules", b"sub/lib"}
    with_submodule.write("sub/lib", "2!")
    with_submodule.write("sub/new", "n")
    files = await taken()
    assert (files[b"sub/lib"], files[b"sub/new"]) == (b"2!", b"n")


async def test_a_submodule_can_be_the_workspace(with_submodule, taken):
    sub = Workspace(with_submodule.path / "sub")
    sub.write("new", "n")
    assert await taken(sub.path) == {b"lib": b"1", b"new": b"n"}


async def test_a_linked_worktree_can_be_the_workspace(workspace, tmp_path, taken):
    workspace.commit(a="1")
    workspace.write(".git/info/exclude", "excluded\n")
    workspace.git("worktree", "add", "-q", "--detach", str(tmp_path / "linked"))
    linked = Workspace(tmp_path / "linked")
    linked.write("a", "2!")
    linked.write("excluded", "x")
    assert await taken(linked.path) == {b"a": b"2!"}


async def test_a_repository_without_a_commit_is_captured(workspace, taken):
    workspace.git("init", "-q")
    workspace.write("a", "1")
    assert await taken() == {b"a": b"1"}


async def test_a_detached_head_stays_where_it_is(workspace, taken):
    workspace.commit(a="1")
    workspace.git("checkout", "-q", "--detach")
    workspace.write("a", "2!")
    assert await taken() == {b"a": b"2!"}


async def test_what_a_sparse_checkout_leaves_out_is_left_out_and_what_lies_there_all_the_same_is_captured(
    workspace, taken
):
    workspace.commit(**{"in/file": "1", "out/file": "1", "out/present": "1"})
    workspace.git("sparse-checkout", "set", "--cone", "--sparse-index", "in")
    workspace.write("out/present", "2!")
    assert await taken() == {b"in/file": b"1", b"out/present": b"2!"}


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
async def test_an_edit_that_the_user_hides_from_git_is_captured(workspace, taken, flag):
    workspace.commit(a="1")
    workspace.git("update-index", flag, "a")
    workspace.write("a", "2")
    assert await taken() == {b"a": b"2"}


async def test_a_split_index_is_read(workspace, taken):
    workspace.commit(a="1", b="1")
    workspace.git("update-index", "--split-index")
    workspace.write("c", "1")
    workspace.git("add", "c")
    workspace.write("b", "2!")
    assert await taken() == {b"a": b"1", b"b": b"2!", b"c": b"1"}


async def test_a_file_that_is_only_intended_to_be_added_is_captured(workspace, taken):
    workspace.commit(a="1")
    workspace.write("intended", "i")
    workspace.write("empty", "")
    workspace.git("add", "-N", "intended", "empty")
    assert await taken() == {b"a": b"1", b"intended": b"i", b"empty": b""}


async def test_an_unmerged_file_is_captured_as_it_lies_there(workspace, taken):
    workspace.commit(a="1")
    blob = workspace.git("hash-object", "-w", "a").strip()
    stages = b"".join(b"100644 %s %d\ta\n" % (blob, stage) for stage in (1, 2, 3))
    workspace.git("rm", "-q", "--cached", "a")
    workspace.git("update-index", "--index-info", stdin=stages)
    workspace.write("a", "<<<<<<<\n")
    assert await taken() == {b"a": b"<<<<<<<\n"}


async def test_objects_in_another_format_are_taken_over(workspace, taken):
    workspace.git("init", "-q", "--object-format=sha256")
    workspace.commit(a="1")
    workspace.write("b", "2")
    assert await taken() == {b"a": b"1", b"b": b"2"}


async def test_objects_that_the_user_borrows_from_another_repository_are_hashed_anew(workspace, tmp_path, taken):
    workspace.commit(a="1")
    git(tmp_path, "clone", "-q", "--shared", str(workspace.path), "clone")
    assert await taken(tmp_path / "clone") == {b"a": b"1"}


@pytest.mark.parametrize("budget", [0, 1 << 20])
async def test_objects_that_cannot_be_linked_are_copied_or_hashed_anew(workspace, data, taken, monkeypatch, budget):
    def refuse(*_: object) -> None:
        raise OSError("another file system")

    workspace.commit(a="1", b="1")
    workspace.git("repack", "-adq")
    monkeypatch.setattr(os, "link", refuse)
    monkeypatch.setattr(seeding, "_MAX_COPIED_BYTES", budget)
    assert await taken() == {b"a": b"1", b"b": b"1"}
    assert bool(list(data.rglob("*.pack"))) == bool(budget)


async def test_a_prune_by_the_user_takes_nothing_from_earlier_checkpoints(store, workspace):
    workspace.commit(a="1")
    first = await store.capture(workspace.path, "thread", "1")
    workspace.git("commit", "-q", "--amend", "-m", "other")
    workspace.commit(a="2!")
    workspace.git("update-ref", "-d", "HEAD")
    workspace.git("rm", "-q", "-r", "--cached", ".")
    workspace.git("reflog", "expire", "--expire=now", "--all")
    workspace.git("gc", "-q", "--prune=now")
    second = await store.capture(workspace.path, "thread", "2")
    assert (await store.file(workspace.path, first.ref, b"a")).content == b"1"
    assert (await store.file(workspace.path, second.ref, b"a")).content == b"2!"


async def test_no_ref_of_ours_shows_in_the_users_repository(store, workspace, data):
    workspace.commit(a="1")
    refs = workspace.git("for-each-ref")
    captured = await store.capture(workspace.path, "thread", "1")
    assert workspace.git("for-each-ref") == refs
    ours = git(shadow_of(data), "for-each-ref", "--format=%(refname) %(objectname)", "refs/ck").decode()
    assert ours == f"refs/ck/thread/1 {captured.ref}\n"


async def test_a_subfolder_of_a_repository_is_captured_with_paths_of_its_own(workspace, taken):
    workspace.commit(**{"a": "1", "sub/b": "1", "sub/deep/c": "1", ".gitignore": "*.log\n"})
    sub = Workspace(workspace.path / "sub")
    sub.write("b", "2!")
    sub.write("new", "n")
    sub.write("x.log", "x")
    assert await taken(sub.path) == {b"b": b"2!", b"deep/c": b"1", b"new": b"n"}


async def test_workspaces_of_one_repository_do_not_see_each_others_changes(store, workspace):
    workspace.commit(**{"one/a": "1", "two/b": "1"})
    one, two = workspace.path / "one", workspace.path / "two"
    before = await store.capture(one, "thread", "1")
    workspace.write("two/b", "2!")
    await store.capture(two, "thread", "2")
    assert (await store.capture(one, "thread", "3")).tree == before.tree


async def test_an_empty_subfolder_of_a_repository_is_captured(workspace, taken):
    workspace.commit(a="1")
    workspace.file("empty").mkdir()
    assert await taken(workspace.path / "empty") == {}


async def test_a_home_folder_kept_in_git_lends_its_rules_to_no_workspace_in_it(home, taken):
    Workspace(home).commit(**{".gitignore": "*\n"})
    before = git_state(home)
    workspace = Workspace(home / "project")
    workspace.write("a", "1")
    assert await taken(workspace.path) == {b"a": b"1"}
    assert git_state(home) == before


async def test_a_work_tree_that_the_repository_claims_elsewhere_is_not_looked_at(workspace, tmp_path, taken):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "secret").write_text("s")
    workspace.commit(a="1")
    workspace.git("config", "core.worktree", str(tmp_path / "elsewhere"))
    assert await taken() == {b"a": b"1"}


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda home, workspace: home, "home folder"),
        (lambda home, workspace: home.parent, "home folder"),
        (lambda home, workspace: workspace.path / "data", "own data"),
        (lambda home, workspace: workspace.path / ".git" / "hooks", "git directory"),
        (lambda home, workspace: workspace.path / "missing", "not a folder"),
        (lambda home, workspace: workspace.path / "a", "not a folder"),
    ],
)
async def test_some_folders_are_refused(home, workspace, make, reason):
    workspace.commit(a="1")
    workspace.file("data").mkdir()
    store = CheckpointStore(workspace.path / "data")
    with pytest.raises(WorkspaceRefused, match=reason):
        await store.capture(make(home, workspace), "thread", "1")


async def test_the_folder_of_temporary_files_is_refused(store, workspace, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(workspace.path))
    with pytest.raises(WorkspaceRefused, match="temporary"):
        await store.capture(workspace.path, "thread", "1")


async def test_nothing_is_captured_while_checkpoints_are_turned_off(data, workspace):
    store = CheckpointStore(data, CheckpointPolicy(enabled=False))
    with pytest.raises(WorkspaceRefused, match="turned off"):
        await store.capture(workspace.path, "thread", "1")
    assert not data.exists()


@pytest.mark.parametrize("name", ["", "a/b", "..", "x.lock", "-x", "a b"])
async def test_a_name_that_is_no_part_of_a_ref_is_refused(store, workspace, name):
    with pytest.raises(ValueError, match="name of a checkpoint"):
        await store.capture(workspace.path, "thread", name)
    with pytest.raises(ValueError, match="name of a checkpoint"):
        await store.capture(workspace.path, name, "1")


async def test_a_repository_in_the_place_of_a_file_is_captured_at_once(store, workspace, data):
    workspace.commit(place="1")
    await store.capture(workspace.path, "thread", "1")
    workspace.file("place").unlink()
    nested = Workspace(workspace.file("place"))
    nested.path.mkdir()
    nested.commit(inner="2")
    captured = await store.capture(workspace.path, "thread", "2")
    assert set(files_of(data, captured.ref)) == {b"place/inner"}
