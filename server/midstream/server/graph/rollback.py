"""Rolling back: later runs are taken back, and with them whatever rests on them."""

from collections.abc import Iterable

import attrs
from attrs import frozen

from midstream.protocol.base import HandoffId, RunId
from midstream.protocol.errors import MidstreamError
from midstream.protocol.records.handoff import ContextTransfer, HandoffInfo
from midstream.protocol.records.provider import ProviderThread
from midstream.protocol.records.run import Run
from midstream.protocol.records.thread import Thread
from midstream.server.graph.changes import Changes, refuse
from midstream.server.graph.commands import CancelRun, RollBack, SettleRevert
from midstream.server.graph.effects import RecallMergeBacks, RevertConversation
from midstream.server.graph.events import HandoffPut, ProviderThreadPut, RunPut, TransferPut
from midstream.server.graph.prepared import tells_of_fork
from midstream.server.graph.queue import cancel
from midstream.server.graph.state import COVERABLE, ThreadState


@frozen(kw_only=True)
class RolledBack:
    """What a rollback changed, each record as it now stands."""

    thread: Thread
    run_ids: tuple[RunId, ...]
    cancelled_run_ids: tuple[RunId, ...]
    handoff_ids: tuple[HandoffId, ...]
    provider_threads: tuple[ProviderThread, ...]


def roll_back(changes: Changes, command: RollBack) -> RolledBack:
    """Take back every run after an ordinal.

    Raises:
        MidstreamError: invalidState, where a run is active, or the ordinal is below the fork's point or above the last.
    """
    state = changes.state
    _refuse_unfit(state, command.to_run_ordinal)
    cancelled = tuple(run.id for run in state.queued_runs)
    for run_id in cancelled:
        cancel(changes, CancelRun(run_id=run_id))
    taken_back = later_runs(state, command.to_run_ordinal)
    ordinals = frozenset(run.ordinal for run in taken_back if run.ordinal is not None)
    touched = [known for known in state.provider_threads.values() if _covers(state, known, ordinals)]
    run_ids = tuple(run.id for run in taken_back)
    handoff_ids = tuple(
        sorted(
            handoff.id
            for handoff in state.handoffs.values()
            if _rests_on(handoff, ordinals) or _retold(state, handoff, run_ids)
        )
    )
    for run in taken_back:
        rolled = attrs.evolve(
            run, status="rolled_back", rolled_back_sequence=changes.state.sequence + 1, unsent_item_ids=None
        )
        changes.put(RunPut(rolled))
    for handoff_id in handoff_ids:
        _supersede(changes, state.handoffs[handoff_id])
    for transfer in sorted(state.transfers.values(), key=lambda transfer: transfer.id):
        if transfer.target_run_id in run_ids:
            _give_back(changes, transfer, stands=transfer.source_thread_id in command.standing)
    for known in touched:
        _diverge(changes, known, taken_back)
    parent = state.thread.lineage.parent_thread_id
    if parent is not None and taken_back:
        changes.effects.append(RecallMergeBacks(parent_thread_id=parent, after_ordinal=command.to_run_ordinal))
    return RolledBack(
        thread=state.thread,
        run_ids=run_ids,
        cancelled_run_ids=cancelled,
        handoff_ids=handoff_ids,
        provider_threads=tuple(changes.state.provider_threads[known.id] for known in touched),
    )


def later_runs(state: ThreadState, ordinal: int) -> tuple[Run, ...]:
    """Return the thread's standing runs after an ordinal, oldest first."""
    later = (run for run in state.runs.values() if run.status in COVERABLE and (run.ordinal or 0) > ordinal)
    return tuple(sorted(later, key=lambda run: run.ordinal or 0))


def _refuse_unfit(state: ThreadState, ordinal: int) -> None:
    run = state.active_run
    if run is not None:
        refuse(f"Run {run.id} is {run.status}; interrupt it or wait for its end, then roll back.", run)
    first, last = state.inherited.last_run_ordinal, state.last_run_ordinal
    if not first <= ordinal <= last:
        raise MidstreamError(
            "invalidState",
            f"This thread can be rolled back to runs {first} to {last}, not to {ordinal}.",
            threadId=state.thread.id,
            first=first,
            last=last,
        )


def _rests_on(handoff: HandoffInfo, ordinals: Iterable[int]) -> bool:
    stands = handoff.status != "superseded" and not tells_of_fork(handoff)
    return stands and not set(handoff.run_ordinals).isdisjoint(ordinals)


