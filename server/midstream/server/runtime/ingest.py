"""The facts of items, made when an item is committed, and made anew where the rules have changed since."""

import asyncio
from collections.abc import Callable, Iterable
from typing import Final

from midstream.protocol.base import ThreadId
from midstream.protocol.records.item import Item
from midstream.server.graph.events import Event, ItemPut
from midstream.server.graph.state import LIVE_ITEM
from midstream.server.handoff.facts import RULES, Telling, dump
from midstream.server.handoff.redact import Redactor
from midstream.server.handoff.telling import facts_of
from midstream.server.store import FactsRow, ItemAnchor, Store, Write

AT_ONCE: Final = 500
"""How many items are read at once where facts are made anew."""


class Ingest:
    """Makes facts; `secrets` are values that must not be told, beside those that look like secrets."""

    def __init__(self, store: Store, secrets: Callable[[], frozenset[str]]) -> None:
        self._store = store
        self._secrets = secrets

    def rows(self, events: Iterable[Event]) -> tuple[FactsRow, ...]:
        """Return the facts of the items that end in these events."""
        ended = {event.record.id: event.record for event in events if isinstance(event, ItemPut)}
        return self._rows(ended.values())

    async def refresh(self, thread_id: ThreadId) -> None:
        """Make a thread's facts anew where another version of the rules made them, or none did."""
        if await self._store.facts_version(thread_id) == RULES:
            return
        after = None
        while page := await self._store.items(((thread_id, None),), None, ItemAnchor(after=after), AT_ONCE):
            rows = await asyncio.to_thread(self._rows, page.items)
            after = page.next_item_id
            version = RULES if after is None else None
            await self._store.commit(Write(thread_id=thread_id, first_sequence=0, facts=rows, facts_version=version))
            if after is None:
                return

    def _rows(self, items: Iterable[Item]) -> tuple[FactsRow, ...]:
        redactor = Redactor(self._secrets())
        return tuple(row for item in items if item.status not in LIVE_ITEM and (row := _row(item, redactor)))


def _row(item: Item, redactor: Redactor) -> FactsRow | None:
    facts = facts_of(item, redactor)
    if not facts:
        return None
    return FactsRow(
        item_id=item.id,
        run_id=item.run_id,
        ordinal=item.ordinal,
        provider_thread_id=item.provider_thread_id,
        standing=any(isinstance(fact, Telling) and fact.section == "constraints" for fact in facts),
        body=dump(facts),
    )
