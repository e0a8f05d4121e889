"""Putting items: their place in the thread, their times, and their long texts."""

from typing import Final, TypedDict

import attrs

from midstream.protocol.base import ItemId, ProviderThreadId, RunId, ThreadId, Time
from midstream.protocol.records.item import (
    AgentMessageItem,
    CommandItem,
    CompactionItem,
    ErrorItem,
    FileChangeItem,
    Item,
    ItemStatus,
    NoticeItem,
    PlanItem,
    ReasoningItem,
    Shortened,
    SubagentItem,
    ToolItem,
    UserMessageItem,
)
from midstream.protocol.records.run import Run
from midstream.server.graph.changes import Changes
from midstream.server.graph.events import ItemPut, TextAppended
from midstream.server.graph.state import LIVE_ITEM, TextKey, ThreadState
from midstream.server.graph.texts import SHOWN, GrowingText

LONG_FIELDS: Final[dict[type[object], tuple[str, ...]]] = {
    UserMessageItem: ("text",),
    AgentMessageItem: ("text",),
    ReasoningItem: ("text",),
    PlanItem: ("markdown",),
    CommandItem: ("command", "output"),
    ToolItem: ("input", "output"),
    SubagentItem: ("prompt", "result"),
    CompactionItem: ("summary",),
    NoticeItem: ("message",),
    ErrorItem: ("message",),
}
SPOKEN: Final = (AgentMessageItem, ReasoningItem, PlanItem)


class ItemFields(TypedDict):
    """What all items share, before the graph gives an item its place and its times."""

    id: ItemId
    thread_id: ThreadId
    run_id: RunId
    parent_item_id: ItemId | None
    ordinal: int
    status: ItemStatus
    provider_thread_id: ProviderThreadId | None
    native_ref: str | None
    started_at: Time
    completed_at: None


def new_item(
    changes: Changes, run: Run, status: ItemStatus = "completed", lived_by: ProviderThreadId | None = None
) -> ItemFields:
    """Return the shared fields of a new item of a run, lived by a provider thread or by none."""
    return {
        "id": changes.new_id("itm"),
        "thread_id": run.thread_id,
        "run_id": run.id,
        "parent_item_id": None,
        "ordinal": 0,
        "status": status,
        "provider_thread_id": lived_by,
        "native_ref": None,
        "started_at": changes.now,
        "completed_at": None,
    }


def put_item(changes: Changes, item: Item, run_id: RunId | None) -> None:
    """Put an item's new version: a new one gets its place and time, one that ended keeps its end."""
    live = changes.state.live_items.get(item.id)
    known = live or changes.state.active_items.get(item.id)
    item = attrs.evolve(
        item,
        thread_id=changes.state.thread.id,
        run_id=live.run_id if live else run_id,
        ordinal=known.ordinal if known else changes.state.last_item_ordinal + 1,
        started_at=known.started_at if known else changes.now,
        completed_at=None if item.status in LIVE_ITEM else changes.now,
    )
    item, texts = settle_texts(changes.state, item)
    # The record first: it replaces what a client shows, and the text behind it then adds nothing.
    changes.put(ItemPut(item))
    for text in texts:
        changes.put(text)


def append_text(changes: Changes, item: Item, field: str, text: str) -> None:
    """Add text to a growing field of a live item; what the record holds of it already goes first."""
    grown = changes.state.texts.get((item.id, field, None))
    if grown is None:
        text = (getattr(item, field, None) or "") + text
    changes.put(TextAppended(item.id, field, None, grown.length if grown else 0, text))
    if changes.state.texts[(item.id, field, None)].due:
        settled, _ = settle_texts(changes.state, item)
        changes.put(ItemPut(settled))


def waiting_words(changes: Changes, attempt: int) -> tuple[UserMessageItem, ...]:
    """Return the user's words that were given to an attempt, or an earlier one, and that nobody took yet."""
    return tuple(
        item
        for item in changes.state.live_items.values()
        if isinstance(item, UserMessageItem) and (item.attempt or 0) <= attempt
    )


def close_item(changes: Changes, item: Item, status: ItemStatus) -> None:
    """End a live item as it stands."""
    put_item(changes, attrs.evolve(item, status=status), item.run_id)


def agents_items(changes: Changes) -> tuple[Item, ...]:
    """Return the items that have not ended, but for the user's words, in the order of their ordinals."""
    live = (item for item in changes.state.live_items.values() if not isinstance(item, UserMessageItem))
    return tuple(sorted(live, key=lambda item: item.ordinal))


def close_live_items(changes: Changes, status: ItemStatus) -> None:
    """End what a turn left open: words are as complete as the turn, other things were interrupted."""
    for item in agents_items(changes):
        spoken = isinstance(item, SPOKEN)
        close_item(changes, item, status if spoken or status != "completed" else "interrupted")


def as_it_stands(state: ThreadState, item: Item) -> Item:
    """Return a live item with its growing text so far, as a reader should see it."""
    settled, _ = settle_texts(state, item)
    return settled


def recorded_length(item: Item, field: str) -> int:
    """Return how long a field is of which an item's record shows all, or the ends."""
    shown: str = getattr(item, field, None) or ""
    mark = next((mark for mark in item.shortened or () if mark.field == field), None)
    return len(shown) if mark is None else mark.tail_offset + len(shown) - mark.head_length


def settle_texts(state: ThreadState, item: Item) -> tuple[Item, tuple[TextAppended, ...]]:
    """Return an item as its record shows it, and what of its long texts was not told yet."""
    marks: list[Shortened] = []
    texts: list[TextAppended] = []
    fields: dict[str, str] = {}
    for field in LONG_FIELDS.get(type(item), ()):
        whole = getattr(item, field)
        settled = _settle(state, (item.id, field, None), whole if isinstance(whole, str) else None, marks, texts)
        if settled is not None:
            fields[field] = settled
    if isinstance(item, FileChangeItem):
        item = attrs.evolve(
            item,
            changes=tuple(
                attrs.evolve(change, diff=_settle(state, (item.id, "diff", change.path), change.diff, marks, texts))
                for change in item.changes
            ),
        )
    return attrs.evolve(item, **fields, shortened=tuple(marks) or None), tuple(texts)  # type: ignore[arg-type]


def _settle(
    state: ThreadState, key: TextKey, whole: str | None, marks: list[Shortened], texts: list[TextAppended]
) -> str | None:
    """Return a field as its record shows it; what of a long one was not told yet is added to `texts`."""
    grown = state.texts.get(key, GrowingText())
    told = grown.length > 0
    new = grown.rest_of(whole) if told else whole if whole is not None and len(whole) > SHOWN else ""
    if not told and not new:
        return whole
    if new:
        texts.append(TextAppended(*key, grown.length, new))
        grown = grown.appended(new)
    _, field, path = key
    text, mark = grown.shown(field, path)
    marks.extend([mark] if mark else [])
    return text
