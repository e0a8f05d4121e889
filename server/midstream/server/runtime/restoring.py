"""Restoring a workspace: who may, what is recorded, and what the client is told."""

from typing import Final

from midstream.protocol.errors import MidstreamError
from midstream.protocol.records.checkpoint import Checkpoint, RestoreResult
from midstream.protocol.records.checkpoint import Conflict as ConflictRecord
from midstream.server.checkpoints import (
    CheckpointError,
    CheckpointMissing,
    CheckpointStore,
    Conflict,
    Plan,
    RestoreStopped,
    Selection,
)
from midstream.server.graph.changes import Stamp
from midstream.server.graph.commands import KeepCheckpoint
from midstream.server.runtime.cancellation import finish
from midstream.server.runtime.checkpointing import Checkpointer, latest_of, new_record, shown, taken
from midstream.server.runtime.engine import Turn
from midstream.server.runtime.leases import WorkspaceLeases
from midstream.server.runtime.workspaces import workspace_path


class Restorer:
    """Brings files back to checkpoints."""

    def __init__(self, store: CheckpointStore, checkpointer: Checkpointer, leases: WorkspaceLeases) -> None:
        self._store: Final = store
        self._checkpointer: Final = checkpointer
        self._leases: Final = leases

    async def plan(self, checkpoint: Checkpoint, selection: Selection) -> RestoreResult:
        """Return what a restore would do, without doing it.

        Raises:
            MidstreamError: checkpointNotFound, workspaceInvalid.
        """
        workspace = workspace_path(checkpoint.scope_id)
        try:
            async with self._store.restoring(workspace, checkpoint.thread_id, checkpoint.ref, selection) as restore:
                return _result(restore.plan)
        except CheckpointError as error:
            raise failure(error, checkpoint) from error

    async def restore(
        self, turn: Turn, checkpoint: Checkpoint, selection: Selection, stamp: Stamp, *, force: bool
    ) -> RestoreResult:
        """Bring files back to a checkpoint of this thread; the safety checkpoint is committed before the first write.

        Raises:
            MidstreamError: invalidState, where the workspace is in use; restoreConflict, where nothing was written;
                checkpointNotFound, workspaceInvalid.
        """
        workspace = workspace_path(checkpoint.scope_id)
        if turn.state.active_run is not None:
            raise MidstreamError(
                "invalidState",
                f"Run {turn.state.active_run_id} is active; interrupt it or wait for its end, then restore.",
                status=turn.state.active_run.status,
            )
        try:
            async with (
                self._leases.alone(workspace),
                self._store.restoring(workspace, turn.thread_id, checkpoint.ref, selection) as restore,
            ):
                if restore.plan.conflicts and not force:
                    raise conflict(restore.plan.conflicts)
                if not restore.plan.steps:
                    return _result(restore.plan)
                latest = latest_of(turn.state)
                record = new_record(turn.state, stamp, "safety", parent=latest)
                captured = await restore.keep(record.id)
                diff = await self._checkpointer.changes(workspace, latest, captured)
                await turn.do(KeepCheckpoint(checkpoint=taken(record, captured, diff)))
                await finish(restore.apply())
                return _result(restore.plan, record.id)
        except RestoreStopped as error:
            raise conflict((Conflict(error.path, str(error)),)) from error
        except CheckpointError as error:
            raise failure(error, checkpoint) from error


def _result(plan: Plan, safety_checkpoint_id: str | None = None) -> RestoreResult:
    return RestoreResult(
        written=tuple(shown(path) for path in plan.written),
        deleted=tuple(shown(path) for path in plan.deleted),
        conflicts=_conflicts(plan.conflicts),
        safety_checkpoint_id=safety_checkpoint_id,
    )


def _conflicts(conflicts: tuple[Conflict, ...]) -> tuple[ConflictRecord, ...]:
    return tuple(ConflictRecord(path=shown(one.path), reason=one.reason) for one in conflicts)


def conflict(conflicts: tuple[Conflict, ...]) -> MidstreamError:
    """Return the error of a restore that was refused."""
    some = ", ".join(f"{shown(one.path)} ({one.reason})" for one in conflicts[:3])
    more = f" and {len(conflicts) - 3} more" if len(conflicts) > 3 else ""
    return MidstreamError(
        "restoreConflict",
        f"Nothing was restored; in the way: {some}{more}. Choose other files, or force it.",
        conflicts=[{"path": one.path, "reason": one.reason} for one in _conflicts(conflicts)],
    )


def failure(error: CheckpointError, checkpoint: Checkpoint) -> MidstreamError:
    """Return a failure of the store as a client is told of it."""
    if isinstance(error, CheckpointMissing):
        return unknown(checkpoint.id)
    return MidstreamError("workspaceInvalid", str(error), workspace=checkpoint.scope_id)


def unknown(checkpoint_id: str) -> MidstreamError:
    """Return the error of a checkpoint that is not there."""
    return MidstreamError(
        "checkpointNotFound",
        f"There is no checkpoint {checkpoint_id} whose files can be read.",
        checkpointId=checkpoint_id,
    )
