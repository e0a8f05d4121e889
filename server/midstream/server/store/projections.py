"""From events to the rows by which records are found. Used by the writer and by a rebuild alike."""

import sqlite3
from collections.abc import Iterable
from typing import Final, TypeAlias

from midstream.protocol.base import ThreadId
from midstream.protocol.records.thread import Thread
from midstream.server.graph.events import ItemPut, RecordPut, RequestPut, RunPut, ThreadPut
from midstream.server.graph.state import LIVE_ITEM
from midstream.server.store.codec import KINDS, decode_put

STRETCH: Final = 1_000
"""How many events a rebuild holds at once."""

Row: TypeAlias = tuple[object, ...]

UPSERT_THREAD: Final = "INSERT OR REPLACE INTO threads VALUES (?, ?, ?, ?, ?, ?, ?)"
# A plain upsert, because OR REPLACE would silently remove another item that has the same ordinal.
UPSERT_ITEM: Final = (
    "INSERT INTO items VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET position = excluded.position,"
    " ordinal = excluded.ordinal, run_id = excluded.run_id, live = excluded.live"
)
UPSERT_RECORD: Final = "INSERT OR REPLACE INTO records VALUES (?, ?, ?, ?, ?, ?)"


def project(connection: sqlite3.Connection, puts: Iterable[tuple[int, ThreadId, RecordPut]]) -> None:
    """Bring the projections up to these puts, each given with its position and thread: the newest version stays."""
    rows: dict[str, dict[object, Row]] = {UPSERT_THREAD: {}, UPSERT_ITEM: {}, UPSERT_RECORD: {}}
    for position, thread_id, put in puts:
        statement, key, row = _row(position, thread_id, put)
        rows[statement][key] = row
    for statement, newest in rows.items():
        if newest:
            connection.executemany(statement, newest.values())


def _row(position: int, thread_id: ThreadId, put: RecordPut) -> tuple[str, object, Row]:
    match put:
        case ThreadPut(record):
            return UPSERT_THREAD, record.id, _thread_row(position, record)
        case ItemPut(record):
            live, spoken = record.status in LIVE_ITEM, record.type == "userMessage"
            place = (record.thread_id, record.ordinal, record.run_id)
            return UPSERT_ITEM, record.id, (record.id, position, *place, int(live), int(spoken))
        case _:
            kind = KINDS[type(put)]
            ordinal = put.record.ordinal if isinstance(put, RunPut) else None
            pending = isinstance(put, RequestPut) and put.record.status == "pending"
            return (
                UPSERT_RECORD,
                (thread_id, kind, put.record.id),
                (thread_id, kind, put.record.id, position, ordinal, int(pending)),
            )


def _thread_row(position: int, thread: Thread) -> Row:
    return (
        thread.id,
        position,
        thread.workspace,
        thread.updated_at,
        int(thread.archived_at is not None),
        int(thread.status != "idle" or thread.queue_held),
        thread.title.casefold(),
    )


def rebuild(connection: sqlite3.Connection) -> None:
    """Make the projections anew from the log, a stretch at a time; to be called in a transaction."""
    for table in ("threads", "items", "records"):
        connection.execute(f"DELETE FROM {table}")
    position = 0
    while rows := connection.execute(
        "SELECT position, thread_id, kind, body FROM events WHERE position > ? ORDER BY position LIMIT ?",
        (position, STRETCH),
    ).fetchall():
        project(connection, ((row[0], row[1], decode_put(row[2], row[3])) for row in rows))
        position = rows[-1][0]
