"""The native conversations of subagents: known by name, spoken to by nobody but the agent that began them."""

import attrs

from midstream.protocol.records.item import Item
from midstream.protocol.records.provider import ProviderThread, ProviderThreadStatus
from midstream.server.graph.changes import Changes
from midstream.server.graph.events import ProviderThreadPut
from midstream.server.graph.state import LIVE_ITEM


def keep_conversation(changes: Changes, item: Item, native_ref: str) -> None:
    """Keep the record of a subagent's conversation in step with its item."""
    threads = changes.state.provider_threads
    parent = threads.get(item.provider_thread_id or "")
    if parent is None:
        return
    ordinal = changes.state.runs[item.run_id or ""].ordinal
    known = next((known for known in threads.values() if known.subagent_item_id == item.id), None) or ProviderThread(
        id=changes.new_id("pth"),
        thread_id=parent.thread_id,
        provider=parent.provider,
        session_id=parent.session_id,
        native_ref=native_ref,
        model=None,
        status="idle",
        first_run_ordinal=ordinal,
        last_run_ordinal=ordinal,
        native_run_ordinals=(),
        handoff_ids=(),
        missing_item_ids=(),
        forked_from=None,
        stale_reasons=(),
        subagent_item_id=item.id,
    )
    kept = attrs.evolve(known, status="active" if item.status in LIVE_ITEM else "idle")
    if threads.get(known.id) != kept:
        changes.put(ProviderThreadPut(kept))


def settle_conversations(changes: Changes, status: ProviderThreadStatus) -> None:
    """Note that no subagent is at work any more, and whether their conversations are still open."""
    for known in tuple(changes.state.provider_threads.values()):
        if known.subagent_item_id is not None and known.status == "active":
            changes.put(ProviderThreadPut(attrs.evolve(known, status=status)))
