"""Questions about records, each a function over a plain connection."""

import sqlite3
from typing import Final, TypeVar

import attrs

from midstream.protocol.base import HandoffId, ThreadId
from midstream.protocol.records.checkpoint import Checkpoint
from midstream.protocol.records.handoff import ContextHandoff, ContextTransfer, HandoffInfo
from midstream.protocol.records.provider import ProviderSession, ProviderThread
from midstream.protocol.records.read import ThreadRead
from midstream.protocol.records.request import RuntimeRequest
from midstream.protocol.records.run import Run
from midstream.protocol.records.thread import Thread
from midstream.server.graph.events import Committed, HandoffContent
from midstream.server.store.codec import RECORD_KINDS, decode, decode_effect, decode_put
from midstream.server.store.items import live_items
from midstream.server.store.model import Receipt, Snapshot, StoredEffect
from midstream.server.store.texts import growing_texts

T = TypeVar("T")

SEEN: Final = "t.id NOT IN (SELECT thread_id FROM deleted_threads)"
FORKS: Final = """
    SELECT t.id FROM threads t JOIN events e ON e.position = t.position
    WHERE json_extract(CAST(e.body AS TEXT), '$.forkedFrom.threadId') = ? ORDER BY t.id
"""
THREAD: Final = "SELECT e.body, t.updated_at, t.id FROM threads t JOIN events e ON e.position = t.position"
RECORD: Final = "SELECT e.body FROM records r JOIN events e ON e.position = r.position"
LASTS: Final = """
    SELECT (SELECT max(sequence) FROM events WHERE thread_id = :thread),
        (SELECT coalesce(max(run_ordinal), 0) FROM records WHERE thread_id = :thread AND kind = 'run'),
        (SELECT coalesce(max(ordinal), 0) FROM items WHERE thread_id = :thread)
"""


def newest_id(connection: sqlite3.Connection) -> str | None:
    """Return the id that was made last, whatever it names."""
    kinds = [kind for kind in RECORD_KINDS.values() if kind not in ("thread", "item")]
    # Each is one step in an index, however many there are.
    newest = ["SELECT max(id) AS id FROM threads", "SELECT max(id) FROM items"]
    newest += ["SELECT max(id) FROM records WHERE kind = ?"] * len(kinds)
    found = f"SELECT id FROM ({' UNION ALL '.join(newest)}) WHERE id IS NOT NULL"
    row = connection.execute(f"{found} ORDER BY substr(id, 5) DESC LIMIT 1", kinds).fetchone()
    return None if row is None else row[0]


def thread(connection: sqlite3.Connection, thread_id: ThreadId, *, deleted: bool = False) -> Thread | None:
    """Return a thread; with `deleted` also one that is kept for its forks alone."""
    seen = "" if deleted else f" AND {SEEN}"
    row = connection.execute(f"{THREAD} WHERE t.id = ?{seen}", (thread_id,)).fetchone()
    return None if row is None else decode(row[0], Thread)


def threads(
    connection: sqlite3.Connection,
    workspace: str | None,
    archived: bool,
    query: str | None,
    limit: int,
    cursor: str | None,
) -> tuple[tuple[Thread, ...], str | None]:
    """Return a page of threads, newest first, and the cursor of the next."""
    conditions = ["t.archived = ?", SEEN]
    values: list[str | int] = [int(archived)]
    if workspace is not None:
        conditions.append("t.workspace = ?")
        values.append(workspace)
    if query:
        conditions.append("instr(t.search, ?)")
        values.append(query.casefold())
    if cursor is not None:
        updated_at, _, thread_id = cursor.partition("/")
        conditions.append("(t.updated_at, t.id) < (?, ?)")
        values.extend((updated_at, thread_id))
    statement = f"{THREAD} WHERE {' AND '.join(conditions)} ORDER BY t.updated_at DESC, t.id DESC LIMIT ?"
    rows = connection.execute(statement, (*values, limit + 1)).fetchall()
    shown = rows[:limit]
    more = f"{shown[-1][1]}/{shown[-1][2]}" if len(rows) > limit else None
    return tuple(decode(row[0], Thread) for row in shown), more


def forks(connection: sqlite3.Connection, thread_id: ThreadId) -> tuple[ThreadId, ...]:
    """Return the threads whose point is in a thread, oldest first."""
    return tuple(row[0] for row in connection.execute(FORKS, (thread_id,)))


