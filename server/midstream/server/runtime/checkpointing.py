"""Checkpoint records: what the files were when a run began, what it left, and what the user wants kept."""

import base64
import logging
from pathlib import Path
from typing import Final

from attrs import evolve, frozen

from midstream.protocol.records.checkpoint import Checkpoint, CheckpointKind, FileSummary, SkippedFile
from midstream.protocol.records.run import Run
from midstream.server.checkpoints import (
    Captured,
    CheckpointError,
    CheckpointMissing,
    CheckpointStore,
    Diff,
    FileChange,
)
from midstream.server.graph.changes import Stamp
from midstream.server.graph.state import ThreadState
from midstream.server.quoting import Quoted

LOG: Final = logging.getLogger(__name__)
NO_DIFF: Final = Diff(files=(), patch=None, truncated=False)


@frozen(kw_only=True)
class RunCheckpoint:
    """A run's checkpoint, with the patch from its baseline."""

    record: Checkpoint
    patch: str | None
    truncated: bool


class Checkpointer:
    """Takes checkpoints. Where one of a run cannot be taken the record says why, and the run goes on."""

    def __init__(self, store: CheckpointStore) -> None:
        self._store = store

    async def baseline(self, state: ThreadState, run: Run, workspace: Path, stamp: Stamp) -> Checkpoint:
        """Return the latest checkpoint where nothing changed since, otherwise a new one."""
        latest = latest_of(state)
        record = new_record(state, stamp, "baseline", run=run, parent=latest)
        try:
            captured = await self._store.capture(
                workspace, state.thread.id, record.id, kind="baseline", unless=latest.ref if latest else None
            )
            if latest is not None and captured.ref == latest.ref:
                return latest
            return taken(record, captured, await self.changes(workspace, latest, captured))
        except CheckpointError as error:
            return _failed(record, error)

    async def after(self, state: ThreadState, run: Run, workspace: Path, stamp: Stamp, *, mixed: bool) -> RunCheckpoint:
        """Capture what a run left, with its changes since the run's baseline."""
        baseline = state.checkpoints.get(run.baseline_checkpoint_id or "")
        record = evolve(new_record(state, stamp, "run", run=run, parent=baseline), mixed=mixed)
        try:
            captured = await self._store.capture(
                workspace, state.thread.id, record.id, kind="run", since=baseline.ref if baseline else None
            )
            diff = await self.changes(workspace, baseline, captured, patch=True)
        except CheckpointError as error:
            return RunCheckpoint(record=_failed(record, error), patch=None, truncated=False)
        return RunCheckpoint(record=taken(record, captured, diff), patch=diff.patch, truncated=diff.truncated)

    async def manual(self, state: ThreadState, workspace: Path, stamp: Stamp, label: str | None) -> Checkpoint:
        """Capture the files as they are now, for the user.

        Raises:
            CheckpointError: they could not be captured.
        """
        latest = latest_of(state)
        record = evolve(new_record(state, stamp, "manual", parent=latest), label=label)
        captured = await self._store.capture(workspace, state.thread.id, record.id, kind="manual")
        return taken(record, captured, await self.changes(workspace, latest, captured))

    async def subagent(self, state: ThreadState, run: Run, folder: Path, stamp: Stamp) -> Checkpoint:
        """Capture what a subagent left in a folder of its own.

        Raises:
            CheckpointError: it could not be captured.
        """
        record = evolve(new_record(state, stamp, "subagent", run=run, parent=None), scope_id=folder.as_uri())
        captured = await self._store.capture(folder, state.thread.id, record.id, kind="subagent")
        return taken(record, captured, NO_DIFF)

    async def changes(
        self, workspace: Path, parent: Checkpoint | None, captured: Captured, *, patch: bool = False
    ) -> Diff:
        """Return what changed since a checkpoint; nothing is known of that where it is no longer kept."""
        if parent is None:
            return NO_DIFF
        try:
            return await self._store.diff(workspace, parent.ref, captured.ref, patch=patch)
        except CheckpointMissing:
            return NO_DIFF


def latest_of(state: ThreadState) -> Checkpoint | None:
    """Return the thread's latest checkpoint of its workspace."""
    return None if state.latest_checkpoint_id is None else state.checkpoints[state.latest_checkpoint_id]


def new_record(
    state: ThreadState, stamp: Stamp, kind: CheckpointKind, *, run: Run | None = None, parent: Checkpoint | None
) -> Checkpoint:
    """Return the record of a checkpoint that is about to be taken."""
    return Checkpoint(
        id=stamp.new_id("ckp"),
        thread_id=state.thread.id,
        scope_id=state.thread.workspace,
        run_id=run.id if run else None,
        run_ordinal=run.ordinal if run else None,
        parent_checkpoint_id=parent.id if parent else None,
        label=None,
        kind=kind,
        ref="",
        status="error",
        mixed=False,
        files=(),
        skipped=(),
        problem=None,
        captured_at=stamp.now,
    )


def taken(record: Checkpoint, captured: Captured, diff: Diff) -> Checkpoint:
    """Return the record of a checkpoint that was taken, with the changes since its parent."""
    return evolve(
        record,
        ref=captured.ref,
        status="ready",
        files=tuple(summary_of(change) for change in diff.files),
        skipped=tuple(SkippedFile(path=shown(skip.path), reason=skip.reason) for skip in captured.skipped),
    )


def _failed(record: Checkpoint, error: CheckpointError) -> Checkpoint:
    LOG.warning("no checkpoint for run %s: %s", record.run_id, Quoted(error))
    return evolve(record, problem=str(error))


def summary_of(change: FileChange) -> FileSummary:
    """Return a changed file as the wire names it."""
    return FileSummary(
        path=shown(change.path),
        path_base64=None if _is_text(change.path) else base64.b64encode(change.path).decode(),
        old_path=None if change.old_path is None else shown(change.old_path),
        status=change.status,
        additions=change.additions,
        deletions=change.deletions,
        binary=change.binary,
    )


def shown(path: bytes) -> str:
    """Return a path as text, for display where it is none."""
    return path.decode(errors="replace")


def _is_text(path: bytes) -> bool:
    try:
        path.decode()
    except UnicodeDecodeError:
        return False
    return True
