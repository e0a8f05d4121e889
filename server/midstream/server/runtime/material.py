"""What a handoff is made from, read from the store: the facts of what was missed, and the thread's standing words."""

from collections import Counter
from collections.abc import Mapping
from typing import Final

from midstream.protocol.base import HandoffId, ProviderKind, ProviderThreadId
from midstream.protocol.records.checkpoint import Checkpoint
from midstream.protocol.records.handoff import HandoffStrategy, SectionKind
from midstream.protocol.records.provider import ProviderThread
from midstream.protocol.records.run import Run, SwitchPlan
from midstream.server.graph.inheritance import (
    known_checkpoints,
    known_handoffs,
    known_provider_threads,
    known_runs,
    standing_runs,
)
from midstream.server.graph.prepared import tells_of_fork
from midstream.server.graph.state import COVERABLE, ThreadState
from midstream.server.handoff.facts import Telling, bulk, load
from midstream.server.handoff.material import ItemFacts, Material
from midstream.server.store import FactsRow, Questions

BULK_BYTES: Final = 400_000
"""Stored bytes of messages, and of commands, that one handoff draws on: some 40,000 tokens."""


async def gather(
    store: Questions,
    state: ThreadState,
    plan: SwitchPlan,
    strategy: HandoffStrategy,
    target: ProviderKind,
    current: Run | None,
    bulk_bytes: int = BULK_BYTES,
) -> Material:
    """Return all that a plan's handoff may tell; the facts of the thread are up to date.

    Of messages, and of commands, so many stored bytes are read, newest first.
    """
    ordinals = set(plan.run_ordinals)
    all_runs = known_runs(state)
    by_ordinal = {run.ordinal: run for run in all_runs.values() if run.ordinal in ordinals}
    runs = tuple(by_ordinal[ordinal] for ordinal in sorted(ordinals) if ordinal in by_ordinal)
    known = state.provider_threads.get(plan.provider_thread_id or "")
    rows = [
        row
        for row in await store.facts_of_runs(tuple(run.id for run in runs))
        if (known is None or row.provider_thread_id != known.id) and _seen(state, row)
    ]
    if known is not None and known.missing_item_ids:
        have = {row.item_id for row in rows}
        missing = tuple(item_id for item_id in known.missing_item_ids if item_id not in have)
        rows.extend(await store.facts_of_items(missing))
        rows.sort(key=lambda row: row.ordinal)
        told_of = {*(run.id for run in runs), *(row.run_id for row in rows)}
        runs = tuple(sorted((run for run in all_runs.values() if run.id in told_of), key=lambda run: run.ordinal or 0))
    read, unread = _worth_reading(rows, bulk_bytes)
    items = tuple(_facts(row) for row in read)
    standing = [
        row
        for thread_id in (*(scope for scope, _ in state.inherited.scopes), state.thread.id)
        for row in await store.standing_facts(thread_id)
        if _seen(state, row) and _retained(all_runs.get(row.run_id or ""))
    ]
    latest = _latest_standing(state)
    conversations = known_provider_threads(state)
    return Material(
        thread=state.thread,
        strategy=strategy,
        runs=runs,
        items=tuple(item for item in items if current is None or not _being_sent(item, current)),
        standing=tuple(_facts(row) for row in standing),
        checkpoint=latest,
        diff=latest.files if latest else (),
        open_requests=state.pending_requests,
        target=target,
        providers_of_runs={run.ordinal: _provider_of(conversations, run) for run in runs if run.ordinal is not None},
        reasons=plan.reasons,
        unread=unread,
        replaces=_replaced(state, known) if known is not None and strategy == "full_thread_summary" else (),
    )


def _worth_reading(rows: list[FactsRow], bulk_bytes: int) -> tuple[list[FactsRow], Counter[SectionKind]]:
    """Return the rows that a handoff may draw on, and how many older ones of each section it will not."""
    read: list[FactsRow] = []
    size: Counter[SectionKind] = Counter()
    unread: Counter[SectionKind] = Counter()
    for row in reversed(rows):
        section = bulk(row.body)
        if section is not None and size[section] > bulk_bytes:
            unread[section] += 1
            continue
        if section is not None:
            size[section] += len(row.body)
        read.append(row)
    read.reverse()
    return read, unread


def _facts(row: FactsRow) -> ItemFacts:
    return ItemFacts(row.item_id, row.run_id, load(row.body))


def _seen(state: ThreadState, row: FactsRow) -> bool:
    """Return whether an item is the thread's own, or of what it inherits: a run can be tried again after the fork."""
    return row.run_id in state.runs or row.ordinal <= state.inherited.last_item_ordinal


def _latest_standing(state: ThreadState) -> Checkpoint | None:
    """Return the latest checkpoint that no rolled-back run left."""
    latest = state.checkpoints.get(state.latest_checkpoint_id or "")
    run = state.runs.get((latest.run_id if latest else None) or "")
    if run is None or run.status != "rolled_back":
        return latest
    last = next((run for run in reversed(standing_runs(state)) if run.checkpoint_id is not None), None)
    return None if last is None else known_checkpoints(state).get(last.checkpoint_id or "")


def _replaced(state: ThreadState, known: ProviderThread) -> tuple[HandoffId, ...]:
    """Return the handoffs that a full summary stands for: it does not tell what forks gave."""
    handoffs = known_handoffs(state)
    return tuple(handoff_id for handoff_id in known.handoff_ids if not tells_of_fork(handoffs.get(handoff_id)))


def _provider_of(conversations: Mapping[ProviderThreadId, ProviderThread], run: Run) -> ProviderKind:
    """Return who answered in a run: of one that is tried again elsewhere, the provider of the attempt before."""
    bound = (conversations.get(attempt.provider_thread_id or "") for attempt in reversed(run.attempts))
    return next((known.provider for known in bound if known is not None), run.provider)


def _retained(run: Run | None) -> bool:
    return run is not None and run.status in COVERABLE


def _being_sent(item: ItemFacts, current: Run) -> bool:
    """Return whether an item is the message that the handoff goes before; steered words are not sent again."""
    return item.run_id == current.id and any(
        isinstance(fact, Telling) and fact.section == "goals" and fact.head in ("start", "queued")
        for fact in item.facts
    )
