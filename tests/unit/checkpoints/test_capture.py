"""What a checkpoint holds: the workspace's files, as raw bytes, by the user's ignore rules."""

import os
from pathlib import Path

import pytest

from midstream.server.checkpoints import CheckpointPolicy, CheckpointStore, Skipped
from midstream.server.checkpoints import capture as capturing
from support.workspaces import Workspace, files_of, git_state, shadow_of


async def test_a_checkpoint_holds_committed_staged_edited_and_untracked_files_as_they_are_on_disk(workspace, taken):
    workspace.commit(committed="1", staged="1", edited="1", deleted="1")
    workspace.write("staged", "2")
    workspace.git("add", "staged")
    workspace.write("staged", "3!")
    workspace.write("edited", "2!")
    workspace.write("new/file", "n")
    workspace.file("deleted").unlink()
    assert await taken() == {
        b"committed": b"1",
        b"staged": b"3!",
        b"edited": b"2!",
        b"new/file": b"n",
    }


async def test_a_second_checkpoint_shows_what_changed_since_the_first(workspace, taken):
    workspace.commit(kept="1", edited="1", deleted="1")
    await taken()
    workspace.write("edited", "2!")
    workspace.write("new", "n")
    workspace.file("deleted").unlink()
    assert await taken() == {b"kept": b"1", b"edited": b"2!", b"new": b"n"}


async def test_an_unchanged_workspace_has_an_equal_tree_under_a_new_ref(store, workspace):
    workspace.commit(a="1")
    first = await store.capture(workspace.path, "thread", "1")
    second = await store.capture(workspace.path, "thread", "2")
    workspace.write("a", "2!")
    third = await store.capture(workspace.path, "thread", "3")
    assert first.tree == second.tree != third.tree
    assert len({first.ref, second.ref, third.ref}) == 3
    assert await store.tree_of(workspace.path, second.ref) == second.tree


async def test_a_folder_without_git_is_captured(workspace, taken):
    workspace.write("a/b", "1")
    workspace.write(".gitignore", "ignored\n")
    workspace.write("ignored", "x")
    assert await taken() == {b"a/b": b"1", b".gitignore": b"ignored\n"}
    workspace.write("a/b", "2!")
    assert (await taken())[b"a/b"] == b"2!"


async def test_an_empty_folder_is_captured(workspace, taken):
    assert await taken() == {}


async def test_a_repository_made_between_two_checkpoints_changes_nothing_in_them(store, workspace):
    workspace.write("a", "1")
    before = await store.capture(workspace.path, "thread", "1")
    workspace.commit()
    assert (await store.capture(workspace.path, "thread", "2")).tree == before.tree


async def test_more_new_files_than_are_worth_a_loose_object_each_go_into_one_pack(workspace, data, taken, monkeypatch):
    monkeypatch.setattr(capturing, "_MANY_FILES", 20)
    for number in range(30):
        workspace.write(f"f{number}", str(number) * 2)
    assert len(await taken()) == 30
    assert len(list(data.rglob("*.pack"))) == 1


async def test_ignored_files_are_left_out_unless_they_are_tracked(workspace, taken):
    workspace.write("tracked.log", "1")
    workspace.commit(gitkeep="")
    workspace.write(".gitignore", "*.log\nfolder/\n")
    workspace.write("ignored.log", "x")
    workspace.write("folder/file", "x")
    assert set(await taken()) == {b"gitkeep", b".gitignore", b"tracked.log"}


async def test_an_ignored_file_is_captured_once_the_user_tracks_it(workspace, taken):
    workspace.commit(**{".gitignore": "*.log\n", "a": "1"})
    workspace.write("forced.log", "1")
    assert b"forced.log" not in await taken()
    workspace.git("add", "-f", "forced.log")
    assert (await taken())[b"forced.log"] == b"1"


async def test_an_ignored_tracked_file_is_captured_where_its_entry_cannot_be_taken_over(workspace, taken):
    workspace.commit(**{"dos.log": "a\r\nb\r\n", ".gitattributes": "*.log text eol=crlf\n"})
    workspace.commit(**{".gitignore": "*.log\n"})
    assert (await taken())[b"dos.log"] == b"a\r\nb\r\n"


async def test_the_excludes_of_the_repository_and_of_the_user_count(workspace, home, taken):
    workspace.commit(a="1")
    workspace.write(".git/info/exclude", "by-repository\n")
    (home / "excludes").write_text("by-user\n")
    (home / ".gitconfig").write_text("[core]\n\texcludesFile = ~/excludes\n")
    workspace.write("by-repository", "x")
    workspace.write("by-user", "x")
    workspace.write("new", "n")
    assert set(await taken()) == {b"a", b"new"}
    workspace.write(".git/info/exclude", "new2\n")
    workspace.write("new2", "x")
    assert set(await taken()) == {b"a", b"new", b"by-repository"}


