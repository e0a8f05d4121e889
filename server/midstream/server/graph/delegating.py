"""Delegation: a run's agent gives work to another provider, which does it in a thread of its own."""

import attrs

from midstream.protocol.base import ThreadId, Time
from midstream.protocol.records.handoff import ContextTransfer
from midstream.protocol.records.item import SubagentItem
from midstream.protocol.records.thread import Lineage, ModelSelection, Thread
from midstream.server.graph.changes import Changes, Stamp, refuse
from midstream.server.graph.commands import BeginDelegation, EndDelegation, SpawnChild, StartRun
from midstream.server.graph.events import ThreadPut, TransferPut
from midstream.server.graph.items import new_item, put_item
from midstream.server.graph.queue import start
from midstream.server.graph.state import ThreadState
from midstream.server.graph.threads import new_thread


def is_child(thread: Thread) -> bool:
    """Return whether a thread is work that an agent gave to another."""
    return thread.lineage.relationship_to_parent == "subagent"


def child_of(parent: Thread, thread_id: ThreadId, title: str, selection: ModelSelection, now: Time) -> Thread:
    """Return the thread for work that is given to a provider: it may do there what it might do in the parent."""
    return new_thread(
        thread_id=thread_id,
        title=title,
        workspace=parent.workspace,
        selection=selection,
        runtime_mode=parent.runtime_mode,
        lineage=Lineage(
            parent_thread_id=parent.id,
            relationship_to_parent="subagent",
            root_thread_id=parent.lineage.root_thread_id,
        ),
        forked_from=None,
        now=now,
    )


def spawn(command: SpawnChild, stamp: Stamp) -> Changes:
    """Make the child with its run, and the transfer that brought it the words that it was given."""
    thread = command.thread
    changes = Changes(ThreadState(thread=thread), stamp)
    changes.put(ThreadPut(thread))
    selection = thread.selection
    run = start(
        changes,
        StartRun(message=command.message, selection=selection, context="auto", queue=False, plan=command.plan),
    )
    changes.put(
        TransferPut(
            ContextTransfer(
                id=changes.new_id("trf"),
                type="subagent_spawn",
                source_thread_id=command.source_point.thread_id,
                target_thread_id=thread.id,
                source_point=command.source_point,
                base_point=None,
                source_provider=command.source_provider,
                target_provider=selection.provider,
                target_run_id=run.id,
                status="consumed",
                resolution=None,
                created_by="agent",
                error=None,
                created_at=changes.now,
                consumed_at=changes.now,
            )
        )
    )
    changes.settle_thread()
    return changes


def begin(changes: Changes, command: BeginDelegation) -> None:
    """Show in the run that its agent gave work away.

    Raises:
        MidstreamError: invalidState, where the run is not at work any more.
    """
    run = changes.run(command.run_id)
    if run.id != changes.state.active_run_id or run.attempts[-1].status != "running":
        refuse(f"Run {run.id} is not at work; only the agent of one that is can give work away.", run)
    item = SubagentItem(
        **new_item(changes, run, "running", run.provider_thread_id),
        title=command.child.title,
        prompt=command.prompt,
        child_thread_id=command.child.id,
        provider=command.child.selection.provider,
        result=None,
    )
    put_item(changes, attrs.evolve(item, id=command.item_id), run.id)


def end(changes: Changes, command: EndDelegation) -> None:
    """Take in what came back, where the run that waits for it still does."""
    item = changes.state.live_items.get(command.item_id)
    if not isinstance(item, SubagentItem) or item.run_id is None:
        return
    put_item(changes, attrs.evolve(item, status=command.status, result=command.result), item.run_id)
    done = command.status == "completed"
    changes.put(
        TransferPut(
            ContextTransfer(
                id=changes.new_id("trf"),
                type="subagent_result",
                source_thread_id=command.source_point.thread_id,
                target_thread_id=changes.state.thread.id,
                source_point=command.source_point,
                base_point=None,
                source_provider=item.provider,
                target_provider=changes.state.runs[item.run_id].provider,
                target_run_id=item.run_id,
                status="consumed" if done else "failed",
                resolution=None,
                created_by="agent",
                error=None if done else f"The work was {command.status}.",
                created_at=changes.now,
                consumed_at=changes.now,
            )
        )
    )
