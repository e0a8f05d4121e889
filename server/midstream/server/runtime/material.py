"""What a handoff is made from, read from the store: the items of what was missed, and the thread's standing words."""

from typing import TypeGuard

from midstream.protocol.base import ProviderKind
from midstream.protocol.records.handoff import HandoffStrategy
from midstream.protocol.records.item import Item, TodoItem, UserMessageItem
from midstream.protocol.records.run import Run, SwitchPlan
from midstream.server.graph.state import COVERABLE, ThreadState
from midstream.server.handoff.material import Material
from midstream.server.store import Store


async def gather(
    store: Store,
    state: ThreadState,
    plan: SwitchPlan,
    strategy: HandoffStrategy,
    target: ProviderKind,
    current: Run | None,
) -> Material:
    """Return all that a plan's handoff may tell."""
    ordinals = set(plan.run_ordinals)
    by_ordinal = {run.ordinal: run for run in state.runs.values() if run.ordinal in ordinals}
    runs = tuple(by_ordinal[ordinal] for ordinal in sorted(ordinals) if ordinal in by_ordinal)
    known = state.provider_threads.get(plan.provider_thread_id or "")
    items = [
        item
        for item in await store.items_of_runs(tuple(run.id for run in runs))
        if known is None or item.provider_thread_id != known.id
    ]
    if current is not None:
        items = [item for item in items if not _being_sent(item, current)]
    if known is not None and known.missing_item_ids:
        have = {item.id for item in items}
        missing = [item_id for item_id in known.missing_item_ids if item_id not in have]
        items.extend(await store.items_by_ids(tuple(missing)))
        told_of = {*(run.id for run in runs), *(item.run_id for item in items)}
        runs = tuple(
            sorted((run for run in state.runs.values() if run.id in told_of), key=lambda run: run.ordinal or 0)
        )
    standing = [
        message
        for message in await store.user_messages(state.thread.id)
        if message.run_id is not None and _retained(state.runs.get(message.run_id))
    ]
    items.sort(key=lambda item: item.ordinal)
    latest = state.checkpoints.get(state.latest_checkpoint_id or "")
    return Material(
        thread=state.thread,
        strategy=strategy,
        runs=runs,
        items=tuple(items),
        standing=tuple(standing),
        checkpoint=latest,
        diff=latest.files if latest else (),
        open_requests=state.pending_requests,
        todo=next((item for item in reversed(items) if _is_own_todo(item)), None),
        target=target,
        providers_of_runs={run.ordinal: _provider_of(state, run) for run in runs if run.ordinal is not None},
        reasons=plan.reasons,
        replaces=known.handoff_ids if known is not None and strategy == "full_thread_summary" else (),
    )


def _provider_of(state: ThreadState, run: Run) -> ProviderKind:
    """Return who answered in a run: of one that is tried again elsewhere, the provider of the attempt before."""
    bound = (state.provider_threads.get(attempt.provider_thread_id or "") for attempt in reversed(run.attempts))
    return next((known.provider for known in bound if known is not None), run.provider)


def _is_own_todo(item: Item) -> TypeGuard[TodoItem]:
    """Return whether an item is the agent's todo list, not a subagent's."""
    return isinstance(item, TodoItem) and item.parent_item_id is None


def _retained(run: Run | None) -> bool:
    return run is not None and run.status in COVERABLE


def _being_sent(item: Item, current: Run) -> bool:
    return isinstance(item, UserMessageItem) and item.run_id == current.id and item.intent != "steer"
