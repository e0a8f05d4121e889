"""What changed between two checkpoints, and between one and the workspace as it is now."""

import os

import pytest

from midstream.server.checkpoints import (
    BadPath,
    CheckpointMissing,
    CheckpointPolicy,
    CheckpointStore,
    FileChange,
    PathNotInCheckpoint,
)
from midstream.server.checkpoints.diff import parse_changes, whole_hunks
from support.workspaces import Workspace, git, git_state, shadow_of, state

LINES = "".join(f"line {number}\n" for number in range(40))


@pytest.fixture
async def base(store, workspace) -> str:
    """A checkpoint of a workspace, which is then changed in every way."""
    workspace.commit(edited=LINES, deleted="1\n2\n", moved=LINES * 2, turned="x\n", image=b"\0" * 10, mode="m\n")
    return (await store.capture(workspace.path, "thread", "1")).ref


def change_everything(workspace: Workspace) -> None:
    workspace.write("edited", LINES.replace("line 7", "line seven") + "more\n")
    workspace.file("deleted").unlink()
    workspace.file("moved").rename(workspace.file("to"))
    workspace.file("turned").unlink()
    workspace.file("turned").symlink_to("edited")
    workspace.write("image", b"\0" * 20)
    workspace.file("mode").chmod(0o755)
    workspace.write(b"new-\xff", "a\nb\nc\n")


EVERYTHING = (
    FileChange(b"deleted", None, "deleted", 0, 2, False),
    FileChange(b"edited", None, "modified", 2, 1, False),
    FileChange(b"image", None, "modified", None, None, True),
    FileChange(b"mode", None, "modified", 0, 0, False),
    FileChange(b"new-\xff", None, "added", 3, 0, False),
    FileChange(b"to", b"moved", "renamed", 0, 0, False),
    FileChange(b"turned", None, "typeChanged", 1, 1, False),
)


async def test_two_checkpoints_differ_by_what_was_done_between_them(store, workspace, base):
    change_everything(workspace)
    target = (await store.capture(workspace.path, "thread", "2")).ref
    diff = await store.diff(workspace.path, base, target)
    assert sorted(diff.files, key=lambda change: change.path) == list(EVERYTHING)
    assert (diff.patch, diff.truncated) == (None, False)


async def test_the_workspace_as_it_is_now_is_compared_without_leaving_a_trace(store, workspace, data, base):
    change_everything(workspace)
    shadow = shadow_of(data)
    index, refs, theirs = state(shadow / "index"), git(shadow, "for-each-ref"), git_state(workspace.path)
    diff = await store.diff(workspace.path, base, None)
    assert sorted(diff.files, key=lambda change: change.path) == list(EVERYTHING)
    assert (state(shadow / "index"), git(shadow, "for-each-ref")) == (index, refs)
    assert git_state(workspace.path) == theirs


async def test_the_workspace_can_be_compared_where_the_private_index_is_gone(store, workspace, data, base):
    (shadow_of(data) / "index").unlink()
    workspace.write("new", "1\n")
    diff = await store.diff(workspace.path, base, None)
    assert diff.files == (FileChange(b"new", None, "added", 1, 0, False),)


async def test_equal_checkpoints_have_an_empty_diff(store, workspace, base):
    diff = await store.diff(workspace.path, base, base, patch=True)
    assert (diff.files, diff.patch, diff.truncated) == ((), "", False)


async def test_a_patch_can_be_applied_and_has_the_context_asked_for(store, workspace, base, tmp_path):
    old = tmp_path / "old"
    git(tmp_path, "clone", "-q", str(workspace.path), str(old))
    workspace.write("edited", LINES.replace("line 7", "line seven"))
    workspace.file("moved").rename(workspace.file("to"))
    diff = await store.diff(workspace.path, base, None, patch=True, context=0)
    assert diff.patch is not None
    assert "@@ -8 +8 @@" in diff.patch
    git(old, "apply", "--unidiff-zero", stdin=diff.patch.encode())
    assert (old / "edited").read_bytes() == workspace.file("edited").read_bytes()
    assert (old / "to").exists()


