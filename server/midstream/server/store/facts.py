"""Reading what handoffs may tell of items."""

import sqlite3
from typing import Final

from midstream.protocol.base import ItemId, RunId, ThreadId
from midstream.server.store.items import AT_ONCE
from midstream.server.store.model import FactsRow

ROW: Final = "SELECT item_id, run_id, ordinal, provider_thread_id, standing, body FROM item_facts"


def facts_version(connection: sqlite3.Connection, thread_id: ThreadId) -> str | None:
    """Return the version of the rules that made a thread's facts, None where none were made."""
    row = connection.execute("SELECT version FROM facts_versions WHERE thread_id = ?", (thread_id,)).fetchone()
    return None if row is None else str(row[0])


def facts_of_runs(connection: sqlite3.Connection, run_ids: tuple[RunId, ...]) -> tuple[FactsRow, ...]:
    """Return the facts of all finished items of these runs, in the order of the items' ordinals."""
    return _named(connection, "run_id", run_ids)


def facts_of_items(connection: sqlite3.Connection, item_ids: tuple[ItemId, ...]) -> tuple[FactsRow, ...]:
    """Return the facts of these items, in the order of their ordinals; items without any are left out."""
    return _named(connection, "item_id", item_ids)


def standing_facts(connection: sqlite3.Connection, thread_id: ThreadId) -> tuple[FactsRow, ...]:
    """Return the facts of a thread's messages that hold a constraint, in order."""
    rows = connection.execute(f"{ROW} WHERE thread_id = ? AND standing ORDER BY ordinal", (thread_id,))
    return tuple(_row(row) for row in rows)


def _named(connection: sqlite3.Connection, column: str, ids: tuple[str, ...]) -> tuple[FactsRow, ...]:
    found: list[FactsRow] = []
    for start in range(0, len(ids), AT_ONCE):
        some = ids[start : start + AT_ONCE]
        rows = connection.execute(f"{ROW} WHERE {column} IN ({', '.join('?' * len(some))})", some)
        found.extend(_row(row) for row in rows)
    found.sort(key=lambda row: row.ordinal)
    return tuple(found)


def _row(row: tuple[str, str | None, int, str | None, int, bytes]) -> FactsRow:
    item_id, run_id, ordinal, provider_thread_id, standing, body = row
    return FactsRow(
        item_id=item_id,
        run_id=run_id,
        ordinal=ordinal,
        provider_thread_id=provider_thread_id,
        standing=bool(standing),
        body=body,
    )
