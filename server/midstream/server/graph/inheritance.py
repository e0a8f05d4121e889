"""What a fork inherits: worked out from its parent and the point, never stored."""

from collections.abc import Iterator, Mapping
from typing import Final, TypeVar

import attrs
from immutables import Map

from midstream.protocol.base import CheckpointId, HandoffId, ProviderThreadId, RunId
from midstream.protocol.records.checkpoint import Checkpoint
from midstream.protocol.records.handoff import HandoffInfo
from midstream.protocol.records.provider import ProviderThread
from midstream.protocol.records.run import Run, RunStatus
from midstream.protocol.records.thread import SourcePoint
from midstream.server.graph.inherited import Inherited
from midstream.server.graph.state import COVERABLE, ThreadState

T = TypeVar("T")
ENDED: Final[Mapping[str, RunStatus]] = {
    "completed": "completed",
    "interrupted": "interrupted",
    "failed": "failed",
}
"""How a run ended whose attempt ended so."""


def inherit(source: ThreadState, point: SourcePoint, last_item_ordinal: int) -> Inherited:
    """Return what a fork at a point of `source` has from it, whatever was rolled back since.

    `last_item_ordinal` is that of the point's last item, 0 where it has none.
    """
    at = known_runs(source).get(point.run_id or "")
    last = (at.ordinal or 0) if at is not None else 0
    kept = {run.id: run for run in _retained(source, point.sequence or 0) if (run.ordinal or 0) <= last}
    passed = (run for run in source.runs.values() if run.ordinal is not None and run.ordinal <= last)
    return Inherited(
        runs=Map(kept),
        left_out=source.inherited.left_out.union(run.id for run in passed if run.id not in kept),
        provider_threads=known_provider_threads(source),
        handoffs=known_handoffs(source),
        checkpoints=source.inherited.checkpoints.update(
            {one.id: one for one in source.checkpoints.values() if one.run_id in kept}
        ),
        scopes=tuple(
            (thread_id, min(upto, last_item_ordinal))
            for thread_id, upto in (*source.inherited.scopes, (source.thread.id, last_item_ordinal))
        ),
        last_run_ordinal=last,
        last_item_ordinal=last_item_ordinal,
    )


def _retained(source: ThreadState, sequence: int) -> Iterator[Run]:
    """Yield the runs that stood when the source was at a sequence, each as it had last ended by then."""
    yield from source.inherited.runs.values()
    for run in source.runs.values():
        taken_back = run.rolled_back_sequence
        if run.ordinal is None or (taken_back is not None and taken_back <= sequence):
            continue
        ended = next((ENDED[one.status] for one in reversed(run.attempts) if one.status in ENDED), None)
        if run.status in COVERABLE:
            yield run
        elif ended is not None:  # rolled back, or tried again, since
            yield attrs.evolve(run, status=ended)


def known_runs(state: ThreadState) -> Map[RunId, Run]:
    """Return a thread's own runs and the inherited ones."""
    return _with_own(state.inherited.runs, state.runs)


def standing_runs(state: ThreadState) -> list[Run]:
    """Return the thread's own runs and the inherited ones that ended and stand, oldest first."""
    standing = (run for run in known_runs(state).values() if run.status in COVERABLE)
    return sorted(standing, key=lambda run: run.ordinal or 0)


def known_provider_threads(state: ThreadState) -> Map[ProviderThreadId, ProviderThread]:
    """Return a thread's own provider threads and those of the threads that it inherits from."""
    return _with_own(state.inherited.provider_threads, state.provider_threads)


def known_handoffs(state: ThreadState) -> Map[HandoffId, HandoffInfo]:
    """Return a thread's own handoffs and those of the threads that it inherits from."""
    return _with_own(state.inherited.handoffs, state.handoffs)


def known_checkpoints(state: ThreadState) -> Map[CheckpointId, Checkpoint]:
    """Return a thread's own checkpoints and the inherited ones."""
    return _with_own(state.inherited.checkpoints, state.checkpoints)


def _with_own(inherited: Map[str, T], own: Map[str, T]) -> Map[str, T]:
    return inherited.update(own) if inherited else own  # nothing is copied where nothing is inherited


def coverage_at(known: ProviderThread, inherited: Inherited) -> ProviderThread:
    """Return a provider thread with the coverage that a native fork of it at the fork's point begins with."""
    last = inherited.last_run_ordinal
    ordinals = {run.ordinal for run in inherited.runs.values()}
    sent = {handoff_id for run in inherited.runs.values() for handoff_id in run.handoff_ids}
    return attrs.evolve(
        known,
        native_run_ordinals=tuple(ordinal for ordinal in known.native_run_ordinals if ordinal in ordinals),
        handoff_ids=tuple(handoff_id for handoff_id in known.handoff_ids if handoff_id in sent),
        first_run_ordinal=known.first_run_ordinal,
        last_run_ordinal=max((o for o in known.native_run_ordinals if o <= last), default=None),
    )
