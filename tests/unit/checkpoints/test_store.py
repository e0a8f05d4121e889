"""One store used by several tasks and processes, stopped anywhere, and found damaged."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from attrs import frozen

from midstream.server.checkpoints import CaptureTimedOut, CheckpointError, CheckpointPolicy, CheckpointStore, GitFailed
from support.workspaces import Workspace, files_of, git, shadow_of, state

DAEMON = """
import asyncio, sys
from pathlib import Path
from midstream.server.checkpoints import CheckpointStore
asyncio.run(CheckpointStore(Path(sys.argv[1])).capture(Path(sys.argv[2]), "thread", "1"))
"""


@frozen
class HangingGit:
    """A `git` in the search path that writes its process id to a pipe and hangs instead of staging."""

    folder: Path

    async def reached(self) -> int:
        """Return the process id of the hanging child, once there is one."""
        return int(await asyncio.to_thread((self.folder / "reached").read_text))

    def let_go(self) -> None:
        (self.folder / "git").unlink()


@pytest.fixture
def hanging_git(tmp_path, monkeypatch):
    folder = tmp_path / "bin"
    folder.mkdir()
    os.mkfifo(folder / "reached")
    real = subprocess.check_output(["sh", "-c", "command -v git"], text=True).strip()
    script = folder / "git"
    script.write_text(
        f"""#!/bin/sh
case " $* " in *" update-index "*"--add"*)
    : >"$GIT_INDEX_FILE.lock"; echo $$ >'{folder}/reached'; exec sleep 600;; esac
