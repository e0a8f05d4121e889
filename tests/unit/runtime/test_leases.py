"""Who may change a workspace's files: runs share it, a restore has it alone."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from midstream.protocol.errors import MidstreamError
from midstream.server.runtime.leases import WorkspaceLeases

HOLDER = """
import asyncio, sys
from pathlib import Path
from midstream.server.runtime.leases import WorkspaceLeases

async def hold():
    leases, workspace = WorkspaceLeases(), Path(sys.argv[1])
    async with leases.alone(workspace) if sys.argv[2] == "alone" else leases.share(workspace, "thr_other"):
        print("held", flush=True)
        await asyncio.Event().wait()

asyncio.run(hold())
"""


@pytest.fixture
def leases() -> WorkspaceLeases:
    return WorkspaceLeases()


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


async def refused(leases: WorkspaceLeases, workspace: Path) -> MidstreamError:
    with pytest.raises(MidstreamError) as error:
        async with leases.alone(workspace):
            pass
    assert error.value.kind == "invalidState"
    return error.value


async def test_runs_of_two_threads_share_a_workspace_and_are_both_mixed(leases, workspace) -> None:
    async with leases.share(workspace, "a") as one:
        assert not one.mixed
        async with leases.share(workspace, "b") as other:
            assert one.mixed
            assert other.mixed
    async with leases.share(workspace, "b") as later:
        assert not later.mixed


@pytest.mark.parametrize("place", [".", "inner", ".."])
async def test_a_restore_is_refused_while_a_run_holds_the_folder_or_one_in_or_around_it(
    leases, workspace, place
) -> None:
    async with leases.share((workspace / place).resolve(), "a"):
        assert (await refused(leases, workspace)).data["threadIds"] == ["a"]
    async with leases.alone(workspace):
        pass


async def test_folders_beside_each_other_have_nothing_to_do_with_each_other(leases, workspace) -> None:
    async with leases.share(workspace.with_name("workspace2"), "a") as one, leases.alone(workspace):
        assert not one.mixed


async def test_a_run_waits_until_a_restore_has_ended(leases, workspace) -> None:
    begun = asyncio.Event()

    async def run() -> None:
        async with leases.share(workspace, "a"):
            begun.set()

    async with leases.alone(workspace):
        await refused(leases, workspace)
        waiting = asyncio.ensure_future(run())
        await asyncio.sleep(0)
        assert not begun.is_set()
    await asyncio.wait_for(waiting, 10)


async def test_a_parent_that_waits_for_its_delegated_child_ends_and_neither_is_mixed(leases, workspace) -> None:
    async def child() -> bool:
        async with leases.share(workspace, "child", under=parent) as lease:
            return lease.mixed

    async with leases.share(workspace, "parent") as parent:
        await refused(leases, workspace)  # a restore that is refused does not wait, and so bars nobody
        assert not await asyncio.wait_for(child(), 10)
        assert not parent.mixed


@pytest.mark.parametrize("how", ["share", "alone"])
async def test_another_daemon_counts_too_and_no_more_once_it_is_killed(leases, workspace, how) -> None:
    other = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HOLDER, str(workspace), how, stdout=asyncio.subprocess.PIPE
    )
    assert other.stdout is not None
    assert await other.stdout.readline() == b"held\n"
    await refused(leases, workspace)
    waiting = asyncio.ensure_future(_shared(leases, workspace))
    if how == "alone":
        done, _ = await asyncio.wait([waiting], timeout=0.2)
        assert not done
    os.kill(other.pid, signal.SIGKILL)
    await other.wait()
    await asyncio.wait_for(waiting, 10)
    async with leases.alone(workspace):
        pass


async def test_a_workspace_that_is_not_there_is_locked_by_nobody(leases, workspace) -> None:
    async with leases.share(workspace / "gone", "a"):
        await refused(leases, workspace / "gone")
    async with leases.alone(workspace / "gone"):
        pass


async def _shared(leases: WorkspaceLeases, workspace: Path) -> None:
    async with leases.share(workspace, "mine"):
        pass