def live_threads(connection: sqlite3.Connection) -> tuple[ThreadId, ...]:
    """Return the threads that are not idle, or whose queue is held."""
    return tuple(
        row[0] for row in connection.execute(f"SELECT t.id FROM threads t WHERE t.live AND {SEEN} ORDER BY t.id")
    )


def record(connection: sqlite3.Connection, cls: type[T], record_id: str) -> T | None:
    """Return a record of any class but Thread and Item."""
    row = connection.execute(f"{RECORD} WHERE r.kind = ? AND r.id = ?", (RECORD_KINDS[cls], record_id)).fetchone()
    return None if row is None else decode(row[0], cls)


def records(connection: sqlite3.Connection, cls: type[T], thread_id: ThreadId) -> tuple[T, ...]:
    """Return a thread's records of a class, oldest first."""
    rows = connection.execute(
        f"{RECORD} WHERE r.thread_id = ? AND r.kind = ? ORDER BY r.id", (thread_id, RECORD_KINDS[cls])
    )
    return tuple(decode(row[0], cls) for row in rows)


def pending_requests(connection: sqlite3.Connection, thread_id: ThreadId | None) -> tuple[RuntimeRequest, ...]:
    """Return the requests that wait for an answer, oldest first."""
    rows = connection.execute(
        f"{RECORD} WHERE r.pending AND r.kind = 'request' AND (? IS NULL OR r.thread_id = ?) ORDER BY r.id",
        (thread_id, thread_id),
    )
    return tuple(decode(row[0], RuntimeRequest) for row in rows)


def handoff(connection: sqlite3.Connection, handoff_id: HandoffId) -> ContextHandoff | None:
    """Return a whole handoff."""
    info = record(connection, HandoffInfo, handoff_id)
    row = connection.execute("SELECT body FROM handoff_contents WHERE handoff_id = ?", (handoff_id,)).fetchone()
    if info is None or row is None:
        return None
    content = decode(row[0], HandoffContent)
    return ContextHandoff(**attrs.asdict(info, recurse=False), **attrs.asdict(content, recurse=False))


def receipt(connection: sqlite3.Connection, command_id: str) -> Receipt | None:
    """Return what a command was answered."""
    row = connection.execute(
        "SELECT method, params_sha256, answer FROM receipts WHERE command_id = ?", (command_id,)
    ).fetchone()
    if row is None:
        return None
    method, params_sha256, answer = row
    return Receipt(command_id=command_id, method=method, params_sha256=params_sha256, answer=answer)


def pending_effects(connection: sqlite3.Connection) -> tuple[StoredEffect, ...]:
    """Return the effects that were not carried out, oldest first."""
    rows = connection.execute("SELECT id, thread_id, body FROM effects ORDER BY id")
    return tuple(StoredEffect(effect_id, thread_id, decode_effect(body)) for effect_id, thread_id, body in rows)


def events(connection: sqlite3.Connection, thread_id: ThreadId, after: int, limit: int) -> tuple[Committed, ...]:
    """Return a thread's record events after a sequence, in order."""
    rows = connection.execute(
        "SELECT position, sequence, command_id, kind, body FROM events "
        "WHERE thread_id = ? AND sequence > ? ORDER BY sequence LIMIT ?",
        (thread_id, after, limit),
    )
    return tuple(
        Committed(position, thread_id, sequence, command_id, decode_put(kind, body))
        for position, sequence, command_id, kind, body in rows
    )


def snapshot(connection: sqlite3.Connection, thread_id: ThreadId, *, deleted: bool = False) -> Snapshot | None:
    """Return a thread as it stands; with `deleted` also one that is kept for its forks alone."""
    found = thread(connection, thread_id, deleted=deleted)
    if found is None:
        return None
    sequence, run_ordinal, item_ordinal = connection.execute(LASTS, {"thread": thread_id}).fetchone()
    live = live_items(connection, thread_id)
    return Snapshot(
        read=ThreadRead(
            thread=found,
            runs=records(connection, Run, thread_id),
            provider_threads=records(connection, ProviderThread, thread_id),
            transfers=records(connection, ContextTransfer, thread_id),
            handoffs=records(connection, HandoffInfo, thread_id),
            checkpoints=records(connection, Checkpoint, thread_id),
            requests=records(connection, RuntimeRequest, thread_id),
            sequence=sequence,
        ),
        sessions=records(connection, ProviderSession, thread_id),
        live_items=live,
        texts={key: text for item in live for key, text in growing_texts(connection, item.id).items()},
        last_run_ordinal=run_ordinal,
        last_item_ordinal=item_ordinal,
    )