exec '{real}' "$@"
"""
    )
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return HangingGit(folder)


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


async def test_a_cancelled_capture_ends_its_child_and_the_next_capture_works(store, workspace, data, hanging_git):
    workspace.commit(a="1")
    workspace.write("b", "2")
    capture = asyncio.create_task(store.capture(workspace.path, "thread", "1"))
    child = await hanging_git.reached()
    capture.cancel()
    with pytest.raises(asyncio.CancelledError):
        await capture
    assert not is_alive(child)
    hanging_git.let_go()
    captured = await store.capture(workspace.path, "thread", "1")
    assert set(files_of(data, captured.ref)) == {b"a", b"b"}


async def test_the_exit_of_an_ended_child_is_left_to_the_loop_that_waits_for_it(
    store, workspace, hanging_git, monkeypatch
):
    workspace.commit(a="1")
    workspace.write("b", "2")
    capture = asyncio.create_task(store.capture(workspace.path, "thread", "1"))
    await hanging_git.reached()
    polled = []
    monkeypatch.setattr(subprocess.Popen, "poll", lambda child: polled.append(child.pid))
    capture.cancel()
    with pytest.raises(asyncio.CancelledError):
        await capture
    assert polled == []


async def test_a_capture_that_takes_too_long_is_given_up_with_no_checkpoint_left(data, workspace):
    workspace.commit(a="1")
    with pytest.raises(CaptureTimedOut, match="longer than 0 seconds"):
        await CheckpointStore(data, CheckpointPolicy(capture_seconds=0)).capture(workspace.path, "thread", "1")
    captured = await CheckpointStore(data).capture(workspace.path, "thread", "2")
    refs = git(shadow_of(data), "for-each-ref", "--format=%(objectname) %(refname)", "refs/ck").decode()
    assert refs == f"{captured.ref} refs/ck/thread/2\n"


async def test_a_child_that_outlives_its_killed_daemon_keeps_the_store_and_then_the_next_daemon_goes_on(
    store, workspace, data, hanging_git
):
    workspace.commit(a="1")
    first = await CheckpointStore(data).capture(workspace.path, "thread", "0")
    workspace.write("b", "2")
    daemon = await asyncio.create_subprocess_exec(sys.executable, "-c", DAEMON, str(data), str(workspace.path))
    orphan = await hanging_git.reached()
    daemon.kill()
    await daemon.wait()
    hanging_git.let_go()
    try:
        with pytest.raises(CaptureTimedOut):
            await CheckpointStore(data, CheckpointPolicy(capture_seconds=0.1)).capture(workspace.path, "t", "1")
    finally:
        os.kill(orphan, signal.SIGKILL)
    captured = await store.capture(workspace.path, "thread", "1")
    assert set(files_of(data, captured.ref)) == {b"a", b"b"}
    assert set(files_of(data, first.ref)) == {b"a"}


async def test_what_a_killed_git_left_behind_is_cleared_away(store, workspace, data):
    workspace.commit(a="1")
    await store.capture(workspace.path, "thread", "1")
    shadow = shadow_of(data)
    left = [
        shadow / "objects" / "pack" / "tmp_pack_x",
        shadow / "refs" / "ck" / "thread" / "1.lock",
        shadow / "index.lock",
    ]
    for file in left:
        file.touch()
    workspace.write("a", "2!")
    captured = await CheckpointStore(data).capture(workspace.path, "thread", "1")
    assert files_of(data, captured.ref) == {b"a": ("100644", b"2!")}
    assert not any(file.exists() for file in left)


async def test_two_daemons_take_checkpoints_of_one_workspace_at_once(workspace, data):
    workspace.commit(a="1")

    async def daemon(number: int) -> list[str]:
        store = CheckpointStore(data)
        refs = []
        for turn in range(5):
            workspace.write(f"f{number}-{turn}", str(turn))
            refs.append((await store.capture(workspace.path, f"thread{number}", str(turn))).ref)
        return refs

    refs = await asyncio.gather(*(daemon(number) for number in range(3)))
    for number, of_one in enumerate(refs):
        for turn, ref in enumerate(of_one):
            assert files_of(data, ref)[b"f%d-%d" % (number, turn)] == ("100644", b"%d" % turn)
    assert git(shadow_of(data), "fsck", "--connectivity-only", "--no-dangling") == b""


async def test_tasks_of_one_store_take_turns(store, workspace, data):
    workspace.commit(a="1")
    workspace.write("b", "2")
    captured = await asyncio.gather(*(store.capture(workspace.path, "thread", str(number)) for number in range(4)))
    assert len({it.tree for it in captured}) == 1
    assert len({it.ref for it in captured}) == 4


async def test_a_broken_private_index_is_made_anew(store, workspace, data):
    workspace.commit(a="1")
    await store.capture(workspace.path, "thread", "1")
    (shadow_of(data) / "index").write_bytes(b"no index")
    workspace.write("a", "2!")
    captured = await store.capture(workspace.path, "thread", "2")
    assert files_of(data, captured.ref) == {b"a": ("100644", b"2!")}


async def test_a_broken_index_of_the_user_does_not_stop_a_checkpoint(workspace, taken):
    workspace.commit(a="1")
    workspace.write(".git/index", "no index")
    assert await taken() == {b"a": b"1"}


async def test_a_store_whose_making_was_cut_short_is_made_anew(store, workspace, data):
    workspace.commit(a="1")
    await store.capture(workspace.path, "thread", "1")
    shadow = shadow_of(data)
    (shadow.parent / "workspace.json").unlink()
    (shadow / "HEAD").unlink()
    captured = await CheckpointStore(data).capture(workspace.path, "thread", "2")
    assert files_of(data, captured.ref) == {b"a": ("100644", b"1")}


async def test_another_folder_under_the_same_name_keeps_the_earlier_checkpoints(store, workspace, data):
    workspace.commit(a="1", b="1")
    first = await store.capture(workspace.path, "thread", "1")
    workspace.path.rename(workspace.path.with_name("moved"))
    workspace.write("a", "2!")
    second = await store.capture(workspace.path, "thread", "2")
    assert files_of(data, first.ref) == {b"a": ("100644", b"1"), b"b": ("100644", b"1")}
    assert files_of(data, second.ref) == {b"a": ("100644", b"2!")}


async def test_a_machine_without_git_is_told_so(store, workspace, monkeypatch, tmp_path):
    workspace.write("a", "1")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(GitFailed, match="could not be started"):
        await store.capture(workspace.path, "thread", "1")


async def test_a_store_that_cannot_be_written_says_so(data, workspace):
    workspace.commit(a="1")
    data.write_text("a file where the store should be")
    with pytest.raises(CheckpointError, match="no checkpoint of"):
        await CheckpointStore(data).capture(workspace.path, "thread", "1")


async def test_closing_waits_for_a_capture_under_way(store, workspace, data):
    workspace.commit(a="1")

    async def state_once_closed() -> dict[str, tuple[int, int, bytes]]:
        await store.aclose()
        return state(data)

    _, closed = await asyncio.gather(store.capture(workspace.path, "thread", "1"), state_once_closed())
    assert closed == state(data)


async def test_checkpoints_are_stamped_by_the_clock_that_is_given(data, workspace):
    workspace.commit(a="1")
    store = CheckpointStore(data, clock=lambda: 1_700_000_000.5)
    captured = await store.capture(workspace.path, "thread", "1")
    stamp = git(shadow_of(data), "log", "-1", "--format=%ct %at %cn", captured.ref).decode()
    assert stamp == "1700000000 1700000000 midstream\n"


def test_a_workspace_is_known_by_its_real_path(store, workspace, data, tmp_path) -> None:
    workspace.commit(a="1")
    alias = Workspace(tmp_path / "alias")
    alias.path.symlink_to(workspace.path)

    async def both() -> list[str]:
        return [(await store.capture(path, "thread", "1")).tree for path in (workspace.path, alias.path)]

    assert len(set(asyncio.run(both()))) == 1
    assert len(list(data.glob("*/shadow.git"))) == 1
