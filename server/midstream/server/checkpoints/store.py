"""The checkpoints of every workspace: the one door through which the runtime comes in."""

import asyncio
import logging
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Final

from attrs import define, field

from midstream.server.checkpoints.capture import record, stage, workspace_tree
from midstream.server.checkpoints.content import checked_path, list_files, names_of, read_file, resolve_trees
from midstream.server.checkpoints.diff import diff
from midstream.server.checkpoints.errors import CaptureTimedOut, CheckpointError, WorkspaceRefused
from midstream.server.checkpoints.git import both
from midstream.server.checkpoints.history import Held, base_ref, checkpoint_ref, point
from midstream.server.checkpoints.journal import load
from midstream.server.checkpoints.model import Captured, Diff, FileContent, Selection
from midstream.server.checkpoints.notes import Kind, Note
from midstream.server.checkpoints.places import Place, locate
from midstream.server.checkpoints.policy import CheckpointPolicy, refusal
from midstream.server.checkpoints.restore import Restore, go_back, prepare
from midstream.server.checkpoints.retention import retain
from midstream.server.checkpoints.shadow import Shadow, Shadows
from midstream.server.checkpoints.trees import compare
from midstream.server.quoting import Quoted

LOG: Final = logging.getLogger(__name__)


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

    async def capture(
        self,
        workspace: Path,
        thread_id: str,
        name: str,
        *,
        kind: Kind = "manual",
        since: str | None = None,
        unless: str | None = None,
    ) -> Captured:
        """Take a checkpoint, and keep it as `name` of the thread; names sort by time, one used again moves on.

        What differs from the checkpoint `since` is noted as the thread's own work. Where the files are those
        of the checkpoint `unless`, that one is returned and no other taken.

        Raises CheckpointError, WorkspaceRefused and CaptureTimedOut among them; ValueError for an id
        or a name that holds more than ``[0-9A-Za-z_-]``.
        """
        ref = checkpoint_ref(thread_id, name)
        async with self._looking_at(workspace) as shadow:
            self._check_room()
            git, base = shadow.objects, base_ref(thread_id, shadow.place.prefix)
            asked = (f"{unless}^{{tree}}", f"{since}^{{tree}}", base)
            staged, (same, before, known) = await both(stage(shadow, self.policy), names_of(git, *asked))
            if unless is not None and staged.tree == same:
                if known != unless:
                    await point(git, unless, base)
                return Captured(unless, staged.tree, staged.skipped)
            touched = () if before is None else tuple(await compare(git, before, staged.tree))
            note = Note(kind=kind, ref=ref, prefix=shadow.place.prefix, touched=touched)
            captured = await record(shadow, staged, note, int(self.clock()))
            await point(git, captured.ref, ref, base)
            return captured

    @asynccontextmanager
    async def restoring(
        self, workspace: Path, thread_id: str, ref: str, selection: Selection
    ) -> AsyncIterator[Restore]:
        """Plan the restore of a checkpoint of the thread, and hold the store until it is done or given up.

        Raises CheckpointMissing, CheckpointError, WorkspaceRefused and CaptureTimedOut among them.
        """
        async with AsyncExitStack() as stack:
            async with self._in_time(workspace) as folder:
                shadow = await stack.enter_async_context(self._hold(self._locate(folder)))
                self._check_room()
                restore = await prepare(shadow, self.policy, thread_id, ref, selection, int(self.clock()))
            yield restore

    async def retain(self, workspace: Path) -> list[Held]:
        """Let go of checkpoints as the policy says, of all threads in the work tree, and return them.

        Raises CheckpointError.
        """
        async with self._in_time(workspace) as folder, self._hold(self._locate(folder)) as shadow:
            return await retain(shadow, self.policy, self.clock())

    async def recover(self) -> None:
        """Undo every restore that was cut off; one that cannot be undone now is tried again before a capture."""
        for file in self._shadows.folder.glob("*/restore.json"):
            try:
                if (journal := load(file)) is not None:
                    async with self._hold(self._locate(journal.folder)):
                        pass
            except (CheckpointError, OSError) as error:
                LOG.warning("a restore that was cut off stays as it is: %s", Quoted(error))

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
        compare_with = partial(diff, git, base, policy=self.policy, path=limit, context=context, patch=patch)
        if target is not None:
            return await compare_with(target)
        async with self._looking_at(workspace) as shadow:  # held, for no ref keeps this tree
            return await compare_with(await workspace_tree(shadow, self.policy))

    async def file(self, workspace: Path, ref: str, path: bytes) -> FileContent:
        """Return a file of a checkpoint.

        Raises CheckpointMissing, PathNotInCheckpoint, GitFailed, BadPath.
        """
        checked = checked_path(path)
        return await read_file(self._shadows.reader(self._locate(workspace)), ref, checked)

    async def files(self, workspace: Path, ref: str) -> list[bytes]:
        """Return the paths of a checkpoint's files. Raises CheckpointMissing, GitFailed."""
        return await list_files(self._shadows.reader(self._locate(workspace)), ref)

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
        async with self._in_time(workspace) as folder, self._hold(self._locate(folder)) as shadow:
            yield shadow

    @asynccontextmanager
    async def _in_time(self, workspace: Path) -> AsyncIterator[Path]:
        """Look at a workspace, within the time that the policy allows."""
        folder = self._admitted(workspace)
        try:
            async with asyncio.timeout(self.policy.capture_seconds):
                yield folder
        except TimeoutError as error:
            seconds = self.policy.capture_seconds
            raise CaptureTimedOut(f"looking at {folder} took longer than {seconds:g} seconds") from error
        except OSError as error:
            raise CheckpointError(f"no checkpoint of {folder}: {error}") from error

    @asynccontextmanager
    async def _hold(self, place: Place) -> AsyncIterator[Shadow]:
        """Hold a store, in which no restore is half done."""
        async with self._shadows.hold(place) as shadow:
            await go_back(shadow)
            yield shadow

    def _check_room(self) -> None:
        free = shutil.disk_usage(self._shadows.folder).free
        if free < self.policy.min_free_bytes:
            raise CheckpointError(
                f"no checkpoint: only {free >> 20} MiB are free on the disk of {self._shadows.folder}, "
                f"and {self.policy.min_free_bytes >> 20} MiB have to be"
            )

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
