"""``kill -9`` of the daemon before and after each commit, each effect, and each thing that it does outside."""

import asyncio
import fcntl
import json
from pathlib import Path
from typing import get_args

import pytest
import pytest_asyncio

from crash import acts
from crash.acts import ACTS, Act
from crash.stage import Stage, play
from crash.verdict import judge
from midstream.server.graph.commands import ExpireRequests, RecoverThread, RuntimeCommand, UpdateSession
from support.fault_points import all_points

pytestmark = pytest.mark.timeout(600)  # the first case of each worker waits for all acts
AROUND = {ExpireRequests, UpdateSession, RecoverThread}
"""Commands that are not part of carrying a run out."""
POINTS = list(all_points())


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """A folder that all workers share."""
    base = tmp_path_factory.getbasetemp()
    return base if worker_id == "master" else base.parent


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def act_of(shared_folder: Path) -> dict[str, Act]:
    """The first act that reaches each point, found once by playing all of them without a fault."""
    found = shared_folder / "acts.json"
    with (shared_folder / "acts.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not found.exists():
            reached: dict[str, str] = {}
            few = asyncio.Semaphore(3)
            plays = [play_through(act, shared_folder / "acts" / act.__name__, few) for act in ACTS]
            for act, points in zip(ACTS, await asyncio.gather(*plays), strict=True):
                reached = {**dict.fromkeys(points, act.__name__), **reached}
            found.write_text(json.dumps(reached))
    by_name = {act.__name__: act for act in ACTS}
    return {point: by_name[name] for point, name in json.loads(found.read_text()).items()}


async def play_through(act: Act, home: Path, few: asyncio.Semaphore) -> set[str]:
    """Play an act without a fault, and return the points that it reached."""
    async with few:
        stage = Stage(home)
        try:
            await play(act, stage)
            return stage.reached
        finally:
            await stage.close()


@pytest.mark.parametrize("point", POINTS)
async def test_a_daemon_killed_there_loses_nothing_and_does_nothing_twice(
    point: str, act_of: dict[str, Act], tmp_path: Path
) -> None:
    assert point in act_of, f"No act reaches this point: add one to {Path(acts.__file__)}"
    stage = Stage(tmp_path, point)
    try:
        await play(act_of[point], stage)
        assert stage.struck.is_set()
        await judge(stage)
    finally:
        await stage.close()


@pytest.mark.parametrize("command", [command.__name__ for command in get_args(RuntimeCommand) if command not in AROUND])
async def test_a_commit_of_a_run_that_fails_once_loses_nothing_and_leaves_the_thread_usable(
    command: str, act_of: dict[str, Act], tmp_path: Path
) -> None:
    point = f"before commit of {command}"
    stage = Stage(tmp_path, f"fail {point}")
    try:
        await play(act_of[point], stage)
        assert not stage.armed
        await judge(stage)
    finally:
        await stage.close()
