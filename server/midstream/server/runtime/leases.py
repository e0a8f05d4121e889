"""Workspace leases: runs share a workspace, a restore has it alone."""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import attrs

from midstream.protocol.base import ThreadId


@attrs.define(eq=False)
class Lease:
    """A run's share of a workspace; `mixed` once another thread's run overlapped it."""

    thread_id: ThreadId
    mixed: bool = False


class WorkspaceLeases:
    """Who may change which workspace's files now."""

    def __init__(self) -> None:
        self._leases: defaultdict[Path, list[Lease]] = defaultdict(list)

    @contextmanager
    def share(self, workspace: Path, thread_id: ThreadId) -> Iterator[Lease]:
        """Hold a share for a run."""
        lease = Lease(thread_id)
        leases = self._leases[workspace]
        for other in leases:
            if other.thread_id != thread_id:
                other.mixed = lease.mixed = True
        leases.append(lease)
        try:
            yield lease
        finally:
            leases.remove(lease)
            if not leases:
                self._leases.pop(workspace, None)
