"""Checkpoint records of runs: what the files were when a run began, and what it left."""

import base64
import logging
from pathlib import Path
from typing import Final

from attrs import frozen

from midstream.protocol.base import Time
from midstream.protocol.records.checkpoint import Checkpoint, CheckpointKind, FileSummary, SkippedFile
from midstream.protocol.records.run import Run
from midstream.server.checkpoints import Captured, CheckpointError, CheckpointStore, Diff, FileChange
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
    """Takes the checkpoints of runs. Where one cannot be taken the record says why, and the run goes on."""

    def __init__(self, store: CheckpointStore) -> None:
        self._store = store

    async def baseline(self, state: ThreadState, run: Run, workspace: Path, stamp: Stamp) -> Checkpoint:
        """Return the latest checkpoint where nothing changed since, otherwise a new one."""
        latest = state.checkpoints[state.latest_checkpoint_id] if state.latest_checkpoint_id else None
        checkpoint_id = stamp.new_id("ckp")
        try:
            captured = await self._store.capture(workspace, state.thread.id, checkpoint_id)
            if latest is not None and captured.tree == await self._store.tree_of(workspace, latest.ref):
                return latest
            diff = await self._store.diff(workspace, latest.ref, captured.ref) if latest else NO_DIFF
        except CheckpointError as error:
            return self._failed(checkpoint_id, state, run, "baseline", latest, error, stamp.now)
        return _record(checkpoint_id, state, run, "baseline", latest, captured, diff, stamp.now)

    async def after(self, state: ThreadState, run: Run, workspace: Path, stamp: Stamp, *, mixed: bool) -> RunCheckpoint:
        """Capture what a run left, with its changes since the run's baseline."""
        baseline = state.checkpoints.get(run.baseline_checkpoint_id or "")
        checkpoint_id = stamp.new_id("ckp")
        try:
            captured = await self._store.capture(workspace, state.thread.id, checkpoint_id)
            diff = NO_DIFF
            if baseline is not None:
                diff = await self._store.diff(workspace, baseline.ref, captured.ref, patch=True)
        except CheckpointError as error:
            record = self._failed(checkpoint_id, state, run, "run", baseline, error, stamp.now)
            return RunCheckpoint(record=record, patch=None, truncated=False)
        record = _record(checkpoint_id, state, run, "run", baseline, captured, diff, stamp.now, mixed=mixed)
        return RunCheckpoint(record=record, patch=diff.patch, truncated=diff.truncated)

    def _failed(
        self,
        checkpoint_id: str,
        state: ThreadState,
        run: Run,
        kind: CheckpointKind,
        parent: Checkpoint | None,
        error: CheckpointError,
        now: Time,
    ) -> Checkpoint:
        LOG.warning("no checkpoint for run %s: %s", run.id, Quoted(error))
        return Checkpoint(
            id=checkpoint_id,
            thread_id=state.thread.id,
            scope_id=state.thread.workspace,
            run_id=run.id,
            run_ordinal=run.ordinal,
            parent_checkpoint_id=parent.id if parent else None,
            label=None,
            kind=kind,
            ref="",
            status="error",
            mixed=False,
            files=(),
            skipped=(),
            problem=str(error),
            captured_at=now,
        )


def _record(
    checkpoint_id: str,
    state: ThreadState,
    run: Run,
    kind: CheckpointKind,
    parent: Checkpoint | None,
    captured: Captured,
    diff: Diff,
    now: Time,
    *,
    mixed: bool = False,
) -> Checkpoint:
    return Checkpoint(
        id=checkpoint_id,
        thread_id=state.thread.id,
        scope_id=state.thread.workspace,
        run_id=run.id,
        run_ordinal=run.ordinal,
        parent_checkpoint_id=parent.id if parent else None,
        label=None,
        kind=kind,
        ref=captured.ref,
        status="ready",
        mixed=mixed,
        files=tuple(summary_of(change) for change in diff.files),
        skipped=tuple(SkippedFile(path=_shown(skip.path), reason=skip.reason) for skip in captured.skipped),
        problem=None,
        captured_at=now,
    )


def summary_of(change: FileChange) -> FileSummary:
    """Return a changed file as the wire names it."""
    return FileSummary(
        path=_shown(change.path),
        path_base64=None if _is_text(change.path) else base64.b64encode(change.path).decode(),
        old_path=None if change.old_path is None else _shown(change.old_path),
        status=change.status,
        additions=change.additions,
        deletions=change.deletions,
        binary=change.binary,
    )


def _shown(path: bytes) -> str:
    return path.decode(errors="replace")


def _is_text(path: bytes) -> bool:
    try:
        path.decode()
    except UnicodeDecodeError:
        return False
    return True
