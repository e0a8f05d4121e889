"""Reading the long texts of items: pieces in a row, counted in code points."""

import sqlite3
from typing import Final

from midstream.protocol.base import ItemId
from midstream.server.graph.state import TextKey
from midstream.server.graph.texts import KEPT, GrowingText

PIECES: Final = (
    "SELECT text FROM texts WHERE item_id = ? AND field = ? AND path = ? AND offset >= ? AND offset < ? ORDER BY offset"
)
PIECE_OF: Final = "SELECT max(offset) FROM texts WHERE item_id = ? AND field = ? AND path = ? AND offset <= ?"
LENGTHS: Final = """
    SELECT t.field, t.path, max(t.offset + t.length),
        max(CASE WHEN t.position < i.position THEN t.offset + t.length ELSE 0 END)
    FROM texts t JOIN items i ON i.id = t.item_id WHERE t.item_id = ? GROUP BY t.field, t.path
"""
END: Final = 2**62


def read_text(
    connection: sqlite3.Connection, item_id: ItemId, field: str, path: str | None, offset: int, limit: int | None
) -> str | None:
    """Return a stretch of a text from `offset` on, or None where the item has no such text apart from its record."""
    key = (item_id, field, path or "")
    (first,) = connection.execute(PIECE_OF, (*key, offset)).fetchone()
    if first is None:
        return None
    end = END if limit is None else offset + limit
    text = "".join(row[0] for row in connection.execute(PIECES, (*key, first, end)))
    return text[offset - first : end - first]


def growing_texts(connection: sqlite3.Connection, item_id: ItemId) -> dict[TextKey, GrowingText]:
    """Return what a thread's state holds of an item's texts."""
    found = {}
    for field, stored_path, length, recorded in connection.execute(LENGTHS, (item_id,)).fetchall():
        path = stored_path or None
        found[(item_id, field, path)] = GrowingText(
            length=length,
            head=read_text(connection, item_id, field, path, 0, KEPT) or "",
            tail=read_text(connection, item_id, field, path, max(0, length - KEPT), KEPT) or "",
            recorded=recorded,
        )
    return found
