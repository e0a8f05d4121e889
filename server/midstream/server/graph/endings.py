"""How attempts and runs end, and what the native conversation misses then."""

from typing import Final

import attrs

from midstream.protocol.base import ProviderThreadId, Reason
from midstream.protocol.records.checkpoint import Checkpoint
from midstream.protocol.records.item import CheckpointItem, ErrorItem
from midstream.protocol.records.provider import ProviderThreadStatus
from midstream.protocol.records.run import Failure, Run, RunAttempt
from midstream.server.graph.changes import Changes, with_attempt
from midstream.server.graph.commands import (
    EndTurn,
    FinishRun,
)
from midstream.server.graph.events import (
    CheckpointPut,
    HandoffPut,
    ProviderThreadPut,
)
from midstream.server.graph.items import agents_items, close_item, close_live_items, new_item, put_item, waiting_words
from midstream.server.graph.queue import begin_next
from midstream.server.graph.requests import close_requests
from midstream.server.graph.state import NEVER_TOLD
from midstream.server.graph.subagents import settle_conversations
from midstream.server.graph.threads import put_thread

UNCERTAIN: Final = Reason(
    code="delivery_uncertain",
    message="A message was on its way when its turn was cut off; nobody knows whether it arrived.",
)
ENDED = frozenset({"completed", "interrupted", "failed"})


def end(changes: Changes, command: EndTurn) -> None:
    """Note how an attempt ended. The run itself ends once its files are captured."""
    run = changes.state.active_run
    if run is None or run.id != command.run_id:
        return
    attempt = next((known for known in run.attempts if known.ordinal == command.attempt), None)
    if attempt is None or attempt.status in ENDED:
        return
    if attempt.status != "superseded":
        _put_error_item(changes, run, attempt, command.failure)
    lived_by = attempt.provider_thread_id or run.provider_thread_id
    if lived_by is not None:
        _note_missing(changes, run, attempt, lived_by, lost=command.lost)
    if command.lost or attempt.status == "superseded":
        doubt_delivery(changes, run, attempt)
    if command.lost and lived_by is not None and waiting_words(changes, attempt.ordinal):
        _doubt_words(changes, run, lived_by)
    close_requests(changes, run.id, "cancelled")
    for item in waiting_words(changes, attempt.ordinal):
        close_item(changes, item, "cancelled")
    close_live_items(changes, command.status)
    run = changes.state.runs[run.id]
    if attempt.status != "superseded":
        ended = attrs.evolve(attempt, status=command.status)
        run = changes.put_run(with_attempt(attrs.evolve(run, failure=command.failure), ended))
    if attempt.provider_thread_id is not None:
        known = changes.state.provider_threads[attempt.provider_thread_id]
        now: ProviderThreadStatus = "not_loaded" if command.lost else "idle"
        if known.status == "active":
            changes.put(ProviderThreadPut(attrs.evolve(known, status=now)))
        settle_conversations(changes, now)


def doubt_delivery(changes: Changes, run: Run, attempt: RunAttempt) -> None:
    """Doubt what was on its way and never accepted: that conversation may have it, and is not spoken to again."""
    known = changes.state.provider_threads.get(attempt.provider_thread_id or "")
    unaccepted = attempt.status == "pending" or (attempt.status == "superseded" and run.status == "starting")
    if known is None or known.status != "active" or not unaccepted:
        return
    for handoff_id in run.handoff_ids:
        handoff = changes.state.handoffs[handoff_id]
        if handoff.delivery is not None and handoff.delivery.status == "pending":
            doubted = attrs.evolve(handoff.delivery, status="uncertain")
            changes.put(HandoffPut(attrs.evolve(handoff, delivery=doubted, updated_at=changes.now)))
    changes.put(ProviderThreadPut(attrs.evolve(known, stale_reasons=(*known.stale_reasons, UNCERTAIN))))


def _doubt_words(changes: Changes, run: Run, lived_by: ProviderThreadId) -> None:
    """Doubt words that were given to a running turn: it may have taken them, and died before it could say so."""
    known = changes.state.provider_threads[lived_by]
    if run.ordinal in known.native_run_ordinals and UNCERTAIN not in known.stale_reasons:
        changes.put(ProviderThreadPut(attrs.evolve(known, stale_reasons=(*known.stale_reasons, UNCERTAIN))))


def _note_missing(changes: Changes, run: Run, attempt: RunAttempt, lived_by: ProviderThreadId, *, lost: bool) -> None:
    """Note what the conversations that took the run have not: words never taken, and what was lost with a process."""
    untaken = {item.id for item in waiting_words(changes, attempt.ordinal)}
    if lost:
        untaken |= {item.id for item in agents_items(changes) if item.type not in NEVER_TOLD}
    active = changes.state.active_items.items()
    told = {item_id for item_id, item in active if item.told and item.provider_thread_id == lived_by}
    for known in tuple(changes.state.provider_threads.values()):
        if run.ordinal not in known.native_run_ordinals:
            continue
        changes.add_missing(known, untaken if known.id == lived_by else told)


def finish(changes: Changes, command: FinishRun) -> Run | None:
    """Close the run with the files as it left them, and start the next one unless it failed."""
    run = changes.current(command.run_id, command.attempt)
    if run is None or run.attempts[-1].status not in ENDED:
        return None
    if command.checkpoint is not None:
        changes.put(CheckpointPut(command.checkpoint))
        _put_checkpoint_item(changes, run, command.checkpoint)
    status = run.attempts[-1].status
    assert status in ENDED
    captured = command.checkpoint is not None and command.checkpoint.status == "ready"
    run = changes.put_run(
        attrs.evolve(
            run,
            status=status,  # type: ignore[arg-type]
            checkpoint_id=command.checkpoint.id if command.checkpoint and captured else run.checkpoint_id,
            completed_at=changes.now,
        )
    )
    if status == "failed" and changes.state.queue:
        put_thread(changes, attrs.evolve(changes.state.thread, queue_held=True))
    begin_next(changes)
    return changes.state.runs[run.id]


def _put_error_item(changes: Changes, run: Run, attempt: RunAttempt, failure: Failure | None) -> None:
    """Put why an attempt failed as an item: the run forgets it when it is tried again, its history does not."""
    if failure is None:
        return
    item = ErrorItem(
        **new_item(changes, run, "failed", attempt.provider_thread_id),
        message=failure.message,
        failure=failure,
    )
    put_item(changes, item, run.id)


def _put_checkpoint_item(changes: Changes, run: Run, checkpoint: Checkpoint) -> None:
    item = CheckpointItem(
        **new_item(changes, run, "completed" if checkpoint.status == "ready" else "failed"),
        checkpoint_id=checkpoint.id,
        files=checkpoint.files,
    )
    put_item(changes, item, run.id)
