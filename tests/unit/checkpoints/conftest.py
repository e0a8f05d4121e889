"""A store, a workspace, and a home folder of their own for every test."""

import asyncio
import concurrent.futures.thread  # noqa: F401 (an unprivileged process may not read the standard library)
import itertools
import os
import pickle
import traceback
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any, TypeAlias, TypeVar, cast

import pytest
from attrs import frozen

from midstream.server.checkpoints import Captured, CheckpointStore, Plan, Selection
from support.workspaces import Workspace, files_of, git_state

T = TypeVar("T")
Taken: TypeAlias = Callable[..., Awaitable[dict[bytes, bytes]]]


@frozen
class Done:
    """What a restore planned, and the safety checkpoint if it was done."""

    plan: Plan
    safety: Captured | None

    @property
    def conflicts(self) -> dict[bytes, str]:
        return {conflict.path: conflict.reason for conflict in self.plan.conflicts}


Restored: TypeAlias = Callable[..., Awaitable[Done]]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return home


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def store(data: Path) -> CheckpointStore:
    return CheckpointStore(data)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    path = tmp_path / "workspace"
    path.mkdir()
    return Workspace(path)


@pytest.fixture
def taken(store: CheckpointStore, workspace: Workspace, data: Path) -> Taken:
    """Take a checkpoint and return its files; fail if a git directory of the user's was written to."""

    async def take(path: Path = workspace.path) -> dict[bytes, bytes]:
        before = git_state(path)
        captured = await store.capture(path, "thread", "1")
        assert git_state(path) == before
        return {name: content for name, (_, content) in files_of(data, captured.ref).items()}

    return take


@pytest.fixture
def restore(store: CheckpointStore, workspace: Workspace) -> Restored:
    """Restore a checkpoint of a thread; fail if a git directory of the user's was written to."""
    names = itertools.count(1)

    async def do(
        captured: Captured, *paths: str, thread: str = "thread", path: Path = workspace.path, **options: Any
    ) -> Done:
        before = git_state(path)
        force = options.pop("force", False)
        selection = Selection(paths=tuple(os.fsencode(path) for path in paths) or None, **options)
        try:
            async with store.restoring(path, thread, captured.ref, selection) as restore:
                plan, safety = restore.plan, None
                if plan.steps and (force or not plan.conflicts):
                    safety = await restore.keep(f"s{next(names)}")
                    await restore.apply()
                return Done(plan, safety)
        finally:
            assert git_state(path) == before

    return do


@pytest.fixture
def as_nobody(tmp_path: Path, data: Path) -> Callable[[Callable[[], Coroutine[None, None, T]]], T]:
    """Run a coroutine in a fork of this process under an unprivileged uid, and return what it returned."""
    if os.geteuid() != 0:
        pytest.skip("only root can give up its rights")
    nobody = 65534
    # They stay so, for other tests that run now need the same.
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_mode & 0o001 == 0:
            folder.chmod(folder.stat().st_mode | 0o001)
    data.mkdir()
    data.chmod(0o777)

    def run(work: Callable[[], Coroutine[None, None, T]]) -> T:
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.setgroups([])
                os.setgid(nobody)
                os.setuid(nobody)
                os.write(writing, pickle.dumps((asyncio.run(work()), None)))
            except BaseException:
                os.write(writing, pickle.dumps((None, traceback.format_exc())))
            finally:
                os._exit(0)
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            result, failure = pickle.load(pipe)
        os.waitpid(child, 0)
        assert failure is None, failure
        return cast(T, result)

    return run