async def test_large_files_are_named_and_stay_as_they_were_and_tracked_ones_may_be_larger(workspace, data):
    store = CheckpointStore(data, CheckpointPolicy(max_untracked_bytes=10, max_tracked_bytes=20))
    workspace.commit(tracked="t" * 15, grown="g")
    await store.capture(workspace.path, "thread", "0")
    workspace.write("tracked", "T" * 20)
    workspace.write("grown", "G" * 21)
    workspace.write("untracked", "u" * 11)
    workspace.write("small", "s" * 10)
    captured = await store.capture(workspace.path, "thread", "1")
    assert {path: content for path, (_, content) in files_of(data, captured.ref).items()} == {
        b"tracked": b"T" * 20,
        b"grown": b"g",
        b"small": b"s" * 10,
    }
    assert set(captured.skipped) == {
        Skipped(b"grown", "too large: 21 bytes"),
        Skipped(b"untracked", "too large: 11 bytes"),
    }


@pytest.mark.parametrize(
    ("attributes", "content"),
    [
        ("text=auto eol=crlf", b"a\r\nb\r\n"),
        ("text eol=lf", b"a\r\nb\n"),
        ("ident", b"$Id: 0123456789012345678901234567890123456789 $\n"),
        ("working-tree-encoding=UTF-16", "text\n".encode("utf-16")),
        ("filter=lfs diff=lfs merge=lfs -text", b"version https://git-lfs.github.com/spec/v1\n"),
        ("filter=marker", b"plain"),
    ],
)
async def test_bytes_are_raw_whatever_the_attributes_and_no_filter_runs(
    workspace, home, tmp_path, taken, attributes, content
):
    marker = tmp_path / "a filter ran"
    filters = "".join(f'[filter "{name}"]\n\tclean = "touch \'{marker}\'; tr a-z A-Z"\n' for name in ("lfs", "marker"))
    workspace.write(".gitattributes", f"committed {attributes}\nnew {attributes}\n")
    workspace.commit(committed=content)
    workspace.git("config", "core.autocrlf", "true")
    (home / ".gitconfig").write_text(filters)
    workspace.git("add", "--renormalize", "committed")
    marker.unlink(missing_ok=True)
    workspace.write("new", content)
    files = await taken()
    assert (files[b"committed"], files[b"new"]) == (content, content)
    workspace.write("committed", content + content)
    assert (await taken())[b"committed"] == content + content
    assert not marker.exists()


async def test_the_executable_bit_is_captured_even_where_the_repository_does_not_track_it(store, workspace, data):
    workspace.commit(script="1", plain="1")
    workspace.git("config", "core.fileMode", "false")
    workspace.file("script").chmod(0o755)
    captured = await store.capture(workspace.path, "thread", "1")
    modes = {path: mode for path, (mode, _) in files_of(data, captured.ref).items()}
    assert modes == {b"script": "100755", b"plain": "100644"}


async def test_symlinks_are_captured_as_links_wherever_they_lead(store, workspace, data, tmp_path):
    (tmp_path / "secret").write_text("outside")
    workspace.commit(**{"folder/file": "1"})
    targets = {b"dangling": b"nowhere", b"folder-link": b"folder", b"escaping": b"../secret"}
    for name, target in targets.items():
        workspace.file(name).symlink_to(os.fsdecode(target))
    captured = await store.capture(workspace.path, "thread", "1")
    files = files_of(data, captured.ref)
    assert files.pop(b"folder/file") == ("100644", b"1")
    assert files == {name: ("120000", target) for name, target in targets.items()}


async def test_a_folder_swapped_for_a_symlink_loses_its_files_and_what_it_leads_to_is_not_read(
    workspace, tmp_path, taken
):
    workspace.commit(**{"folder/file": "1"})
    await taken()
    workspace.file("folder").rename(tmp_path / "elsewhere")
    workspace.file("folder").symlink_to(tmp_path / "elsewhere")
    assert await taken() == {b"folder": bytes(tmp_path / "elsewhere")}


async def test_any_name_is_captured(workspace, taken):
    names = [
        b"new\nline",
        b'quote"',
        b"glob*[a]?",
        b":(top)x",
        b"not-utf8-\xff\xfe",
        b"-option",
        b"tab\t",
        b"back\\slash",
    ]
    workspace.commit()
    for name in names:
        workspace.write(name, name)
        workspace.write(b"in-" + name + b"/" + name, b"deep")
    expected = {name: name for name in names} | {b"in-" + name + b"/" + name: b"deep" for name in names}
    assert await taken() == expected
    for name in names:
        workspace.write(name, b"2" + name)
    assert await taken() == expected | {name: b"2" + name for name in names}


async def test_a_rename_that_changes_only_the_case_is_captured(workspace, taken):
    workspace.commit(readme="1")
    await taken()
    workspace.file("readme").rename(workspace.file("README"))
    assert await taken() == {b"README": b"1"}


async def test_a_file_and_a_folder_can_change_places(workspace, taken):
    workspace.commit(**{"file": "1", "folder/deep/file": "1"})
    await taken()
    workspace.file("file").unlink()
    workspace.write("file/inside", "2")
    workspace.file("folder/deep/file").unlink()
    workspace.file("folder/deep").rmdir()
    workspace.file("folder").rmdir()
    workspace.write("folder", "2")
    assert await taken() == {b"file/inside": b"2", b"folder": b"2"}


