"""How long checkpoints are kept, what their going frees, and what a full disk leaves."""

import itertools
import os
import subprocess

import pytest

from midstream.server.checkpoints import CheckpointError, CheckpointPolicy, CheckpointStore, Selection
from midstream.server.checkpoints.history import Held
from midstream.server.checkpoints.notes import Note
from midstream.server.checkpoints.retention import expired, own_bytes, pinned
from support.workspaces import files_of, git, shadow_of

DAY = 86400
NOW = 1_800_000_000
POLICY = CheckpointPolicy(keep=3, keep_days=30)


def kept(name: str, *, kind="run", days: float = 0, thread: str = "a", space: str = "ck") -> Held:
    ref = f"refs/{space}/{thread}/{name}"
    return Held(ref, "0" * 40, "0" * 40, int(NOW - days * DAY), Note(kind=kind, ref=ref, prefix=b""))


def names(kept: list[Held]) -> set[str]:
    return {one.name for one in kept}


def test_the_first_the_latest_and_safety_checkpoints_stay_however_old():
    of_a = [
        kept("1", kind="baseline", days=90),
        kept("2", days=80),
        kept("3", kind="safety", days=70),
        kept("4", days=60),
        kept("5", kind="subagent", days=50),
    ]
    assert names(expired(of_a, POLICY, NOW)) == {"2", "5"}


def test_more_than_are_kept_of_a_thread_go_oldest_first():
    of_a = [kept(str(number)) for number in range(1, 7)]
    assert names(expired(of_a, POLICY, NOW)) == {"2", "3"}


def test_threads_are_counted_by_themselves():
    both = [kept(f"{number}{thread}", thread=thread) for number in range(1, 4) for thread in "ab"]
    assert expired(both, POLICY, NOW) == []
    assert pinned(both) == {"refs/ck/a/1a", "refs/ck/b/1b", "refs/ck/a/3a", "refs/ck/b/3b"}


def test_what_restores_left_goes_by_age_and_count_alone():
    assert names(expired([kept("1", space="after", kind="restored", days=31)], POLICY, NOW)) == {"1"}


@pytest.fixture
def clock():
    return itertools.count(NOW, DAY)


@pytest.fixture
def small(data, clock):
    """A store that keeps three checkpoints, and takes one a day."""
    return CheckpointStore(data, POLICY, clock=lambda: next(clock))


async def test_what_is_let_go_cannot_be_read_and_the_rest_can(small, workspace, data):
    refs = []
    for number in range(6):
        workspace.write("a", str(number))
        refs.append((await small.capture(workspace.path, "thread", str(number), kind="run")).ref)
    assert names(await small.retain(workspace.path)) == {"1", "2"}
    assert names(await small.retain(workspace.path)) == set()
    left = git(shadow_of(data), "for-each-ref", "--format=%(objectname)", "refs/ck").decode().split()
    assert set(left) == {refs[0], *refs[3:]}
    for number in (0, 3, 4, 5):
        assert files_of(data, refs[number]) == {b"a": ("100644", b"%d" % number)}


async def test_above_the_cap_the_oldest_of_all_threads_go_until_it_holds(workspace, data, clock):
    store = CheckpointStore(data, CheckpointPolicy(max_store_bytes=1 << 20), clock=lambda: next(clock))
    for number in range(12):
        workspace.write("noise", os.urandom(100_000))
        await store.capture(workspace.path, "ab"[number % 2], f"{number:02}", kind="run")
    assert own_bytes(shadow_of(data)) > 1 << 20
    gone = await store.retain(workspace.path)
    assert own_bytes(shadow_of(data)) <= 1 << 20
    assert gone
    assert names(gone) == {f"{number:02}" for number in range(2, 2 + len(gone))}
    assert git(shadow_of(data), "fsck", "--connectivity-only", "--no-dangling") == b""
    assert (await store.capture(workspace.path, "a", "99")).skipped == ()


async def test_a_cap_that_pinned_checkpoints_alone_exceed_ends_the_search(workspace, data):
    store = CheckpointStore(data, CheckpointPolicy(max_store_bytes=1))
    workspace.write("a", "1")
    captured = await store.capture(workspace.path, "thread", "1")
    assert await store.retain(workspace.path) == []
    assert files_of(data, captured.ref) == {b"a": ("100644", b"1")}


