"""Steering, restarting, interrupting and retrying a run."""

import attrs

from midstream.protocol.records.run import AttemptReason, Run, RunAttempt
from midstream.server.graph.changes import Changes, refuse, with_attempt
from midstream.server.graph.commands import InterruptRun, RestartRun, RetryRun, SettleSteer, SteerRun
from midstream.server.graph.effects import ExecuteAttempt, InterruptTurn, SteerTurn
from midstream.server.graph.items import close_item, waiting_words
from midstream.server.graph.queue import put_message
from midstream.server.graph.state import ACTIVE
from midstream.server.graph.threads import put_thread


def steer(changes: Changes, command: SteerRun) -> Run:
    """Give the active run more words; they are taken once the provider says so."""
    run = _active(changes, command.run_id, "steered")
    item_id = changes.new_id("itm")
    put_message(changes, run, item_id, command.message, "steer", "pending")
    changes.effects.append(SteerTurn(run_id=run.id, attempt=run.attempts[-1].ordinal, message_item_id=item_id))
    return run


def settle(changes: Changes, command: SettleSteer) -> None:
    """Note that steered words were taken, or never will be: then they are missing from the native conversation."""
    item = changes.state.live_items.get(command.item_id)
    if item is None:
        return
    close_item(changes, item, "completed" if command.taken else "cancelled")
    run = changes.state.active_run
    known = changes.state.provider_threads.get(run.provider_thread_id or "") if run else None
    if not command.taken and run is not None and known is not None and run.ordinal in known.native_run_ordinals:
        changes.add_missing(known, {item.id})


def take_steer(changes: Changes, attempt: int) -> None:
    """Note that the earliest of the words that were given to an attempt, and wait, was taken."""
    if waiting := waiting_words(changes, attempt):
        close_item(changes, min(waiting, key=lambda item: item.ordinal), "completed")


def restart(changes: Changes, command: RestartRun) -> Run:
    """Interrupt the active attempt; the new one starts when the old one has ended."""
    run = _active(changes, command.run_id, "restarted")
    old = attrs.evolve(run.attempts[-1], status="superseded")
    item_id = changes.new_id("itm")
    run = attrs.evolve(
        with_attempt(run, old), interrupt_requested_at=None, unsent_item_ids=(*changes.state.unsent, item_id)
    )
    run = _add_attempt(changes, run, command.reason)
    put_message(changes, run, item_id, command.message, "steer")
    _execute(changes, run)
    changes.effects.append(InterruptTurn(run_id=run.id, attempt=old.ordinal))
    return run


def interrupt(changes: Changes, command: InterruptRun) -> Run:
    """Ask that the active run stops; it is interrupted once the provider says so. Asked again, it is told again."""
    run = _active(changes, command.run_id, "interrupted")
    if run.interrupt_requested_at is None:
        run = changes.put_run(attrs.evolve(run, interrupt_requested_at=changes.now))
    changes.effects.append(InterruptTurn(run_id=run.id, attempt=run.attempts[-1].ordinal))
    return run


def retry(changes: Changes, command: RetryRun) -> Run:
    """Try the thread's last started run again, as a new attempt."""
    run = changes.run(command.run_id)
    if run.status not in ("failed", "interrupted"):
        refuse(f"Run {run.id} is {run.status}; only a failed or interrupted run can be retried.", run)
    if run.id != changes.state.last_started_run_id:
        refuse(f"Run {run.id} is not the thread's last one; start a new run instead.", run)
    if changes.state.active_run_id is not None:
        refuse("Another run of this thread is active; wait for it or interrupt it.", run)
    put_thread(changes, attrs.evolve(changes.state.thread, selection=command.selection))
    run = attrs.evolve(
        run,
        status="starting",
        selection=command.selection,
        provider=command.selection.provider,
        plan=command.plan,
        failure=None,
        usage=None,
        interrupt_requested_at=None,
        completed_at=None,
    )
    run = _add_attempt(changes, run, "retry")
    _execute(changes, run)
    return run


def _add_attempt(changes: Changes, run: Run, reason: AttemptReason) -> Run:
    attempt = RunAttempt(
        ordinal=run.attempts[-1].ordinal + 1,
        provider_thread_id=None,
        provider_turn_id=None,
        reason=reason,
        status="pending",
    )
    return changes.put_run(attrs.evolve(run, attempts=(*run.attempts, attempt)))


def _execute(changes: Changes, run: Run) -> None:
    changes.effects.append(
        ExecuteAttempt(run_id=run.id, attempt=run.attempts[-1].ordinal, message_item_ids=changes.state.unsent)
    )


def _active(changes: Changes, run_id: str, verb: str) -> Run:
    run = changes.run(run_id)
    if run.status == "queued":
        refuse(f"Run {run.id} is queued; it cannot be {verb}. Edit or cancel it.", run)
    if run.status not in ACTIVE:
        refuse(f"Run {run.id} is {run.status} already; it cannot be {verb}.", run)
    if run.attempts[-1].status in ("completed", "failed", "interrupted"):
        refuse(f"Run {run.id} is ending; it cannot be {verb}.", run)
    return run
