"""Workspace leases: runs share a workspace, a restore has it alone.

A lease counts for the folders in a workspace and around it too. Among daemons, whose data folders may differ, it
counts for the workspace itself: its folder is locked as long as it is in use, which writes nothing there.
"""

import asyncio
import fcntl
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
    """Who may change which workspace's files now."""

    def __init__(self) -> None:
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
            with _locking(workspace) as lock:
                await _wait_for(lock)
                yield lease
        finally:
            self._shares.remove(lease)

    def held_by(self, thread_id: ThreadId | None) -> Lease | None:
        """Return the share that a thread's run holds now."""
        return next((lease for lease in self._shares if lease.thread_id == thread_id), None)

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
            with _locking(workspace) as lock:
                if not _try(lock, fcntl.LOCK_EX):
                    raise _in_use(workspace, [])
                yield
        finally:
            self._alone.remove(workspace)
            async with self._changed:
                self._changed.notify_all()


@contextmanager
def _locking(workspace: Path) -> Iterator[int | None]:
    """Open a workspace to lock it; None for one that is not there, which whoever works in it is told."""
    try:
        folder = os.open(workspace, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        folder = None
    try:
        yield folder
    finally:
        if folder is not None:
            os.close(folder)


def _overlap(one: Path, other: Path) -> bool:
    return one.is_relative_to(other) or other.is_relative_to(one)


async def _wait_for(lock: int | None) -> None:
    """Take a share of a folder's lock; polled, since a thread that waits for one cannot be cancelled."""
    while True:
        if _try(lock, fcntl.LOCK_SH):
            return
        await asyncio.sleep(POLL_SECONDS)


def _try(lock: int | None, how: int) -> bool:
    if lock is None:
        return True
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
