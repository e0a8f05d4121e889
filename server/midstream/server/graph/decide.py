"""Deciding a command: what it changes, what it asks for, and what is answered. Pure."""

from typing import TypeAlias

import attrs
from attrs import frozen

from midstream.protocol.errors import MidstreamError
from midstream.protocol.records.handoff import ContextTransfer, HandoffInfo
from midstream.protocol.records.request import RuntimeRequest
from midstream.protocol.records.run import Run
from midstream.protocol.records.thread import Lineage, Thread
from midstream.server.graph import commands as c
from midstream.server.graph import (
    context,
    delegating,
    deletion,
    endings,
    forking,
    merging,
    observations,
    prepared,
    queue,
    recovery,
    requests,
    rollback,
    steering,
    threads,
    turns,
)
from midstream.server.graph.changes import Changes, Stamp
from midstream.server.graph.effects import Effect
from midstream.server.graph.events import Event, ThreadPut
from midstream.server.graph.rollback import RolledBack
from midstream.server.graph.state import ThreadState, evolve

Answer: TypeAlias = Thread | Run | RuntimeRequest | ContextTransfer | RolledBack | tuple[HandoffInfo, ...] | None
"""What a client is told: the record that the command was about, as it now stands."""


@frozen(kw_only=True)
class Decision:
    """What a command comes to. No events: it changed nothing, as with a late word about a run that is over.

    `forget` removes the thread with the commit.
    """

    state: ThreadState
    events: tuple[Event, ...]
    effects: tuple[Effect, ...]
    answer: Answer
    forget: bool = False


def create(command: c.CreateThread, stamp: Stamp) -> Decision:
    """Decide the command that makes a thread."""
    thread = threads.new_thread(
        thread_id=command.thread_id,
        title=command.title,
        workspace=command.workspace,
        selection=command.selection,
        runtime_mode=command.runtime_mode,
        lineage=Lineage(parent_thread_id=None, relationship_to_parent=None, root_thread_id=command.thread_id),
        forked_from=None,
        now=stamp.now,
    )
    event = ThreadPut(thread)
    return Decision(state=evolve(None, event), events=(event,), effects=(), answer=thread)


def fork(source: ThreadState, command: c.ForkThread, stamp: Stamp) -> Decision:
    """Decide the command that makes a fork; the answer is its pending transfer."""
    changes = forking.fork(source, command, stamp)
    (transfer,) = changes.state.transfers.values()
    return Decision(state=changes.state, events=tuple(changes.events), effects=(), answer=transfer)


def spawn(command: c.SpawnChild, stamp: Stamp) -> Decision:
    """Decide the command that makes a child and starts its run; the answer is that run."""
    changes = delegating.spawn(command, stamp)
    run = changes.state.active_run
    return Decision(state=changes.state, events=tuple(changes.events), effects=tuple(changes.effects), answer=run)


def decide(state: ThreadState, command: c.Command, stamp: Stamp) -> Decision:
    """Decide a command on a thread that exists.

    Raises:
        MidstreamError: the command does not fit what is; nothing changed.
        InvalidParams: the command names no choice that there is.
    """
    changes = Changes(state, stamp)
    answer = _apply(changes, command)
    changes.settle_thread()
    match answer:
        case Thread():
            answer = changes.state.thread
        case Run(id=run_id):
            answer = changes.state.runs[run_id]
        case RolledBack():
            answer = attrs.evolve(answer, thread=changes.state.thread)
        case _:
            pass
    return Decision(
        state=changes.state,
        events=tuple(changes.events),
        effects=tuple(changes.effects),
        answer=answer,
        forget=changes.forget,
    )


def _apply(changes: Changes, command: c.Command) -> Answer:
    match command:
        case (
            c.CreateThread(thread_id=thread_id)
            | c.ForkThread(thread_id=thread_id)
            | c.SpawnChild(thread=Thread(id=thread_id))
        ):
            raise MidstreamError("invalidState", "This thread exists already.", threadId=thread_id)
        case c.TakeMergeBack():
            return merging.take(changes, command)
        case c.CancelTransfer():
            return merging.cancel(changes, command)
        case c.RollBack():
            return rollback.roll_back(changes, command)
        case c.UpdateThread():
            return threads.update(changes, command)
        case c.ArchiveThread():
            return threads.archive(changes, command)
        case c.DeleteThread():
            deletion.delete(changes, command)
            return None
        case c.SwitchProvider():
            return threads.switch(changes, command)
        case c.StoreHandoffs():
            return threads.store_handoffs(changes, command)
        case c.KeepCheckpoint():
            threads.keep_checkpoint(changes, command)
            return None
        case c.ReplaceHandoff():
            return prepared.replace(changes, command)
        case c.DiscardHandoff():
            return prepared.discard(changes, command)
        case c.StartRun():
            return queue.start(changes, command)
        case c.EditRun():
            return queue.edit(changes, command)
        case c.ReorderRun():
            return queue.reorder(changes, command)
        case c.CancelRun():
            return queue.cancel(changes, command)
        case c.ResumeQueue():
            return queue.resume(changes)
        case c.SteerRun():
            return steering.steer(changes, command)
        case c.RestartRun():
            return steering.restart(changes, command)
        case c.InterruptRun():
            return steering.interrupt(changes, command)
        case c.RetryRun():
            return steering.retry(changes, command)
        case c.RespondRequest():
            return requests.respond(changes, command)
        case _:
            _note(changes, command)
            return None


def _note(changes: Changes, command: c.RuntimeCommand) -> None:
    match command:
        case c.AttachBaseline():
            turns.attach_baseline(changes, command)
        case c.FixPlan():
            context.fix_plan(changes, command)
        case c.BindProviderThread():
            turns.bind(changes, command)
        case c.FailResume():
            turns.fail_resume(changes, command)
        case c.MarkDelivering():
            context.mark_delivering(changes, command)
        case c.AcceptTurn():
            turns.accept(changes, command)
        case c.Observe():
            observations.observe(changes, command)
        case c.SettleSteer():
            steering.settle(changes, command)
        case c.EndTurn():
            endings.end(changes, command)
        case c.FinishRun():
            endings.finish(changes, command)
        case c.ExpireRequests():
            requests.expire(changes, command)
        case c.UpdateSession():
            recovery.update_session(changes, command)
        case c.LoseCheckpoints():
            threads.lose_checkpoints(changes, command)
        case c.FailFork():
            context.fail_fork(changes, command)
        case c.SettleRevert():
            rollback.settle_revert(changes, command)
        case c.WithdrawMergeBacks():
            merging.withdraw(changes, command)
        case c.BeginDelegation():
            delegating.begin(changes, command)
        case c.EndDelegation():
            delegating.end(changes, command)
        case c.RecoverThread():
            recovery.recover(changes)
