"""Workspace leases: runs share a workspace, a restore has it alone.

A lease counts for the folders in a workspace and around it too, and among daemons: each workspace has a file
that is locked as long as it is in use.
"""

import asyncio
import fcntl
import hashlib
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Final

import attrs

from midstream.protocol.base import ThreadId
from midstream.protocol.errors import MidstreamError

POLL_SECONDS: Final = 0.05


@attrs.define(eq=False)
class Lease:
    """A run's share of a workspace; `mixed` once another thread's run overlapped it."""

    workspace: Path
    thread_id: ThreadId
    under: "Lease | None" = None
    mixed: bool = False

    @property
    def root(self) -> "Lease":
        """The lease under which all delegated work goes on."""
        return self if self.under is None else self.under.root


class WorkspaceLeases:
    """Who may change which workspace's files now. Lock files lie in `folder`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._shares: list[Lease] = []
        self._alone: list[Path] = []
        self._changed = asyncio.Condition()

    @asynccontextmanager
    async def share(self, workspace: Path, thread_id: ThreadId, *, under: Lease | None = None) -> AsyncIterator[Lease]:
        """Hold a share for a run, once no restore is under way; a delegated child's is `under` its parent's."""
        lease = Lease(workspace, thread_id, under)
        if under is None:
            async with self._changed:
                await self._changed.wait_for(lambda: not any(_overlap(workspace, other) for other in self._alone))
        for other in self._shares:
            if other.root is not lease.root and other.thread_id != thread_id and _overlap(workspace, other.workspace):
                other.mixed = lease.mixed = True
        self._shares.append(lease)
        try:
            with self._file(workspace) as lock:
                await _wait_for(lock)
                yield lease
        finally:
            self._shares.remove(lease)

    @asynccontextmanager
    async def alone(self, workspace: Path) -> AsyncIterator[None]:
        """Have a workspace alone for a restore.

        Raises:
            MidstreamError: invalidState, where a run or another restore is using it.
        """
        runs = {lease.thread_id for lease in self._shares if _overlap(workspace, lease.workspace)}
        if runs or any(_overlap(workspace, other) for other in self._alone):
            raise _in_use(workspace, sorted(runs))
        self._alone.append(workspace)
        try:
            with self._file(workspace) as lock:
                if not _try(lock, fcntl.LOCK_EX):
                    raise _in_use(workspace, [])
                yield
        finally:
            self._alone.remove(workspace)
            async with self._changed:
                self._changed.notify_all()

    @contextmanager
    def _file(self, workspace: Path) -> Iterator[int]:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = self._folder / hashlib.sha256(bytes(workspace)).hexdigest()[:32]
        lock = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            yield lock
        finally:
            os.close(lock)


def _overlap(one: Path, other: Path) -> bool:
    return one.is_relative_to(other) or other.is_relative_to(one)


async def _wait_for(lock: int) -> None:
    """Take a share of a file's lock; polled, since a thread that waits for one cannot be cancelled."""
    while True:
        if _try(lock, fcntl.LOCK_SH):
            return
        await asyncio.sleep(POLL_SECONDS)


def _try(lock: int, how: int) -> bool:
    try:
        fcntl.flock(lock, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _in_use(workspace: Path, thread_ids: list[ThreadId]) -> MidstreamError:
    return MidstreamError(
        "invalidState",
        f"The workspace {workspace} is in use by a run or another restore; wait for its end, or interrupt it.",
        status="running",
        threadIds=thread_ids,
    )
