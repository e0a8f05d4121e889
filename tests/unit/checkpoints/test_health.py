"""Looking at shadow repositories from outside: what they keep, whether it is whole, and the room it takes."""

import hashlib
from pathlib import Path

from midstream.server.checkpoints import CheckpointStore, Kept, ShadowRepository, git_version, repositories
from support.workspaces import Workspace, git, shadow_of, state

INCOMPRESSIBLE = hashlib.shake_256(b"a file").digest(5_000)


def only(data: Path) -> ShadowRepository:
    (repository,) = repositories(data)
    return repository


async def test_what_is_kept_is_known_by_its_thread_and_name(
    store: CheckpointStore, workspace: Workspace, data: Path
) -> None:
    workspace.write("a", "one")
    first = await store.capture(workspace.path, "thr_1", "ckp_1")
    second = await store.capture(workspace.path, "thr_2", "ckp_2")
    repository = only(data)
    assert repository.workspace == str(workspace.path)
    assert await repository.kept() == (Kept("thr_1", "ckp_1", first.ref), Kept("thr_2", "ckp_2", second.ref))


async def test_looking_changes_nothing(store: CheckpointStore, workspace: Workspace, data: Path) -> None:
    workspace.commit(a="one")
    await store.capture(workspace.path, "thr_1", "ckp_1")
    before = state(data)
    repository = only(data)
    await repository.kept()
    assert await repository.faults() == ()
    await repository.sizes()
    assert state(data) == before


async def test_a_store_whose_index_is_broken_is_whole_since_the_next_capture_mends_it(
    store: CheckpointStore, workspace: Workspace, data: Path
) -> None:
    workspace.write("a", "one")
    await store.capture(workspace.path, "thr_1", "ckp_1")
    (shadow_of(data) / "index").write_bytes(b"no index")
    assert await only(data).faults() == ()


async def test_an_object_that_is_gone_is_a_fault(store: CheckpointStore, workspace: Workspace, data: Path) -> None:
    workspace.write("a", "one")
    await store.capture(workspace.path, "thr_1", "ckp_1")
    blob = git(shadow_of(data), "hash-object", "--stdin", stdin=b"one").decode().strip()
    (shadow_of(data) / "objects" / blob[:2] / blob[2:]).unlink()
    assert any(f"missing blob {blob}" in fault for fault in await only(data).faults())


async def test_sizes_count_what_threads_share_for_each_and_what_is_the_users_for_none(
    store: CheckpointStore, workspace: Workspace, data: Path
) -> None:
    workspace.commit(theirs=INCOMPRESSIBLE)
    await store.capture(workspace.path, "thr_1", "ckp_1")
    (alone,) = (await only(data).sizes()).values()
    workspace.write("ours", INCOMPRESSIBLE[::-1])
    await store.capture(workspace.path, "thr_1", "ckp_2")
    await store.capture(workspace.path, "thr_2", "ckp_3")
    sizes = await only(data).sizes()
    blob = git(shadow_of(data), "rev-parse", "refs/ck/thr_2/ckp_3:ours").decode().strip()
    size = (shadow_of(data) / "objects" / blob[:2] / blob[2:]).stat().st_size
    assert alone < 500
    assert size < sizes["thr_2"] < size + 500
    assert sizes["thr_2"] < sizes["thr_1"] < alone + size + 500


async def test_sizes_count_what_was_packed(store: CheckpointStore, workspace: Workspace, data: Path) -> None:
    workspace.write("a", INCOMPRESSIBLE[::-1])
    await store.capture(workspace.path, "thr_1", "ckp_1")
    loose = (await only(data).sizes())["thr_1"]
    git(shadow_of(data), "repack", "-a", "-d", "-q")
    packed = (await only(data).sizes())["thr_1"]
    assert list((shadow_of(data) / "objects").glob("pack/*.pack"))
    assert 0.5 * loose < packed < 1.5 * loose


async def test_the_version_of_git_is_asked_for() -> None:
    assert (await git_version())[0].isdigit()
