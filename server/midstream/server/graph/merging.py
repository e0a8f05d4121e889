"""Merging back: a fork's work waits on the thread that it came from, until its next run takes it."""

from typing import TypeAlias

import attrs

from midstream.protocol.base import ThreadId
from midstream.protocol.errors import MidstreamError
from midstream.protocol.records.handoff import ContextTransfer, HandoffInfo, HandoffResolution
from midstream.protocol.records.item import MergeBackItem
from midstream.protocol.records.run import Run, SwitchPlan
from midstream.protocol.records.thread import SourcePoint
from midstream.server.graph.changes import Changes, refuse
from midstream.server.graph.commands import CancelTransfer, TakeMergeBack, WithdrawMergeBacks
from midstream.server.graph.events import HandoffPut, TransferPut
from midstream.server.graph.inheritance import known_handoffs, known_runs
from midstream.server.graph.items import put_item
from midstream.server.graph.prepared import tells_of_fork
from midstream.server.graph.state import COVERABLE, ThreadState
from midstream.server.graph.threads import put_handoff

ForkRuns: TypeAlias = tuple[ThreadId | None, tuple[int, ...]]
"""A fork, and the ordinals of some of its runs."""


def new_runs(fork: ThreadState, parent: ThreadState, through_run_id: str | None) -> tuple[SourcePoint, tuple[Run, ...]]:
    """Return the point up to which the parent has the fork's work, and the fork's own standing runs after it.

    Raises:
        MidstreamError: invalidState, where there is nothing new, or the run named is none that ended and stands.
    """
    point = fork.thread.forked_from
    assert point is not None
    base = _last_merged(fork.thread.id, parent) or point
    since = fork.runs.get(base.run_id or "")
    first = max(fork.inherited.last_run_ordinal, (since.ordinal or 0) if since is not None else 0)
    last = fork.last_run_ordinal
    if through_run_id is not None:
        through = fork.runs.get(through_run_id)
        if through is None:
            message = f"There is no run {through_run_id} of the fork's own."
            raise MidstreamError("runNotFound", message, runId=through_run_id)
        if through.status not in COVERABLE:
            refuse(
                f"Run {through.id} is {through.status}; only a run that ended and stands can be merged back.", through
            )
        last = through.ordinal or 0
    runs = (run for run in fork.runs.values() if run.status in COVERABLE and first < (run.ordinal or 0) <= last)
    new = tuple(sorted(runs, key=lambda run: run.ordinal or 0))
    if not new:
        raise MidstreamError(
            "invalidState",
            "This fork has no finished run that its parent does not have yet.",
            threadId=fork.thread.id,
        )
    return base, new


def _last_merged(fork_id: ThreadId, parent: ThreadState) -> SourcePoint | None:
    merged = (
        transfer
        for transfer in parent.transfers.values()
        if transfer.type == "merge_back"
        and transfer.source_thread_id == fork_id
        and transfer.status in ("pending", "consumed")
    )
    last = max(merged, key=lambda transfer: transfer.id, default=None)
    return None if last is None else last.source_point


def take(changes: Changes, command: TakeMergeBack) -> ContextTransfer:
    """Put the pending transfer, what it will tell, and an item that shows it."""
    thread = changes.state.thread
    source_id = command.source_point.thread_id
    transfer = ContextTransfer(
        id=changes.new_id("trf"),
        type="merge_back",
        source_thread_id=source_id,
        target_thread_id=thread.id,
        source_point=command.source_point,
        base_point=command.base,
        source_provider=command.source_provider,
        target_provider=None,
        target_run_id=None,
        status="pending",
        resolution=HandoffResolution(strategy="delta_context", handoff_id=command.handoff.id),
        created_by="user",
        error=None,
        created_at=changes.now,
        consumed_at=None,
    )
    changes.put(TransferPut(transfer))
    put_handoff(changes, attrs.evolve(command.handoff, thread_id=thread.id, transfer_id=transfer.id))
    item = MergeBackItem(
        id=changes.new_id("itm"),
        thread_id=thread.id,
        run_id=None,
        parent_item_id=None,
        ordinal=0,
        status="completed",
        provider_thread_id=None,
        native_ref=None,
        started_at=changes.now,
        completed_at=None,
        transfer_id=transfer.id,
        other_thread_id=source_id,
    )
    put_item(changes, item, None)
    return transfer


