"""Starting runs and keeping the queue."""

from typing import Literal

import attrs

from midstream.protocol.base import ItemId
from midstream.protocol.records.item import ItemStatus, UserMessageItem
from midstream.protocol.records.run import Message, Run, RunAttempt
from midstream.protocol.records.thread import Thread
from midstream.server.graph.changes import Changes, refuse
from midstream.server.graph.commands import CancelRun, EditRun, ReorderRun, StartRun
from midstream.server.graph.effects import ExecuteAttempt
from midstream.server.graph.events import HandoffPut
from midstream.server.graph.items import new_item, put_item
from midstream.server.graph.prepared import unsent_handoff
from midstream.server.graph.threads import put_handoff, put_thread, title_from

Intent = Literal["start", "queued", "steer"]


def start(changes: Changes, command: StartRun) -> Run:
    """Start a run at once, or put it at the end of the queue."""
    for handoff in command.handoffs:
        put_handoff(changes, handoff)
    for handoff_id in command.handoff_ids:
        unsent_handoff(changes.state, handoff_id)
    for replaced in command.replaced:
        old = changes.state.handoffs[replaced.from_]
        changes.put(HandoffPut(attrs.evolve(old, status="superseded", superseded_by=replaced.to)))
    thread = changes.state.thread
    run = Run(
        id=changes.new_id("run"),
        thread_id=thread.id,
        ordinal=None,
        selection=command.selection,
        provider=command.selection.provider,
        provider_thread_id=None,
        context_handoff_id=None,
        handoff_ids=command.handoff_ids,
        transfer_ids=(),
        plan=command.plan,
        status="queued",
        message=command.message,
        attempts=(),
        baseline_checkpoint_id=None,
        checkpoint_id=None,
        failure=None,
        usage=None,
        queue_position=None,
        requested_at=changes.now,
        started_at=None,
        interrupt_requested_at=None,
        completed_at=None,
    )
    put_thread(
        changes,
        attrs.evolve(
            thread,
            title=thread.title or title_from(command.message.text),
            selection=command.selection,
            next_context="auto",
        ),
    )
    must_wait = changes.state.active_run_id is not None or (
        command.queue and (bool(changes.state.queue) or thread.queue_held)
    )
    if not must_wait:
        return begin(changes, run, "start")
    last = changes.state.queued_runs[-1:]
    return changes.put_run(
        attrs.evolve(run, queue_position=1 + max((other.queue_position or 0 for other in last), default=0))
    )


def begin(changes: Changes, run: Run, intent: Intent) -> Run:
    """Give a run its place in the thread and ask for its first attempt."""
    _note_untaken(changes)
    message_id = changes.new_id("itm")
    run = changes.put_run(
        attrs.evolve(
            run,
            ordinal=changes.state.last_run_ordinal + 1,
            status="starting",
            queue_position=None,
            started_at=changes.now,
            unsent_item_ids=(message_id,),
            attempts=(
                RunAttempt(
                    ordinal=1,
                    provider_thread_id=None,
                    provider_turn_id=None,
                    reason="initial",
                    status="pending",
                ),
            ),
        )
    )
    put_message(changes, run, message_id, run.message, intent)
    changes.effects.append(ExecuteAttempt(run_id=run.id, attempt=1, message_item_ids=(message_id,)))
    return run


def _note_untaken(changes: Changes) -> None:
    """Note words of the last run that no attempt brought home: no retry will send them any more."""
    last = changes.state.runs.get(changes.state.last_started_run_id or "")
    for known in tuple(changes.state.provider_threads.values()):
        if last is not None and last.ordinal in known.native_run_ordinals:
            changes.add_missing(known, changes.state.unsent)


def begin_next(changes: Changes) -> None:
    """Start the next queued run, where nothing holds it back."""
    if changes.state.active_run_id is None and not changes.state.thread.queue_held and changes.state.queue:
        begin(changes, changes.state.queued_runs[0], "queued")


def put_message(
    changes: Changes, run: Run, item_id: ItemId, message: Message, intent: Intent, status: ItemStatus = "completed"
) -> None:
    """Put the user's words to the latest attempt as an item; steered ones are pending until the provider took them."""
    lived_by = None if status == "completed" else run.provider_thread_id
    item = UserMessageItem(
        **new_item(changes, run, status, lived_by),
        text=message.text,
        attachments=message.attachments,
        intent=intent,
        attempt=run.attempts[-1].ordinal,
    )
    put_item(changes, attrs.evolve(item, id=item_id), run.id)


def edit(changes: Changes, command: EditRun) -> Run:
    """Change the words of a queued run."""
    run = _queued(changes, command.run_id, "edited")
    return changes.put_run(attrs.evolve(run, message=attrs.evolve(run.message, text=command.text)))


def reorder(changes: Changes, command: ReorderRun) -> Run:
    """Move a queued run; those between its old and its new place are put anew, with each other's positions."""
    run = _queued(changes, command.run_id, "moved")
    before = None if command.before_run_id is None else _queued(changes, command.before_run_id, "moved").id
    if before == run.id:
        return run
    queue = changes.state.queued_runs
    rest = [other for other in queue if other.id != run.id]
    place = next((place for place, other in enumerate(rest) if other.id == before), len(rest))
    for old, other in zip(queue, [*rest[:place], run, *rest[place:]], strict=True):
        changes.put_run(attrs.evolve(other, queue_position=old.queue_position))
    return changes.state.runs[run.id]


def cancel(changes: Changes, command: CancelRun) -> Run:
    """Take a queued run back."""
    run = _queued(changes, command.run_id, "cancelled")
    return changes.put_run(attrs.evolve(run, status="cancelled", queue_position=None, completed_at=changes.now))


def resume(changes: Changes) -> Thread:
    """Let held queued runs go on."""
    put_thread(changes, attrs.evolve(changes.state.thread, queue_held=False))
    begin_next(changes)
    return changes.state.thread


def _queued(changes: Changes, run_id: str, verb: str) -> Run:
    run = changes.run(run_id)
    if run.status != "queued":
        refuse(f"Run {run.id} is {run.status}; only a queued run can be {verb}.", run)
    return run