async def test_a_pipe_is_not_read(store, workspace, data):
    workspace.commit(a="1", b="1")
    await store.capture(workspace.path, "thread", "1")
    workspace.file("a").unlink()
    os.mkfifo(workspace.file("a"))
    os.mkfifo(workspace.file("untracked"))
    captured = await store.capture(workspace.path, "thread", "2")
    assert captured.skipped == (Skipped(b"a", "not a regular file"),)


async def test_a_file_rewritten_within_the_same_instant_and_size_is_seen(workspace, taken):
    workspace.commit(a="1\n")
    for _ in range(3):
        workspace.write("a", "3\n")
        assert (await taken())[b"a"] == b"3\n"
        workspace.write("a", "4\n")
        assert (await taken())[b"a"] == b"4\n"


@pytest.mark.parametrize("attempt", range(3))
async def test_a_file_rewritten_in_the_instant_of_the_users_index_is_seen_by_the_first_checkpoint(
    workspace, taken, attempt
):
    """Only the time of the index, equal to the file's, tells git not to trust it; ctime counts in seconds."""
    workspace.commit(a="1\n", dropped="1\n")
    workspace.file("dropped").unlink()
    workspace.age(workspace.write("a", "2\n"))
    workspace.git("add", "a")
    workspace.age(workspace.write("a", "3\n"))
    workspace.age(workspace.file(".git/index"))
    assert await taken() == {b"a": b"3\n"}


@pytest.mark.parametrize("attempt", range(3))
async def test_a_file_rewritten_in_the_instant_of_the_private_index_is_seen_by_a_diff(store, workspace, data, attempt):
    workspace.commit(a="1\n")
    workspace.age(workspace.write("a", "2\n"))
    base = await store.capture(workspace.path, "thread", "1")
    workspace.age(workspace.write("a", "3\n"))
    workspace.age(shadow_of(data) / "index")
    assert [change.path for change in (await store.diff(workspace.path, base.ref, None)).files] == [b"a"]


async def test_the_inherited_environment_of_git_is_not_obeyed(workspace, tmp_path, taken, monkeypatch):
    workspace.commit(a="1")
    other = Workspace(tmp_path / "other")
    other.write("other", "x")
    other.commit()
    before = git_state(other.path)
    monkeypatch.setenv("GIT_DIR", str(other.path / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other.path))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other.path / ".git" / "index"))
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(other.path / ".git" / "objects"))
    assert await taken() == {b"a": b"1"}
    assert git_state(other.path) == before


async def test_no_hook_no_signer_and_no_file_monitor_of_the_user_is_run(workspace, home, tmp_path, taken):
    marker, program = tmp_path / "ran", tmp_path / "program"
    program.write_text(f"#!/bin/sh\necho ran >>'{marker}'\n")
    program.chmod(0o755)
    workspace.commit(a="1")
    for hook in ("post-index-change", "reference-transaction", "pre-commit", "post-commit"):
        workspace.file(f".git/hooks/{hook}").symlink_to(program)
    config = (
        f"[core]\n\thooksPath = {workspace.path}/.git/hooks\n\tfsmonitor = {program}\n"
        f"[commit]\n\tgpgSign = true\n[gpg]\n\tprogram = {program}\n"
    )
    (home / ".gitconfig").write_text(config)
    with workspace.file(".git/config").open("a") as file:
        file.write(config)
    workspace.write("a", "2!")
    assert await taken() == {b"a": b"2!"}
    assert not marker.exists()


def test_what_the_running_user_may_not_read_or_write_does_not_stop_a_checkpoint(
    workspace: Workspace, data: Path, as_nobody
) -> None:
    """The workspace belongs to someone else, its `.git` cannot be written, one file cannot be read."""
    workspace.commit(a="1", secret="s")
    workspace.write("a", "2!")
    workspace.write("closed", "c").chmod(0o600)
    before = git_state(workspace.path)

    async def capture_with_little_rights() -> dict[bytes, str]:
        with pytest.raises(PermissionError):
            workspace.file(".git/midstream").touch()
        with pytest.raises(PermissionError):
            workspace.file("closed").read_bytes()
        captured = await CheckpointStore(data).capture(workspace.path, "thread", "1")
        assert files_of(data, captured.ref) == {b"a": ("100644", b"2!"), b"secret": ("100644", b"s")}
        return {skipped.path: skipped.reason for skipped in captured.skipped}

    assert as_nobody(capture_with_little_rights) == {b"closed": "unreadable"}
    assert git_state(workspace.path) == before


async def test_no_copy_of_the_users_index_and_no_scratch_index_is_left(store, workspace, data):
    workspace.commit(a="1")
    captured = await store.capture(workspace.path, "thread", "1")
    await store.diff(workspace.path, captured.ref, None)
    assert [path.name for path in shadow_of(data).glob("index*")] == ["index"]