async def test_a_path_limits_the_diff_to_a_file_or_a_folder(store, workspace, base):
    workspace.write("folder/a*", "1\n")
    workspace.write("folder/ab", "1\n")
    workspace.write("folder-2", "1\n")
    for path, expected in {
        b"folder/a*": {b"folder/a*"},
        b"folder": {b"folder/a*", b"folder/ab"},
        b"edited": set(),
    }.items():
        diff = await store.diff(workspace.path, base, None, path=path, patch=True)
        assert {change.path for change in diff.files} == expected
        assert diff.patch is not None
        assert diff.patch.count("diff --git") == len(expected)


@pytest.mark.parametrize("path", [b"moved", b"to"])
async def test_a_renamed_file_is_found_under_either_name(store, workspace, base, path):
    workspace.file("moved").unlink()
    workspace.write("to", LINES * 2 + "more\n")
    diff = await store.diff(workspace.path, base, None, path=path, patch=True)
    assert diff.files == (FileChange(b"to", b"moved", "renamed", 1, 0, False),)
    assert diff.patch is not None
    assert "rename from moved\nrename to to\n" in diff.patch


async def test_a_long_list_of_files_is_cut_and_says_so(data, workspace, store, base):
    change_everything(workspace)
    diff = await CheckpointStore(data, CheckpointPolicy(files=3)).diff(workspace.path, base, None)
    assert (len(diff.files), diff.truncated) == (3, True)


async def test_a_long_patch_is_cut_after_a_whole_hunk_and_says_so(data, workspace, base, tmp_path):
    old = tmp_path / "old"
    git(tmp_path, "clone", "-q", str(workspace.path), str(old))
    workspace.write("edited", LINES.replace("line 7", "line seven").replace("line 30", "line thirty"))
    workspace.write("new", LINES * 100)
    small = CheckpointStore(data, CheckpointPolicy(patch_bytes=700))
    diff = await small.diff(workspace.path, base, None, patch=True)
    assert diff.truncated
    assert diff.patch is not None
    git(old, "apply", stdin=diff.patch.encode())
    assert b"line seven" in (old / "edited").read_bytes()


async def test_neither_a_diff_driver_nor_a_text_conversion_of_the_user_is_run(store, workspace, home, tmp_path, base):
    marker = tmp_path / "ran"
    program = f"touch '{marker}'"
    (home / ".gitconfig").write_text(
        f'[diff]\n\texternal = "{program}"\n[diff "d"]\n\tcommand = "{program}"\n\ttextconv = "{program}"\n'
    )
    workspace.write(".gitattributes", "* diff=d\n")
    workspace.write("edited", "other\n")
    diff = await store.diff(workspace.path, base, None, patch=True)
    assert diff.patch is not None
    assert "+other" in diff.patch
    assert not marker.exists()


async def test_checkpoints_can_be_compared_after_their_workspace_is_gone(store, workspace, base, tmp_path):
    workspace.write("edited", "other\n")
    target = (await store.capture(workspace.path, "thread", "2")).ref
    workspace.path.rename(tmp_path / "away")
    diff = await store.diff(workspace.path, base, target)
    assert [change.path for change in diff.files] == [b"edited"]


async def test_a_subfolder_of_a_repository_has_paths_of_its_own_in_the_diff(store, workspace):
    workspace.commit(**{"sub/a": "1\n", "b": "1\n"})
    sub = Workspace(workspace.path / "sub")
    base = (await store.capture(sub.path, "thread", "1")).ref
    workspace.write("b", "2!\n")
    sub.write("a", "2!\n")
    diff = await store.diff(sub.path, base, None, patch=True)
    assert [change.path for change in diff.files] == [b"a"]
    assert diff.patch is not None
    assert "--- a/a\n" in diff.patch


