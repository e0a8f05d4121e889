"""Questions about a store as a whole, each a function over a plain connection."""

import sqlite3
from collections import defaultdict
from collections.abc import Mapping
from typing import Final

from attrs import frozen

from midstream.protocol.base import ProviderKind, ThreadId
from midstream.protocol.records.run import Run
from midstream.protocol.records.thread import Thread
from midstream.server.graph.effects import Effect
from midstream.server.store import reader
from midstream.server.store.codec import decode

FAULTS_SHOWN: Final = 5
"""How many faults SQLite looks for before it gives up."""
NEWEST_FIRST: Final = (
    f"{reader.THREAD} WHERE {reader.SEEN} AND t.archived = ? AND (? IS NULL OR t.workspace = ?)"
    " ORDER BY t.updated_at DESC, t.id DESC"
)
RUNS: Final = "SELECT thread_id, count(*) FROM records WHERE kind = 'run' GROUP BY thread_id"
# JSON is kept as a blob, which some versions of SQLite would take for their own binary form.
PROVIDERS: Final = """
    SELECT r.thread_id, json_extract(CAST(e.body AS TEXT), '$.provider')
    FROM records r JOIN events e ON e.position = r.position WHERE r.kind = 'providerThread' ORDER BY r.id
"""
STRAYS: Final = """
    SELECT (SELECT count(*) FROM threads t WHERE NOT EXISTS (SELECT 1 FROM events e WHERE e.position = t.position))
        + (SELECT count(*) FROM items i WHERE NOT EXISTS (SELECT 1 FROM events e WHERE e.position = i.position))
        + (SELECT count(*) FROM records r WHERE NOT EXISTS (SELECT 1 FROM events e WHERE e.position = r.position))
        + (SELECT count(DISTINCT thread_id) FROM events WHERE thread_id NOT IN (SELECT id FROM threads))
"""
CHECKPOINTS: Final = """
    SELECT r.thread_id, r.id, json_extract(CAST(e.body AS TEXT), '$.ref')
    FROM records r JOIN events e ON e.position = r.position
    WHERE r.kind = 'checkpoint' AND json_extract(CAST(e.body AS TEXT), '$.status') = 'ready'
"""
IMAGES: Final = """
    SELECT i.thread_id, json_extract(a.value, '$.sha256')
    FROM items i JOIN events e ON e.position = i.position, json_each(CAST(e.body AS TEXT), '$.attachments') a
    WHERE i.spoken AND json_extract(a.value, '$.type') = 'image'
    UNION
    SELECT r.thread_id, json_extract(a.value, '$.sha256')
    FROM records r JOIN events e ON e.position = r.position,
        json_each(CAST(e.body AS TEXT), '$.message.attachments') a
    WHERE r.kind = 'run' AND json_extract(a.value, '$.type') = 'image'
"""
ROWS: Final = """
    SELECT thread_id, sum(bytes) FROM (
        SELECT thread_id, length(body) AS bytes FROM events
        UNION ALL
        SELECT r.thread_id, length(h.body) FROM handoff_contents h
        JOIN records r ON r.kind = 'handoff' AND r.id = h.handoff_id
    ) GROUP BY thread_id
"""
TEXTS: Final = """
    SELECT i.thread_id, sum(length(CAST(t.text AS BLOB)))
    FROM texts t JOIN items i ON i.id = t.item_id GROUP BY i.thread_id
"""


@frozen(kw_only=True)
class ThreadEntry:
    """A thread in a list: how many runs it has, and which providers took part, first one first."""

    thread: Thread
    runs: int
    providers: tuple[ProviderKind, ...]


@frozen(kw_only=True)
class LiveThread:
    """A thread that is not idle, or whose queue is held: its runs, and the effects that wait."""

    thread: Thread
    runs: tuple[Run, ...]
    effects: tuple[Effect, ...]


@frozen(kw_only=True)
class NamedCheckpoint:
    """A checkpoint that the store names; `ref` is that of the checkpoint store."""

    thread_id: ThreadId
    id: str
    ref: str


@frozen(kw_only=True)
class StoredBytes:
    """What a thread takes in the file: bytes of its records, and of its long texts."""

    thread_id: ThreadId
    rows: int
    texts: int


def version(connection: sqlite3.Connection) -> int:
    """Return the version of the tables."""
    (found,) = connection.execute("PRAGMA user_version").fetchone()
    return int(found)


def damage(connection: sqlite3.Connection) -> tuple[str, ...]:
    """Return what is wrong with the file, in SQLite's words."""
    said = [row[0] for row in connection.execute(f"PRAGMA quick_check({FAULTS_SHOWN})")]
    return () if said == ["ok"] else tuple(said)


def strays(connection: sqlite3.Connection) -> int:
    """Return how many rows of the projections lead to no event, and how many threads have no row."""
    (found,) = connection.execute(STRAYS).fetchone()
    return int(found)


def threads(connection: sqlite3.Connection, workspace: str | None, archived: bool) -> tuple[ThreadEntry, ...]:
    """Return threads, newest first."""
    runs = dict(connection.execute(RUNS).fetchall())
    providers: defaultdict[ThreadId, dict[ProviderKind, None]] = defaultdict(dict)
    for thread_id, provider in connection.execute(PROVIDERS):
        providers[thread_id][provider] = None
    rows = connection.execute(NEWEST_FIRST, (int(archived), workspace, workspace))
    found = (decode(row[0], Thread) for row in rows)
    return tuple(ThreadEntry(thread=one, runs=runs.get(one.id, 0), providers=tuple(providers[one.id])) for one in found)


def live_threads(connection: sqlite3.Connection) -> tuple[LiveThread, ...]:
    """Return the threads that are not idle, or whose queue is held."""
    effects = reader.pending_effects(connection)
    live = []
    for thread_id in reader.live_threads(connection):
        thread = reader.thread(connection, thread_id)
        assert thread is not None
        waiting = tuple(stored.effect for stored in effects if stored.thread_id == thread_id)
        live.append(LiveThread(thread=thread, runs=reader.records(connection, Run, thread_id), effects=waiting))
    return tuple(live)


def pending_effects(connection: sqlite3.Connection) -> int:
    """Return how many effects wait to be carried out."""
    (found,) = connection.execute("SELECT count(*) FROM effects").fetchone()
    return int(found)


def checkpoints(connection: sqlite3.Connection) -> tuple[NamedCheckpoint, ...]:
    """Return the checkpoints that should be there."""
    return tuple(
        NamedCheckpoint(thread_id=thread_id, id=checkpoint_id, ref=ref)
        for thread_id, checkpoint_id, ref in connection.execute(CHECKPOINTS)
    )


def images(connection: sqlite3.Connection) -> Mapping[str, frozenset[ThreadId]]:
    """Return which threads use an attached image."""
    users: defaultdict[str, set[ThreadId]] = defaultdict(set)
    for thread_id, sha256 in connection.execute(IMAGES):
        users[sha256].add(thread_id)
    return {sha256: frozenset(threads) for sha256, threads in users.items()}


def sizes(connection: sqlite3.Connection) -> tuple[StoredBytes, ...]:
    """Return what each thread takes in the file."""
    texts = dict(connection.execute(TEXTS).fetchall())
    return tuple(
        StoredBytes(thread_id=thread_id, rows=rows, texts=texts.get(thread_id, 0))
        for thread_id, rows in connection.execute(ROWS)
    )
