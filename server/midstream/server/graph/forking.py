"""Forking: a thread of its own, from a point of another one."""

import attrs

from midstream.protocol.errors import MidstreamError
from midstream.protocol.methods.thread import ForkPoint, FromCheckpoint, FromLatestStable, FromRun, FromSubagent
from midstream.protocol.records.checkpoint import Checkpoint
from midstream.protocol.records.handoff import ContextTransfer
from midstream.protocol.records.item import SubagentItem
from midstream.protocol.records.run import Run
from midstream.protocol.records.thread import Lineage, SourcePoint
from midstream.server.graph.changes import Changes, Stamp, refuse
from midstream.server.graph.commands import ForkThread
from midstream.server.graph.events import ThreadPut, TransferPut
from midstream.server.graph.inheritance import (
    inherit,
    known_checkpoints,
    known_provider_threads,
    known_runs,
    standing_runs,
)
from midstream.server.graph.state import COVERABLE, ThreadState
from midstream.server.graph.threads import new_thread


def fork(source: ThreadState, command: ForkThread, stamp: Stamp) -> Changes:
    """Make the fork and its pending transfer; nothing of the source is read but its records."""
    parent = source.thread
    thread = new_thread(
        thread_id=command.thread_id,
        title=parent.title if command.title is None else command.title,
        workspace=parent.workspace,
        selection=parent.selection,
        runtime_mode=parent.runtime_mode,
        lineage=Lineage(
            parent_thread_id=parent.id,
            relationship_to_parent="fork",
            root_thread_id=parent.lineage.root_thread_id,
        ),
        forked_from=command.point,
        now=stamp.now,
    )
    inherited = inherit(source, command.point, command.last_item_ordinal)
    state = ThreadState(
        thread=thread,
        inherited=inherited,
        last_run_ordinal=inherited.last_run_ordinal,
        last_item_ordinal=inherited.last_item_ordinal,
    )
    changes = Changes(state, stamp)
    changes.put(ThreadPut(thread))
    run = inherited.runs.get(command.point.run_id or "")
    changes.put(
        TransferPut(
            ContextTransfer(
                id=stamp.new_id("trf"),
                type="fork",
                source_thread_id=parent.id,
                target_thread_id=thread.id,
                source_point=command.point,
                base_point=None,
                source_provider=run.provider if run else None,
                target_provider=None,
                target_run_id=None,
                status="pending",
                resolution=None,
                created_by="user",
                error=None,
                created_at=stamp.now,
                consumed_at=None,
            )
        )
    )
    changes.settle_thread()
    return changes


def point_of(source: ThreadState, wanted: ForkPoint, subagent: SubagentItem | None) -> SourcePoint:
    """Return the point that a fork is asked for at, without its last item; `subagent` is the one that is named.

    Raises:
        MidstreamError: runNotFound, checkpointNotFound, itemNotFound; invalidState, where nothing stands there that
            can be forked.
    """
    match wanted:
        case FromLatestStable():
            return _after(source, next(reversed(standing_runs(source)), None))
        case FromRun(run_id=run_id):
            return _after(source, _stable(source, run_id))
        case FromCheckpoint(checkpoint_id=checkpoint_id):
            checkpoint = _checkpoint(source, checkpoint_id)
            return attrs.evolve(_after(source, _run_at(source, checkpoint)), checkpoint_id=checkpoint.id)
        case FromSubagent(item_id=item_id):
            if subagent is None or subagent.run_id is None or subagent.run_id not in known_runs(source):
                raise MidstreamError("itemNotFound", f"There is no subagent {item_id} in this thread.", itemId=item_id)
            # The conversation of the agent that began it holds its result alone, so its work is told.
            run = _stable(source, subagent.run_id)
            return SourcePoint(thread_id=source.thread.id, run_id=run.id, sequence=source.sequence)


def _after(source: ThreadState, run: Run | None) -> SourcePoint:
    point = SourcePoint(thread_id=source.thread.id, run_id=run.id if run else None, sequence=source.sequence)
    known = known_provider_threads(source).get((run.provider_thread_id if run else None) or "")
    if run is None or known is None or known.native_ref is None:
        return point
    lived = (one for one in reversed(run.attempts) if one.provider_thread_id == known.id)
    turn = next((one.provider_turn_id for one in lived if one.provider_turn_id is not None), None)
    return attrs.evolve(point, provider_thread_id=known.id, native_thread_ref=known.native_ref, native_turn_ref=turn)


def _stable(source: ThreadState, run_id: str) -> Run:
    run = known_runs(source).get(run_id)
    if run is None:
        raise MidstreamError("runNotFound", f"There is no run {run_id} in this thread.", runId=run_id)
    if run.status not in COVERABLE:
        refuse(f"Run {run.id} is {run.status}; only a run that ended and stands can be forked from.", run)
    return run


def _checkpoint(source: ThreadState, checkpoint_id: str) -> Checkpoint:
    checkpoint = known_checkpoints(source).get(checkpoint_id)
    if checkpoint is None:
        raise MidstreamError(
            "checkpointNotFound", f"There is no checkpoint {checkpoint_id} in this thread.", checkpointId=checkpoint_id
        )
    return checkpoint


def _run_at(source: ThreadState, checkpoint: Checkpoint) -> Run | None:
    """Return the last run whose work a checkpoint holds."""
    if checkpoint.run_id is not None and checkpoint.kind == "run":
        return _stable(source, checkpoint.run_id)
    for run in reversed(standing_runs(source)):
        if run.completed_at is not None and run.completed_at <= checkpoint.captured_at:
            return run
    return None
