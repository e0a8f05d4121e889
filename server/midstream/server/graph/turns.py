"""An attempt's way to its turn: baseline, provider thread, acceptance."""

import attrs

from midstream.protocol.records.provider import ProviderThread
from midstream.protocol.records.run import RunStatus
from midstream.server.graph.changes import Changes, with_attempt
from midstream.server.graph.commands import (
    AcceptTurn,
    AttachBaseline,
    BindProviderThread,
    FailResume,
)
from midstream.server.graph.context import consume_forks, deliver, resolve_natively
from midstream.server.graph.events import (
    CheckpointPut,
    HandoffPut,
    ProviderSessionPut,
    ProviderThreadPut,
)
from midstream.server.graph.inheritance import coverage_at
from midstream.server.graph.threads import put_thread


def attach_baseline(changes: Changes, command: AttachBaseline) -> None:
    """Note the files as the agent finds them: only the first attempt of a run does."""
    run = changes.state.runs.get(command.run_id)
    if run is None or run.id != changes.state.active_run_id or run.baseline_checkpoint_id is not None:
        return
    if command.checkpoint.id not in changes.state.checkpoints:
        changes.put(CheckpointPut(command.checkpoint))
    if command.checkpoint.status == "ready":
        changes.put_run(attrs.evolve(run, baseline_checkpoint_id=command.checkpoint.id))


def bind(changes: Changes, command: BindProviderThread) -> None:
    """Give the attempt its native conversation."""
    run = changes.preparing(command.run_id, command.attempt)
    if run is None:
        return
    if changes.state.sessions.get(command.session.id) != command.session:
        changes.put(ProviderSessionPut(command.session))
    known = (
        changes.state.provider_threads.get(command.provider_thread_id)
        or _forked(changes, command)
        or ProviderThread(
            id=command.provider_thread_id,
            thread_id=run.thread_id,
            provider=run.provider,
            session_id=None,
            native_ref=None,
            model=None,
            status="idle",
            first_run_ordinal=None,
            last_run_ordinal=None,
            native_run_ordinals=(),
            handoff_ids=(),
            missing_item_ids=(),
            forked_from=command.forked_from,
            stale_reasons=(),
        )
    )
    changes.put(
        ProviderThreadPut(
            attrs.evolve(
                known,
                session_id=command.session.id,
                native_ref=command.native_ref,
                model=command.model,
                status="idle",
                selection=run.selection,
                runtime_mode=changes.state.thread.runtime_mode,
            )
        )
    )
    if known.forked_from is not None:
        resolve_natively(changes, run, command.native_ref)
    attempt = attrs.evolve(run.attempts[-1], provider_thread_id=known.id)
    changes.put_run(attrs.evolve(with_attempt(run, attempt), provider_thread_id=known.id))
    for handoff_id in run.handoff_ids:
        handoff = changes.state.handoffs[handoff_id]
        delivered = handoff.delivery is not None and handoff.delivery.status == "delivered"
        if not delivered and handoff.to_provider_thread_id != known.id:
            changes.put(HandoffPut(attrs.evolve(handoff, to_provider_thread_id=known.id)))
    put_thread(changes, attrs.evolve(changes.state.thread, active_provider_thread_id=known.id))


def _forked(changes: Changes, command: BindProviderThread) -> ProviderThread | None:
    """Return the record of a conversation that the provider forked, with the source's coverage at the fork's point."""
    source = changes.state.inherited.provider_threads.get(command.forked_from or "")
    if source is None:
        return None
    return attrs.evolve(
        coverage_at(source, changes.state.inherited),
        id=command.provider_thread_id,
        thread_id=changes.state.thread.id,
        forked_from=source.id,
        missing_item_ids=(),
        stale_reasons=(),
    )


def fail_resume(changes: Changes, command: FailResume) -> None:
    """Note that a provider thread cannot be resumed: it is stale from now on."""
    known = changes.state.provider_threads.get(command.provider_thread_id)
    if known is not None:
        changes.put(
            ProviderThreadPut(attrs.evolve(known, status="error", stale_reasons=(*known.stale_reasons, command.reason)))
        )


def accept(changes: Changes, command: AcceptTurn) -> None:
    """Count the run, and the handoffs sent with it, as covered by its provider thread."""
    run = changes.preparing(command.run_id, command.attempt)
    if run is None or run.ordinal is None:
        return
    attempt = run.attempts[-1]
    if attempt.provider_thread_id is None:
        return
    sent = [
        handoff_id
        for handoff_id in run.handoff_ids
        if (delivery := changes.state.handoffs[handoff_id].delivery) is not None and delivery.status == "pending"
    ]
    for other in tuple(changes.state.provider_threads.values()):
        if other.id != attempt.provider_thread_id and run.ordinal in other.native_run_ordinals:
            changes.add_missing(other, changes.state.unsent)
    known = changes.state.provider_threads[attempt.provider_thread_id]
    changes.put(
        ProviderThreadPut(
            attrs.evolve(
                known,
                first_run_ordinal=known.first_run_ordinal or run.ordinal,
                last_run_ordinal=run.ordinal,
                native_run_ordinals=(
                    *(o for o in known.native_run_ordinals if o != run.ordinal),
                    run.ordinal,
                ),
                handoff_ids=(*known.handoff_ids, *sent),
                missing_item_ids=() if sent else known.missing_item_ids,
                compacted=None if sent else known.compacted,
            )
        )
    )
    for handoff_id in sent:
        deliver(changes, run, handoff_id)
    consume_forks(changes, run)
    running = attrs.evolve(attempt, status="running", provider_turn_id=command.turn_ref)
    status: RunStatus = "waiting" if changes.state.pending_requests else "running"
    run = attrs.evolve(run, status=status, unsent_item_ids=None)
    changes.put_run(with_attempt(run, running))