@pytest.mark.parametrize("ref", ["0" * 40, "HEAD", "refs/ck/thread/1", "--output=x", ""])
async def test_a_ref_that_the_store_does_not_hold_is_missing(store, workspace, base, ref):
    with pytest.raises(CheckpointMissing):
        await store.diff(workspace.path, ref, None)
    with pytest.raises(CheckpointMissing):
        await store.diff(workspace.path, base, ref)
    with pytest.raises(CheckpointMissing):
        await store.tree_of(workspace.path, ref)


async def test_a_workspace_that_was_never_captured_has_no_checkpoint(store, workspace, data):
    with pytest.raises(CheckpointMissing, match="no checkpoint was taken"):
        await store.diff(workspace.path, "0" * 40, None)
    assert not data.exists()


@pytest.mark.parametrize("path", [b"", b"/etc", b"..", b"a/../b", b"a/", b"a//b", b"./a", b"a\0b"])
async def test_a_path_that_leads_out_of_the_workspace_is_refused(store, workspace, base, path):
    with pytest.raises(BadPath):
        await store.diff(workspace.path, base, None, path=path)
    with pytest.raises(BadPath):
        await store.file(workspace.path, base, path)


def test_names_that_look_like_records_are_parsed_as_names():
    zeros = b"0" * 40
    out = b"".join(
        (
            b":000000 100644 " + zeros + b" " + zeros + b" A\0:odd\0",
            b":100644 100644 " + zeros + b" " + zeros + b" R090\0-\t-\told\0new\nline\0",
            b"1\t0\t:odd\0",
            b"2\t3\t\0-\t-\told\0new\nline\0",
        )
    )
    assert parse_changes(out) == [
        FileChange(b":odd", None, "added", 1, 0, False),
        FileChange(b"new\nline", b"-\t-\told", "renamed", 2, 3, False),
    ]


def test_a_patch_cut_anywhere_ends_with_a_whole_hunk_of_a_file_that_has_one():
    file = b"diff --git a/%s b/%s\n--- a/%s\n+++ b/%s\n"
    first, second = file.replace(b"%s", b"x"), file.replace(b"%s", b"y")
    hunk = b"@@ -1 +1 @@\n-a\n+b\n"
    one, two, whole = first + hunk, first + hunk + hunk, first + hunk + hunk + second + hunk
    for cut in range(len(whole)):
        known_whole_at = {len(one + b"@@ "): one, len(two + b"diff --git "): two}
        expected = max((kept for at, kept in known_whole_at.items() if cut >= at), key=len, default=b"")
        assert whole_hunks(whole[:cut]) == expected


async def test_a_file_is_read_as_raw_bytes_with_its_mode(store, workspace):
    workspace.commit(plain=b"\xff\r\n", script="s")
    workspace.file("script").chmod(0o755)
    workspace.file("link").symlink_to(os.fsdecode(b"to/\xff"))
    workspace.write(b"folder/\xff\n*", "odd")
    ref = (await store.capture(workspace.path, "thread", "1")).ref
    workspace.write("plain", "other")

    async def read(path: bytes) -> tuple[bytes, str]:
        content = await store.file(workspace.path, ref, path)
        return content.content, content.mode

    assert await read(b"plain") == (b"\xff\r\n", "100644")
    assert await read(b"script") == (b"s", "100755")
    assert await read(b"link") == (b"to/\xff", "120000")
    assert await read(b"folder/\xff\n*") == (b"odd", "100644")


@pytest.mark.parametrize("path", [b"missing", b"folder", b"folder/*", b"file/below"])
async def test_a_path_that_is_no_file_of_the_checkpoint_is_not_found(store, workspace, path):
    workspace.commit(**{"folder/file": "1", "file": "1"})
    ref = (await store.capture(workspace.path, "thread", "1")).ref
    with pytest.raises(PathNotInCheckpoint):
        await store.file(workspace.path, ref, path)