def cancel(changes: Changes, command: CancelTransfer) -> ContextTransfer:
    """Take back a merge-back that no run sent yet.

    Raises:
        MidstreamError: transferNotFound; invalidState, where it is not pending, or is what the thread stands on.
    """
    transfer = changes.state.transfers.get(command.transfer_id)
    if transfer is None:
        message = f"There is no transfer {command.transfer_id} in this thread."
        raise MidstreamError("transferNotFound", message, transferId=command.transfer_id)
    if transfer.status != "pending" or transfer.type == "fork":
        raise MidstreamError(
            "invalidState",
            f"Transfer {transfer.id} is {transfer.status}; only a merge-back that waits can be taken back.",
            transferId=transfer.id,
            status=transfer.status,
        )
    run = changes.state.active_run
    if run is not None and transfer.id in run.transfer_ids:
        refuse(f"Run {run.id} is sending it already; interrupt that run first.", run)
    return _drop(changes, transfer)


def withdraw(changes: Changes, command: WithdrawMergeBacks) -> None:
    """Drop what waits of a fork's runs that were rolled back."""
    for transfer in tuple(changes.state.transfers.values()):
        if (
            transfer.type == "merge_back"
            and transfer.status == "pending"
            and transfer.source_thread_id == command.source_thread_id
            and any(
                max(handoff.run_ordinals, default=0) > command.after_ordinal
                for handoff in changes.state.handoffs.values()
                if handoff.transfer_id == transfer.id
            )
        ):
            _drop(changes, transfer)


def _drop(changes: Changes, transfer: ContextTransfer) -> ContextTransfer:
    dropped = attrs.evolve(transfer, status="superseded")
    changes.put(TransferPut(dropped))
    for handoff in tuple(changes.state.handoffs.values()):
        if handoff.transfer_id == transfer.id and handoff.status != "superseded":
            changes.put(HandoffPut(attrs.evolve(handoff, status="superseded", updated_at=changes.now)))
    return dropped


def untold(state: ThreadState, plan: SwitchPlan) -> tuple[HandoffInfo, ...]:
    """Return the merge-backs that the runs a plan tells of were given, and its conversation was not; each once."""
    handoffs = known_handoffs(state)
    known = state.provider_threads.get(plan.provider_thread_id or "")
    told = {fork_runs(handoffs[handoff_id]) for handoff_id in (known.handoff_ids if known else ())}
    ordinals = {run.id: run.ordinal or 0 for run in known_runs(state).values() if run.ordinal in plan.run_ordinals}
    found: dict[ForkRuns, HandoffInfo] = {}
    for handoff in sorted(handoffs.values(), key=lambda one: (ordinals.get(one.target_run_id or "", 0), one.id)):
        delivered = handoff.delivery is not None and handoff.delivery.status == "delivered"
        taken = delivered and tells_of_fork(handoff) and handoff.target_run_id in ordinals
        if taken and fork_runs(handoff) not in told:
            found.setdefault(fork_runs(handoff), handoff)
    return tuple(found.values())


def fork_runs(handoff: HandoffInfo) -> ForkRuns:
    """Return what a merge-back tells of, whoever is told."""
    return handoff.covered_thread_id, handoff.run_ordinals


def waiting(state: ThreadState) -> tuple[ContextTransfer, ...]:
    """Return the merge-backs that wait for the thread's next run, oldest first."""
    pending = (one for one in state.transfers.values() if one.type == "merge_back" and one.status == "pending")
    return tuple(sorted(pending, key=lambda transfer: (transfer.created_at, transfer.id)))
