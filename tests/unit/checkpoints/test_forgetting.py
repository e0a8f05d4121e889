"""A forgotten thread takes its checkpoints with it, and what only they held; nobody else's suffer."""

import shutil
from pathlib import Path

import pytest

from midstream.server.checkpoints import CheckpointMissing, CheckpointStore, GitFailed, forgetting
from support.workspaces import git, git_state

SECRET = "only the forgotten thread saw this"


def held(data: Path) -> str:
    """Return all that the shadow repositories hold: every object unpacked, and every other file."""
    objects = [git(shadow, "cat-file", "--batch", "--batch-all-objects") for shadow in data.glob("*/shadow.git")]
    files = [path.read_bytes() for path in data.rglob("*") if path.is_file()]
    return b"\n".join([*objects, *files]).decode(errors="replace")


@pytest.fixture(params=["git", "plain"])
async def two_threads(request, store, workspace):
    """Two threads in one workspace; a file that only the first one's checkpoint has is gone since."""
    if request.param == "git":
        workspace.commit(a="1")
    else:
        workspace.write("a", "1")
    workspace.write("private-name.txt", SECRET)
    first = await store.capture(workspace.path, "thr_1", "ckp_1")
    workspace.file("private-name.txt").unlink()
    second = await store.capture(workspace.path, "thr_2", "ckp_2")
    return first, second


async def test_what_only_a_forgotten_thread_saw_is_nowhere_in_the_store(store, workspace, data, two_threads):
    first, second = two_threads
    assert SECRET in held(data)
    before = git_state(workspace.path)
    await store.forget("thr_1")
    assert SECRET not in held(data)
    assert "private-name" not in held(data)
    with pytest.raises(CheckpointMissing):
        await store.diff(workspace.path, first.ref, second.ref)
    assert (await store.file(workspace.path, second.ref, b"a")).content == b"1"
    assert git_state(workspace.path) == before


async def test_the_last_capture_of_a_forgotten_thread_is_not_kept_alive_by_the_index(store, workspace, data):
    workspace.write("a", "1")
    await store.capture(workspace.path, "thr_2", "ckp_2")
    workspace.write("private-name.txt", SECRET)
    await store.capture(workspace.path, "thr_1", "ckp_1")
    workspace.file("private-name.txt").unlink()
    await store.forget("thr_1")
    assert SECRET not in held(data)
    assert "private-name" not in held(data)


async def test_what_a_forgotten_thread_restored_is_gone_too(store, workspace, data, restore):
    workspace.write("a", "1")
    await store.capture(workspace.path, "thr_2", "ckp_2")
    workspace.write("private-name.txt", SECRET)
    kept = await store.capture(workspace.path, "thr_1", "ckp_1")
    workspace.write("private-name.txt", f"{SECRET}, and more")
    await store.capture(workspace.path, "thr_1", "ckp_3")
    await restore(kept, thread="thr_1")
    workspace.file("private-name.txt").unlink()
    assert SECRET in held(data)
    await store.forget("thr_1")
    assert SECRET not in held(data)
    assert "private-name" not in held(data)


async def test_what_lies_in_a_pack_with_the_files_of_others_is_gone_too(store, workspace, data):
    for number in range(501):  # so many that git writes them into a pack
        workspace.write(f"{number}", f"{number}")
    workspace.write("private-name.txt", SECRET)
    await store.capture(workspace.path, "thr_1", "ckp_1")
    workspace.file("private-name.txt").unlink()
    await store.capture(workspace.path, "thr_2", "ckp_2")
    assert list(data.glob("*/shadow.git/objects/pack/*.pack"))
    await store.forget("thr_1")
    assert SECRET not in held(data)


async def test_the_next_checkpoint_is_whole_and_compares_with_those_before(store, workspace, two_threads):
    _, second = two_threads
    await store.forget("thr_1")
    workspace.write("b", "2")
    third = await store.capture(workspace.path, "thr_2", "ckp_3")
    diff = await store.diff(workspace.path, second.ref, third.ref)
    assert [(change.path, change.status) for change in diff.files] == [(b"b", "added")]


async def test_nothing_is_left_of_a_store_that_no_thread_needs_and_it_begins_anew(store, workspace, data, two_threads):
    await store.forget("thr_1")
    await store.forget("thr_2")
    assert [path.name for path in data.rglob("*") if path.is_file()] == ["lock"]
    captured = await store.capture(workspace.path, "thr_3", "ckp_4")
    assert (await store.file(workspace.path, captured.ref, b"a")).content == b"1"


async def test_a_thread_whose_workspace_is_gone_is_forgotten(store, workspace, data, two_threads):
    shutil.rmtree(workspace.path)
    await store.forget("thr_1")
    assert SECRET not in held(data)


async def test_a_thread_whose_id_begins_like_the_forgotten_one_stays(store, workspace):
    workspace.write("a", "1")
    await store.capture(workspace.path, "thr_1", "ckp_1")
    other = await store.capture(workspace.path, "thr_10", "ckp_2")
    await store.forget("thr_1")
    assert (await store.file(workspace.path, other.ref, b"a")).content == b"1"


async def test_forgetting_that_was_killed_after_the_refs_is_finished_the_next_time(
    data, workspace, two_threads, monkeypatch
):
    async def killed(git: object, *args: object, **options: object) -> bytes:
        if args[0] == "repack":
            raise GitFailed("killed")
        return await run(git, *args, **options)

    run = forgetting.Git.run
    with monkeypatch.context() as patch:
        patch.setattr(forgetting.Git, "run", killed)
        with pytest.raises(GitFailed):
            await CheckpointStore(data).forget("thr_1")
    assert SECRET in held(data)
    await CheckpointStore(data).forget("thr_1")
    assert SECRET not in held(data)


async def test_a_store_without_its_record_is_litter_and_goes_too(store, workspace, data, two_threads):
    (record,) = data.glob("*/workspace.json")
    record.unlink()
    await store.forget("thr_1")
    assert [path.name for path in data.rglob("*") if path.is_file()] == ["lock"]
