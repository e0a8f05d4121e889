"""Handoffs that wait for a run: replaced by better ones, or given up."""

import attrs

from midstream.protocol.base import HandoffId
from midstream.protocol.errors import MidstreamError
from midstream.protocol.records.handoff import HandoffInfo
from midstream.server.graph.changes import Changes
from midstream.server.graph.commands import DiscardHandoff, ReplaceHandoff
from midstream.server.graph.events import HandoffPut
from midstream.server.graph.state import ThreadState
from midstream.server.graph.threads import put_handoff


def replace(changes: Changes, command: ReplaceHandoff) -> tuple[HandoffInfo, ...]:
    """Supersede a handoff by another one, which queued runs that named the old one then name."""
    old = unsent_handoff(changes.state, command.handoff_id)
    new = put_handoff(changes, command.handoff)
    _supersede(changes, old, new.id)
    return (new,)


def discard(changes: Changes, command: DiscardHandoff) -> tuple[HandoffInfo, ...]:
    """Supersede a handoff by none; queued runs that named it will be told anew."""
    old = unsent_handoff(changes.state, command.handoff_id)
    _supersede(changes, old, None)
    return (changes.state.handoffs[old.id],)


def _supersede(changes: Changes, old: HandoffInfo, by: HandoffId | None) -> None:
    changes.put(HandoffPut(attrs.evolve(old, status="superseded", superseded_by=by, updated_at=changes.now)))
    for run in changes.state.queued_runs:
        if old.id in run.handoff_ids:
            named = (by if handoff_id == old.id else handoff_id for handoff_id in run.handoff_ids)
            changes.put_run(attrs.evolve(run, handoff_ids=tuple(filter(None, named))))


def unsent_handoff(state: ThreadState, handoff_id: HandoffId) -> HandoffInfo:
    """Return a handoff that a run can still be given.

    Raises:
        MidstreamError: handoffNotFound; invalidState, where it was superseded, was given to a run already, or is a
            merge-back.
    """
    handoff = state.handoffs.get(handoff_id)
    if handoff is None:
        raise MidstreamError(
            "handoffNotFound", f"There is no handoff {handoff_id} in this thread.", handoffId=handoff_id
        )
    if tells_of_fork(handoff):
        raise MidstreamError(
            "invalidState",
            f"Handoff {handoff_id} tells of a fork as it was when it was merged back; transfer/cancel takes it back.",
            handoffId=handoff_id,
            transferId=handoff.transfer_id,
        )
    if handoff.status != "ready" or handoff.target_run_id is not None:
        fate = "was given to a run already" if handoff.status == "ready" else f"is {handoff.status}"
        raise MidstreamError(
            "invalidState",
            f"Handoff {handoff_id} {fate}; preview a new one.",
            handoffId=handoff_id,
            status=handoff.status,
        )
    return handoff


def tells_of_fork(handoff: HandoffInfo | None) -> bool:
    """Return whether a handoff is a merge-back: it tells of another thread's runs, and no run has to name it."""
    return handoff is not None and handoff.covered_thread_id not in (None, handoff.thread_id)