def _retold(state: ThreadState, handoff: HandoffInfo, run_ids: tuple[RunId, ...]) -> bool:
    """Return whether some runs told one more conversation of a merge-back that earlier ones took."""
    transfer = state.transfers.get(handoff.transfer_id or "")
    again = tells_of_fork(handoff) and transfer is not None and transfer.type == "provider_handoff"
    return again and handoff.status != "superseded" and handoff.target_run_id in run_ids


def _covers(state: ThreadState, known: ProviderThread, ordinals: frozenset[int]) -> bool:
    if known.subagent_item_id is not None:
        return known.last_run_ordinal in ordinals
    told = (state.handoffs.get(handoff_id) for handoff_id in known.handoff_ids)
    return not ordinals.isdisjoint(known.native_run_ordinals) or any(
        handoff is not None and _rests_on(attrs.evolve(handoff, status="ready"), ordinals) for handoff in told
    )


def _supersede(changes: Changes, handoff: HandoffInfo) -> None:
    changes.put(HandoffPut(attrs.evolve(handoff, status="superseded", updated_at=changes.now)))
    transfer = changes.state.transfers.get(handoff.transfer_id or "")
    if transfer is not None and transfer.type == "provider_handoff" and transfer.status != "superseded":
        changes.put(TransferPut(attrs.evolve(transfer, status="superseded")))


def _give_back(changes: Changes, transfer: ContextTransfer, *, stands: bool) -> None:
    """Let what a rolled-back run consumed wait for the next run: a fork's own context, and merge-backs."""
    waiting = attrs.evolve(transfer, status="pending", target_run_id=None, target_provider=None, consumed_at=None)
    match transfer.type:
        case "fork":
            changes.put(TransferPut(attrs.evolve(waiting, resolution=None)))
        case "merge_back" if stands:
            changes.put(TransferPut(waiting))
            for handoff in changes.state.handoffs.values():
                if handoff.transfer_id == transfer.id:
                    fresh = attrs.evolve(handoff, status="ready", target_run_id=None, delivery=None)
                    changes.put(HandoffPut(attrs.evolve(fresh, to_provider_thread_id=None, updated_at=changes.now)))
        case "merge_back":
            changes.put(TransferPut(attrs.evolve(transfer, status="superseded")))
        case _:
            pass


def _diverge(changes: Changes, known: ProviderThread, taken_back: tuple[Run, ...]) -> None:
    """Trust a conversation no more that holds what was taken back, until its provider proves that it does not."""
    diverged = attrs.evolve(known, status="divergent")
    changes.put(ProviderThreadPut(diverged))
    session = changes.state.sessions.get(known.session_id or "")
    turn = first_turn(known, taken_back)
    resumable = known.status in ("idle", "not_loaded") and not known.stale_reasons
    if session is not None and session.capabilities.rollback and turn is not None and resumable:
        changes.effects.append(
            RevertConversation(
                provider_thread_id=known.id,
                turn_ref=turn,
                run_ids=tuple(run.id for run in taken_back),
            )
        )


def first_turn(known: ProviderThread, runs: tuple[Run, ...]) -> str | None:
    """Return the provider's own id of the first turn that it had in some runs; None where it is not known."""
    lived = (run for run in runs if run.ordinal in known.native_run_ordinals)
    first = next(lived, None)
    turns = (one.provider_turn_id for one in first.attempts if one.provider_thread_id == known.id) if first else ()
    return next(iter(turns), None)


def settle_revert(changes: Changes, command: SettleRevert) -> None:
    """Take a conversation up again whose provider dropped what was rolled back: its coverage goes with it."""
    known = changes.state.provider_threads.get(command.provider_thread_id)
    if known is None or known.status != "divergent":
        return
    runs = [changes.state.runs[run_id] for run_id in command.run_ids]
    gone = {run.ordinal for run in runs}
    sent = {handoff_id for run in runs for handoff_id in run.handoff_ids}
    kept = tuple(ordinal for ordinal in known.native_run_ordinals if ordinal not in gone)
    changes.put(
        ProviderThreadPut(
            attrs.evolve(
                known,
                status="idle" if command.loaded else "not_loaded",
                native_run_ordinals=kept,
                first_run_ordinal=min(kept, default=None),
                last_run_ordinal=max(kept, default=None),
                handoff_ids=tuple(handoff_id for handoff_id in known.handoff_ids if handoff_id not in sent),
                missing_item_ids=command.missing_item_ids,
            )
        )
    )
