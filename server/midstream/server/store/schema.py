"""The tables. The log and what stands beside it are kept as written; projections can be made anew from the log.

A projection's row holds what is searched by and the `position` of the newest version in the log: the
record itself is stored once.
"""

from typing import Final

LOG: Final = (
    """
    CREATE TABLE events (
        position INTEGER PRIMARY KEY,
        thread_id TEXT NOT NULL,
        sequence INTEGER NOT NULL,
        command_id TEXT,
        kind TEXT NOT NULL,
        body BLOB NOT NULL,
        UNIQUE (thread_id, sequence)
    ) STRICT
    """,
    # Offset and length count code points: SQLite's own length() ends at a NUL.
    """
    CREATE TABLE texts (
        position INTEGER PRIMARY KEY,
        item_id TEXT NOT NULL,
        field TEXT NOT NULL,
        path TEXT NOT NULL,
        offset INTEGER NOT NULL,
        length INTEGER NOT NULL,
        text TEXT NOT NULL,
        UNIQUE (item_id, field, path, offset)
    ) STRICT
    """,
    "CREATE TABLE handoff_contents (handoff_id TEXT PRIMARY KEY, body BLOB NOT NULL) STRICT",
    """
    CREATE TABLE receipts (
        command_id TEXT PRIMARY KEY,
        method TEXT NOT NULL,
        params_sha256 TEXT NOT NULL,
        answer BLOB NOT NULL
    ) STRICT
    """,
    # AUTOINCREMENT, because an id that was done must never come to mean another effect.
    """
    CREATE TABLE effects (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        thread_id TEXT NOT NULL,
        body BLOB NOT NULL
    ) STRICT
    """,
)

RECEIPTS_BY_THREAD: Final = (
    "ALTER TABLE receipts ADD COLUMN thread_id TEXT NOT NULL DEFAULT ''",
    "UPDATE receipts SET thread_id = known.thread_id"
    " FROM (SELECT DISTINCT command_id, thread_id FROM events WHERE command_id IS NOT NULL) AS known"
    " WHERE known.command_id = receipts.command_id",
    "CREATE INDEX receipts_of_thread ON receipts (thread_id)",
)
"""Tells whose receipts they are, so that a forgotten thread is quoted by none."""

PROJECTIONS: Final = (
    """
    CREATE TABLE threads (
        id TEXT PRIMARY KEY,
        position INTEGER NOT NULL,
        workspace TEXT NOT NULL,
        updated_at TEXT NOT NULL,
        archived INTEGER NOT NULL,
        live INTEGER NOT NULL,
        search TEXT NOT NULL
    ) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX threads_newest ON threads (updated_at, id)",
    "CREATE INDEX threads_of_workspace ON threads (workspace, updated_at, id)",
    "CREATE INDEX threads_live ON threads (id) WHERE live",
    """
    CREATE TABLE items (
        id TEXT PRIMARY KEY,
        position INTEGER NOT NULL,
        thread_id TEXT NOT NULL,
        ordinal INTEGER NOT NULL,
        run_id TEXT,
        live INTEGER NOT NULL,
        spoken INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID
    """,
    "CREATE UNIQUE INDEX items_of_thread ON items (thread_id, ordinal)",
    "CREATE INDEX items_of_run ON items (run_id, ordinal)",
    "CREATE INDEX items_spoken ON items (thread_id, ordinal) WHERE spoken",
    "CREATE INDEX items_live ON items (thread_id, ordinal) WHERE live",
    # A provider session belongs to every thread that was told of it, so the thread is part of the key.
    """
    CREATE TABLE records (
        thread_id TEXT NOT NULL,
        kind TEXT NOT NULL,
        id TEXT NOT NULL,
        position INTEGER NOT NULL,
        run_ordinal INTEGER,
        pending INTEGER NOT NULL,
        PRIMARY KEY (thread_id, kind, id)
    ) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX records_by_id ON records (kind, id)",
    "CREATE INDEX records_pending ON records (kind, id) WHERE pending",
)

FACTS: Final = (
    # What handoffs may tell of finished items, made by rules of a version. No projection: the log does not hold it.
    """
    CREATE TABLE item_facts (
        item_id TEXT PRIMARY KEY,
        thread_id TEXT NOT NULL,
        run_id TEXT,
        ordinal INTEGER NOT NULL,
        provider_thread_id TEXT,
        standing INTEGER NOT NULL,
        body BLOB NOT NULL
    ) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX item_facts_of_run ON item_facts (run_id, ordinal)",
    "CREATE INDEX item_facts_standing ON item_facts (thread_id, ordinal) WHERE standing",
    # All facts of a thread are of one version; a thread without a row has none yet.
    "CREATE TABLE facts_versions (thread_id TEXT PRIMARY KEY, version TEXT NOT NULL) STRICT, WITHOUT ROWID",
)

DELETED: Final = ("CREATE TABLE deleted_threads (thread_id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID",)
"""Names the threads that are deleted, and are kept unseen as long as a fork inherits from them."""
