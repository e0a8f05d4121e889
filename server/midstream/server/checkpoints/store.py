"""The checkpoints of every workspace: the one door through which the runtime comes in."""

import asyncio
import re
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from attrs import define, field

from midstream.server.checkpoints.capture import capture, workspace_tree
from midstream.server.checkpoints.content import checked_path, read_file, resolve_trees
from midstream.server.checkpoints.diff import diff
from midstream.server.checkpoints.errors import CaptureTimedOut, CheckpointError, WorkspaceRefused
from midstream.server.checkpoints.model import Captured, Diff, FileContent
from midstream.server.checkpoints.places import Place, locate
from midstream.server.checkpoints.policy import CheckpointPolicy, refusal
from midstream.server.checkpoints.shadow import Shadow, Shadows

_REF_PART = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]*")


@define
class CheckpointStore:
    """Checkpoints below the folder `root`. `clock` gives Unix seconds.

    A workspace is an existing folder where files are looked at, and only a name where checkpoints are
    read. Calls for one work tree follow each other, among processes too; every call can be cancelled.
    """

    root: Path
    policy: CheckpointPolicy = CheckpointPolicy()
    clock: Callable[[], float] = time.time
    _shadows: Shadows = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._shadows = Shadows(self.root.resolve())

    async def capture(self, workspace: Path, thread_id: str, name: str) -> Captured:
        """Take a checkpoint, and keep it as `name` of the thread; the name used again moves on.

        Raises CheckpointError, WorkspaceRefused and CaptureTimedOut among them; ValueError for an id
        or a name that holds more than ``[0-9A-Za-z_-]``.
        """
        for part in (thread_id, name):
            if not _REF_PART.fullmatch(part):
                raise ValueError(f"not usable in the name of a checkpoint: {part!r}")
        async with self._looking_at(workspace) as shadow:
            return await capture(shadow, self.policy, f"refs/ck/{thread_id}/{name}", int(self.clock()))

    async def diff(
        self,
        workspace: Path,
        base: str,
        target: str | None,
        *,
        path: bytes | None = None,
        context: int = 3,
        patch: bool = False,
    ) -> Diff:
        """Compare two checkpoints, or one with the workspace as it is now (`target` None).

        `path` limits the answer to a file or folder. Raises CheckpointMissing, GitFailed, BadPath; against
        the workspace also what `capture` raises.
        """
        limit = None if path is None else checked_path(path)
        git = self._shadows.reader(self._locate(workspace))
        await resolve_trees(git, base)
        if target is None:
            async with self._looking_at(workspace) as shadow:
                target = await workspace_tree(shadow, self.policy)
        return await diff(git, base, target, self.policy, path=limit, context=context, patch=patch)

    async def file(self, workspace: Path, ref: str, path: bytes) -> FileContent:
        """Return a file of a checkpoint.

        Raises CheckpointMissing, PathNotInCheckpoint, GitFailed, BadPath.
        """
        checked = checked_path(path)
        return await read_file(self._shadows.reader(self._locate(workspace)), ref, checked)

    async def tree_of(self, workspace: Path, ref: str) -> str:
        """Return the tree of a checkpoint. Raises CheckpointMissing, GitFailed."""
        (tree,) = await resolve_trees(self._shadows.reader(self._locate(workspace)), ref)
        return tree

    async def forget(self, thread_id: str) -> None:
        """Remove all checkpoints of a thread, and what only they held. Raises GitFailed, OSError."""
        await self._shadows.forget(thread_id)

    async def aclose(self) -> None:
        """Wait for what is under way."""
        await self._shadows.aclose()

    @asynccontextmanager
    async def _looking_at(self, workspace: Path) -> AsyncIterator[Shadow]:
        """Hold the store of `workspace` to look at its files, within the time that the policy allows."""
        folder = self._admitted(workspace)
        try:
            async with (
                asyncio.timeout(self.policy.capture_seconds),
                self._shadows.hold(self._locate(folder)) as shadow,
            ):
                yield shadow
        except TimeoutError as error:
            seconds = self.policy.capture_seconds
            raise CaptureTimedOut(f"looking at {folder} took longer than {seconds:g} seconds") from error
        except OSError as error:
            raise CheckpointError(f"no checkpoint of {folder}: {error}") from error

    def _admitted(self, workspace: Path) -> Path:
        """Return the canonical `workspace`. Raises WorkspaceRefused."""
        folder = workspace.resolve()
        if not self.policy.enabled:
            raise WorkspaceRefused("checkpoints are turned off")
        if not folder.is_dir():
            raise WorkspaceRefused(f"the workspace {folder} is not a folder")
        reason = refusal(folder, home=Path.home().resolve(), data=self._shadows.folder, temporary=_temporary_folders())
        if reason is not None:
            raise WorkspaceRefused(reason)
        return folder

    def _locate(self, workspace: Path) -> Place:
        return locate(workspace.resolve(), never_roots={Path.home().resolve(), *_temporary_folders()})


def _temporary_folders() -> set[Path]:
    return {Path(folder).resolve() for folder in (tempfile.gettempdir(), "/tmp", "/var/tmp", "/dev/shm")}  # noqa: S108
