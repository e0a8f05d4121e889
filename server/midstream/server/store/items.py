"""Reading items: single ones, those of runs, and pages of a thread."""

import sqlite3
from typing import Final, Literal, TypeAlias

import orjson
from attrs import frozen

from midstream.protocol.base import ItemId, RunId, ThreadId
from midstream.protocol.records.item import Item
from midstream.server.graph.state import Lived, lived
from midstream.server.store.codec import decode_item

Scopes: TypeAlias = tuple[tuple[ThreadId, int | None], ...]
"""Threads whose items are read, each up to and with an ordinal, or whole: a fork, and what it inherits."""

ITEM: Final = "SELECT e.body, i.ordinal FROM items i JOIN events e ON e.position = i.position"
AT_ONCE: Final = 500
"""How many ids one statement names."""
START: Final = -1
END: Final = 2**62
"""Ordinals below and above all."""


@frozen(kw_only=True)
class ItemAnchor:
    """Where a page lies: after or before an item, around it and with it, at the end; otherwise at the start."""

    after: ItemId | None = None
    before: ItemId | None = None
    around: ItemId | None = None
    last: bool = False


@frozen(kw_only=True)
class Page:
    """A page of items in order, and the ids that lead to its neighbours; None where there is none."""

    items: tuple[Item, ...]
    previous_item_id: ItemId | None
    next_item_id: ItemId | None


def item(connection: sqlite3.Connection, item_id: ItemId) -> Item | None:
    """Return an item."""
    row = connection.execute(f"{ITEM} WHERE i.id = ?", (item_id,)).fetchone()
    return None if row is None else decode_item(row[0])


def lived_items(connection: sqlite3.Connection, run_id: RunId) -> dict[ItemId, Lived]:
    """Return where a run's items stand; each is read for itself, so that a long run is never held whole."""
    rows = connection.execute(f"{ITEM} WHERE i.run_id = ?", (run_id,))
    return {one.id: lived(one) for one in (decode_item(row[0]) for row in rows)}


def items_of_runs(connection: sqlite3.Connection, run_ids: tuple[RunId, ...]) -> tuple[Item, ...]:
    """Return all items of these runs, in the order of their ordinals."""
    return _named(connection, "i.run_id", run_ids)


def last_ordinal(connection: sqlite3.Connection, run_id: RunId) -> tuple[ItemId, int] | None:
    """Return a run's last item and its ordinal; None where it has none."""
    row = connection.execute(
        "SELECT id, ordinal FROM items WHERE run_id = ? ORDER BY ordinal DESC LIMIT 1", (run_id,)
    ).fetchone()
    return None if row is None else (row[0], row[1])


def live_items(connection: sqlite3.Connection, thread_id: ThreadId) -> tuple[Item, ...]:
    """Return a thread's items that have not ended, in order."""
    rows = connection.execute(f"{ITEM} WHERE i.thread_id = ? AND i.live ORDER BY i.ordinal", (thread_id,))
    return tuple(decode_item(row[0]) for row in rows)


def page(
    connection: sqlite3.Connection,
    scopes: Scopes,
    run_id: RunId | None,
    anchor: ItemAnchor,
    limit: int,
    without: frozenset[RunId],
) -> Page | None:
    """Return a page of items, none of the runs `without`; None where the anchor is no item of these threads."""
    listing = _Listing(connection, scopes, run_id, without)
    match anchor:
        case ItemAnchor(after=str(item_id)):
            place = listing.place(item_id)
            return None if place is None else listing.after(place, limit)
        case ItemAnchor(before=str(item_id)):
            place = listing.place(item_id)
            return None if place is None else listing.before(place, limit)
        case ItemAnchor(around=str(item_id)):
            place = listing.place(item_id)
            return None if place is None else listing.around(place, limit)
        case ItemAnchor(last=True):
            return listing.before(END, limit)
        case _:
            return listing.after(START, limit)


class _Listing:
    """The items of some threads, in one order. Each thread is asked for itself, so that its index is followed."""

    def __init__(
        self, connection: sqlite3.Connection, scopes: Scopes, run_id: RunId | None, without: frozenset[RunId]
    ) -> None:
        self._connection = connection
        self._scopes = scopes
        # The plus keeps SQLite from walking the whole thread for the items of one run.
        self._where = "i.thread_id = ?" if run_id is None else "i.run_id = ? AND +i.thread_id = ?"
        self._run = () if run_id is None else (run_id,)
        self._without = orjson.dumps(sorted(without)).decode()

    def place(self, item_id: ItemId) -> int | None:
        row = self._connection.execute("SELECT thread_id, ordinal FROM items WHERE id = ?", (item_id,)).fetchone()
        if row is None:
            return None
        thread_id, ordinal = row
        listed = any(scope == thread_id and (upto is None or ordinal <= upto) for scope, upto in self._scopes)
        return ordinal if listed else None

    def after(self, place: int, limit: int) -> Page:
        found = self._rows(place, END, "ASC", limit + 1)
        shown = found[:limit]
        earlier = bool(shown) and bool(self._rows(START, shown[0].ordinal, "DESC", 1))
        return _page(shown, earlier=earlier, later=len(found) > limit)

    def before(self, place: int, limit: int) -> Page:
        found = self._rows(START, place, "DESC", limit + 1)
        shown = found[:limit][::-1]
        later = bool(shown) and bool(self._rows(shown[-1].ordinal, END, "ASC", 1))
        return _page(shown, earlier=len(found) > limit, later=later)

    def around(self, place: int, limit: int) -> Page:
        earlier = self._rows(START, place, "DESC", limit // 2)
        return self.after((earlier[-1].ordinal if earlier else place) - 1, limit)

    def _rows(self, above: int, below: int, order: Literal["ASC", "DESC"], limit: int) -> list[Item]:
        skipped = "coalesce(i.run_id NOT IN (SELECT value FROM json_each(?)), 1)"
        statement = f"{ITEM} WHERE {self._where} AND i.ordinal > ? AND i.ordinal < ? AND {skipped}"
        statement += f" ORDER BY i.ordinal {order} LIMIT ?"
        rows: list[tuple[bytes, int]] = []
        for thread_id, upto in self._scopes:
            end = below if upto is None else min(below, upto + 1)
            rows.extend(self._connection.execute(statement, (*self._run, thread_id, above, end, self._without, limit)))
        rows.sort(key=lambda row: row[1], reverse=order == "DESC")
        return [decode_item(row[0]) for row in rows[:limit]]


def _page(shown: list[Item], *, earlier: bool, later: bool) -> Page:
    return Page(
        items=tuple(shown),
        previous_item_id=shown[0].id if earlier else None,
        next_item_id=shown[-1].id if later else None,
    )


def _named(connection: sqlite3.Connection, column: str, ids: tuple[str, ...]) -> tuple[Item, ...]:
    found: list[Item] = []
    for start in range(0, len(ids), AT_ONCE):
        some = ids[start : start + AT_ONCE]
        rows = connection.execute(f"{ITEM} WHERE {column} IN ({', '.join('?' * len(some))})", some)
        found.extend(decode_item(row[0]) for row in rows)
    return tuple(sorted(found, key=lambda one: one.ordinal))
