"""Finding items by what was said and done in them."""

import sqlite3
from collections.abc import Callable
from typing import Final, TypeAlias

import orjson

from midstream.protocol.records.item import Item
from midstream.server.store import reader
from midstream.server.store.codec import decode_item

Snippet: TypeAlias = Callable[[Item, str | None, str], str | None]
"""Returns what to show of an item, or of a piece of its long texts, in a thread of a workspace; None where the query
is not there after all."""

# The record is searched as it is written, so a name of a field is found too: `Snippet` looks again.
FOUND: Final = f"""
    SELECT e.body, i.id, t.workspace
    FROM items i JOIN events e ON e.position = i.position JOIN threads t ON t.id = i.thread_id
    WHERE {reader.SEEN} AND (:workspace IS NULL OR t.workspace = :workspace) AND (
        instr(lower(CAST(e.body AS TEXT)), lower(:written))
        OR EXISTS (SELECT 1 FROM texts x WHERE x.item_id = i.id AND instr(lower(x.text), lower(:query)))
    ) ORDER BY i.id DESC
"""
PIECES: Final = "SELECT text FROM texts WHERE item_id = ? AND instr(lower(text), lower(?)) ORDER BY position"


def search(
    connection: sqlite3.Connection, query: str, workspace: str | None, limit: int, snippet: Snippet
) -> tuple[tuple[Item, str], ...]:
    """Return items that hold a query, newest first, each with its snippet; the case of ASCII letters does not count."""
    written = orjson.dumps(query)[1:-1].decode()
    values = {"workspace": workspace, "written": written, "query": query}
    found: list[tuple[Item, str]] = []
    for body, item_id, where in connection.execute(FOUND, values):
        item = decode_item(body)
        pieces = (row[0] for row in connection.execute(PIECES, (item_id, query)))
        shown = snippet(item, None, where) or next(filter(None, (snippet(item, one, where) for one in pieces)), None)
        if shown is not None:
            found.append((item, shown))
        if len(found) == limit:
            break
    return tuple(found)
