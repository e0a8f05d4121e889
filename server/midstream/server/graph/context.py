"""The context of an attempt: its handoffs are given to it, sent, and delivered."""

import attrs

from midstream.protocol.base import HandoffId
from midstream.protocol.records.handoff import (
    ContextHandoff,
    ContextTransfer,
    Delivery,
    HandoffInfo,
    HandoffResolution,
    NativeForkResolution,
)
from midstream.protocol.records.item import HandoffItem
from midstream.protocol.records.run import Run
from midstream.protocol.records.thread import SourcePoint
from midstream.server.graph.changes import Changes
from midstream.server.graph.commands import (
    FailFork,
    FixPlan,
    MarkDelivering,
)
from midstream.server.graph.events import (
    HandoffPut,
    ProviderThreadPut,
    TransferPut,
)
from midstream.server.graph.inheritance import known_provider_threads, known_runs
from midstream.server.graph.items import new_item, put_item
from midstream.server.graph.prepared import tells_of_fork
from midstream.server.graph.threads import put_handoff

RESOLUTIONS = {
    "delta_since_target_last_seen": "delta_context",
    "full_thread_summary": "portable_context",
    "manual_context": "portable_context",
    "checkpoint_summary": "checkpoint_context",
}


def fix_plan(changes: Changes, command: FixPlan) -> None:
    """Settle how the attempt catches up: its handoffs get their transfers, those no longer meant are superseded."""
    run = changes.preparing(command.run_id, command.attempt)
    if run is None:
        return
    made = {handoff.id: handoff for handoff in command.handoffs}
    _supersede_unsent(changes, run, command.handoff_ids)
    for handoff_id in command.handoff_ids:
        known = made.get(handoff_id) or changes.state.handoffs[handoff_id]
        _give_to_run(changes, run, command, known)
    infos = [changes.state.handoffs[handoff_id] for handoff_id in command.handoff_ids]
    transfers = (info.transfer_id for info in infos if info.transfer_id is not None)
    own = [info for info in infos if not tells_of_fork(info)]
    changes.put_run(
        attrs.evolve(
            run,
            plan=command.plan,
            handoff_ids=command.handoff_ids,
            context_handoff_id=own[0].id if own else None,
            transfer_ids=tuple(dict.fromkeys((*transfers, *command.plan.transfer_ids))),
        )
    )


def _supersede_unsent(changes: Changes, run: Run, kept: tuple[HandoffId, ...]) -> None:
    for handoff_id in run.handoff_ids:
        handoff = changes.state.handoffs[handoff_id]
        if (
            handoff_id in kept
            or _is_merge_back(changes, handoff)  # it waits for the next run
            or (handoff.delivery is not None and handoff.delivery.status == "delivered")
        ):
            continue
        successor = kept[0] if kept else None
        changes.put(
            HandoffPut(attrs.evolve(handoff, status="superseded", superseded_by=successor, updated_at=changes.now))
        )
        transfer = changes.state.transfers.get(handoff.transfer_id or "")
        if transfer is not None and transfer.type == "provider_handoff":
            changes.put(TransferPut(attrs.evolve(transfer, status="superseded")))
        elif transfer is not None and transfer.type == "fork":
            changes.put(TransferPut(attrs.evolve(transfer, status="pending", resolution=None, target_run_id=None)))


def _is_merge_back(changes: Changes, handoff: HandoffInfo) -> bool:
    transfer = changes.state.transfers.get(handoff.transfer_id or "")
    return transfer is not None and transfer.type == "merge_back"


def _give_to_run(changes: Changes, run: Run, command: FixPlan, handoff: HandoffInfo) -> None:
    transfer_id = handoff.transfer_id
    if transfer_id is None:
        transfer = _fork_for(changes, run, command, handoff) or _transfer_for(changes, run, command, handoff)
        transfer_id = transfer.id
        changes.put(TransferPut(transfer))
    given = attrs.evolve(handoff, transfer_id=transfer_id, target_run_id=run.id, status="ready", updated_at=changes.now)
    if isinstance(given, ContextHandoff):
        put_handoff(changes, given)
    elif given != changes.state.handoffs[handoff.id]:
        changes.put(HandoffPut(given))


def _fork_for(changes: Changes, run: Run, command: FixPlan, handoff: HandoffInfo) -> ContextTransfer | None:
    """Return the fork that this handoff resolves: it carries to the fork what it inherits."""
    for transfer_id in () if tells_of_fork(handoff) else command.plan.transfer_ids:
        transfer = changes.state.transfers[transfer_id]
        if transfer.type == "fork" and transfer.status == "pending":
            return attrs.evolve(
                transfer,
                status="resolved_portable",
                target_run_id=run.id,
                target_provider=run.provider,
                resolution=_resolution(handoff, checkpoint=transfer.source_point.checkpoint_id is not None),
            )
    return None