async def test_many_loose_objects_are_packed_and_what_the_index_needs_stays(small, workspace, data, monkeypatch):
    monkeypatch.setattr("midstream.server.checkpoints.retention._LOOSE_FILES", 10)
    workspace.commit(a="1")
    for number in range(12):
        workspace.write(f"f{number}", str(number))
        await small.capture(workspace.path, "thread", f"{number:02}", kind="run")
    shadow = shadow_of(data)
    before = own_bytes(shadow)
    await small.retain(workspace.path)
    assert own_bytes(shadow) < before
    assert not list(shadow.glob("objects/[0-9a-f][0-9a-f]/*"))
    again = await small.capture(workspace.path, "thread", "99")
    assert len(files_of(data, again.ref)) == 13
    assert git(shadow, "fsck", "--connectivity-only", "--no-dangling") == b""


async def test_a_pack_that_the_user_no_longer_has_is_given_up(small, workspace, data, monkeypatch):
    monkeypatch.setattr("midstream.server.checkpoints.retention._LOOSE_FILES", -1)
    workspace.write("noise", os.urandom(100_000))
    workspace.commit(a="1")
    workspace.git("repack", "-q", "-a", "-d")
    first = await small.capture(workspace.path, "thread", "1")
    shadow = shadow_of(data)
    (keep,) = shadow.glob("objects/pack/*.keep")
    await small.retain(workspace.path)
    assert keep.exists()
    workspace.write("more", "1")
    workspace.commit()
    workspace.git("repack", "-q", "-a", "-d")
    await small.retain(workspace.path)
    assert not keep.with_suffix(".pack").exists()
    assert len(files_of(data, first.ref)) == 2


async def test_a_checkpoint_can_be_restored_after_the_store_was_packed(small, workspace, data, restore, monkeypatch):
    monkeypatch.setattr("midstream.server.checkpoints.retention._LOOSE_FILES", -1)
    workspace.write("a", "1")
    first = await small.capture(workspace.path, "thread", "1")
    workspace.write("a", "2")
    await small.capture(workspace.path, "thread", "2")
    await small.retain(workspace.path)
    await restore(first)
    assert workspace.files() == {"a": b"1"}


async def test_a_thread_whose_checkpoint_was_let_go_takes_its_next_one_all_the_same(store, workspace):
    workspace.write("a", "1")
    gone = "0" * 40
    captured = await store.capture(workspace.path, "thread", "1", kind="baseline", unless=gone, since=gone)
    assert captured.ref != gone


async def test_a_nearly_full_disk_is_said_before_anything_is_written(data, workspace):
    workspace.commit(a="1")
    full = CheckpointStore(data, CheckpointPolicy(min_free_bytes=1 << 60))
    for attempt in (
        full.capture(workspace.path, "thread", "1"),
        full.restoring(workspace.path, "thread", "0" * 40, Selection()).__aenter__(),
    ):
        with pytest.raises(CheckpointError, match="MiB are free on the disk of"):
            await attempt


@pytest.fixture
def tiny_disk(tmp_path):
    """A disk of two MiB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", disk], check=True)
    yield disk
    subprocess.run(["umount", disk], check=True)


async def test_a_disk_that_fills_up_costs_this_checkpoint_only_and_leaves_no_litter(workspace, tiny_disk):
    store = CheckpointStore(tiny_disk / "data", CheckpointPolicy(min_free_bytes=0))
    workspace.write("a", "1")
    first = await store.capture(workspace.path, "thread", "1")
    noise = workspace.write("noise", os.urandom(4 << 20))
    with pytest.raises(CheckpointError):
        await store.capture(workspace.path, "thread", "2")
    noise.unlink()
    third = await CheckpointStore(store.root, store.policy).capture(workspace.path, "thread", "3")
    assert third.tree == first.tree
    assert not list((tiny_disk / "data").glob("*/shadow.git/objects/**/tmp_*"))


async def test_a_disk_that_fills_up_while_files_are_restored_leaves_them_as_they_were(data, tiny_disk):
    workspace = tiny_disk / "workspace"
    workspace.mkdir()
    store = CheckpointStore(data)
    contents = {f"f{number}": os.urandom(300_000) for number in range(4)}
    for name, content in contents.items():
        (workspace / name).write_bytes(content)
    first = await store.capture(workspace, "thread", "1")
    for name in contents:
        (workspace / name).write_bytes(b"2")
    await store.capture(workspace, "thread", "2")
    (tiny_disk / "filler").write_bytes(b"x" * 1_000_000)
    async with store.restoring(workspace, "thread", first.ref, Selection()) as restore:
        await restore.keep("s")
        with pytest.raises(CheckpointError, match="nothing was restored"):
            await restore.apply()
    assert {path.name: path.read_bytes() for path in workspace.iterdir()} == dict.fromkeys(contents, b"2")