def _resolution(handoff: HandoffInfo, *, checkpoint: bool) -> HandoffResolution:
    strategy = "checkpoint_context" if checkpoint else RESOLUTIONS[handoff.strategy]
    return HandoffResolution(strategy=strategy, handoff_id=handoff.id)  # type: ignore[arg-type]


def fail_fork(changes: Changes, command: FailFork) -> None:
    """Note why the provider did not fork its conversation: the fork's own run tells it what happened instead."""
    run = changes.preparing(command.run_id, command.attempt)
    for transfer in changes.state.transfers.values():
        if run is not None and transfer.type == "fork" and transfer.status == "pending":
            changes.put(TransferPut(attrs.evolve(transfer, error=command.error)))


def resolve_natively(changes: Changes, run: Run, native_ref: str) -> None:
    """Note that the provider forked its own conversation for this run."""
    for transfer in changes.state.transfers.values():
        if transfer.type == "fork" and transfer.status == "pending":
            changes.put(
                TransferPut(
                    attrs.evolve(
                        transfer,
                        status="resolved_native",
                        target_run_id=run.id,
                        target_provider=run.provider,
                        resolution=NativeForkResolution(native_thread_ref=native_ref),
                    )
                )
            )


def consume_forks(changes: Changes, run: Run) -> None:
    """Count a fork as consumed that needed no handoff: made natively, or with nothing to tell."""
    for transfer in changes.state.transfers.values():
        if transfer.type == "fork" and transfer.status in ("pending", "resolved_native"):
            consumed = attrs.evolve(transfer, status="consumed", target_run_id=run.id, consumed_at=changes.now)
            changes.put(TransferPut(consumed))


def _transfer_for(changes: Changes, run: Run, command: FixPlan, handoff: HandoffInfo) -> ContextTransfer:
    source_id = handoff.covered_thread_id if tells_of_fork(handoff) else None  # a merge-back that another one took
    covered = set(handoff.run_ordinals if source_id is None else ())
    last = max(
        (other for other in known_runs(changes.state).values() if other.ordinal in covered),
        key=lambda other: other.ordinal or 0,
        default=None,
    )
    source = changes.state.thread.active_provider_thread_id
    return ContextTransfer(
        id=changes.new_id("trf"),
        type="provider_handoff",
        source_thread_id=source_id or run.thread_id,
        target_thread_id=run.thread_id,
        source_point=SourcePoint(
            thread_id=source_id or run.thread_id,
            run_id=last.id if last else None,
            provider_thread_id=None if source_id else source,
        ),
        base_point=None,
        source_provider=last.provider if last else None,
        target_provider=run.provider,
        target_run_id=run.id,
        status="resolved_portable",
        resolution=_resolution(handoff, checkpoint=False),
        created_by="system",
        error=None,
        created_at=changes.now,
        consumed_at=None,
    )


def mark_delivering(changes: Changes, command: MarkDelivering) -> None:
    """Note, before anything is sent, that the turn and its handoffs are on their way."""
    run = changes.preparing(command.run_id, command.attempt)
    if run is None or run.attempts[-1].provider_thread_id is None:
        return
    known = changes.state.provider_threads[run.attempts[-1].provider_thread_id]
    changes.put(ProviderThreadPut(attrs.evolve(known, status="active")))
    if command.channel is None:
        return
    for handoff_id, sha256 in command.sha256.items():
        delivery = Delivery(
            native_thread_ref=known.native_ref, channel=command.channel, status="pending", sha256=sha256
        )
        handoff = changes.state.handoffs[handoff_id]
        changes.put(HandoffPut(attrs.evolve(handoff, delivery=delivery, updated_at=changes.now)))


def deliver(changes: Changes, run: Run, handoff_id: HandoffId) -> None:
    handoff = changes.state.handoffs[handoff_id]
    assert handoff.delivery is not None
    delivered = attrs.evolve(handoff.delivery, status="delivered")
    changes.put(HandoffPut(attrs.evolve(handoff, delivery=delivered, updated_at=changes.now)))
    transfer = changes.state.transfers[handoff.transfer_id or ""]
    changes.put(TransferPut(attrs.evolve(transfer, status="consumed", target_run_id=run.id, consumed_at=changes.now)))
    known = known_provider_threads(changes.state)
    sources = (known.get(source) for source in handoff.from_provider_thread_ids)
    providers = tuple(dict.fromkeys(source.provider for source in sources if source is not None))
    # The conversations of a fork are known there alone.
    elsewhere = () if transfer.source_provider is None else (transfer.source_provider,)
    item = HandoffItem(
        **new_item(changes, run, "completed", run.provider_thread_id),
        handoff_id=handoff.id,
        transfer_id=transfer.id,
        strategy=handoff.strategy,
        from_providers=providers or elsewhere,
        to_provider=run.provider,
        reasons=run.plan.reasons if run.plan else (),
    )
    put_item(changes, item, run.id)
