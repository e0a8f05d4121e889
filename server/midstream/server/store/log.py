"""Writing: what stands in a write becomes rows, and those of many writes go in together."""

import sqlite3
from collections.abc import Sequence
from typing import Final

from attrs import frozen

from midstream.protocol.base import HandoffId, ThreadId
from midstream.server.graph.events import Committed, HandoffPut, RecordPut, TextAppended
from midstream.server.store.codec import KINDS, encode, encode_put
from midstream.server.store.errors import WriteRefused
from midstream.server.store.model import Commit, StoredEffect, Write
from midstream.server.store.projections import Row, project

INSERT_EVENT: Final = "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)"
INSERT_TEXT: Final = "INSERT INTO texts VALUES (?, ?, ?, ?, ?, ?, ?)"
INSERT_CONTENT: Final = "INSERT INTO handoff_contents VALUES (?, ?)"
INSERT_RECEIPT: Final = "INSERT INTO receipts VALUES (?, ?, ?, ?)"
INSERT_EFFECT: Final = "INSERT INTO effects (thread_id, body) VALUES (?, ?)"
DELETE_EFFECT: Final = "DELETE FROM effects WHERE id = ?"
LAST_POSITION: Final = (
    "SELECT max((SELECT coalesce(max(position), 0) FROM events), (SELECT coalesce(max(position), 0) FROM texts))"
)
LAST_SEQUENCE: Final = "SELECT coalesce(max(sequence), 0) FROM events WHERE thread_id = ?"
TEXT_END: Final = (
    "SELECT offset + length FROM texts WHERE item_id = ? AND field = ? AND path = ? ORDER BY offset DESC LIMIT 1"
)
FORGET: Final = (
    "DELETE FROM texts WHERE item_id IN (SELECT id FROM items WHERE thread_id = :thread)",
    "DELETE FROM handoff_contents WHERE handoff_id IN"
    " (SELECT id FROM records WHERE thread_id = :thread AND kind = 'handoff')",
    "DELETE FROM events WHERE thread_id = :thread",
    "DELETE FROM threads WHERE id = :thread",
    "DELETE FROM items WHERE thread_id = :thread",
    "DELETE FROM records WHERE thread_id = :thread",
)
"""Removes a thread; its receipts and effects outlive it."""


@frozen
class Encoded:
    """A write and its JSON: of its record events in order, its handoffs' contents, its effects."""

    write: Write
    bodies: tuple[bytes, ...]
    contents: tuple[tuple[HandoffId, bytes], ...]
    effects: tuple[bytes, ...]


def encoded(write: Write) -> Encoded:
    """Return a write with its JSON. Raises WriteRefused for what is no Unicode, or no JSON."""
    bodies, contents = [], []
    for event in write.events:
        match event:
            case TextAppended(text=text):
                if not _is_unicode(text):
                    raise WriteRefused(f"text of item {event.item_id} holds half of a surrogate pair")
            case HandoffPut(record, content) if content is not None:
                bodies.append(encode_put(event))
                contents.append((record.id, encode(content)))
            case _:
                bodies.append(encode_put(event))
    return Encoded(write, tuple(bodies), tuple(contents), tuple(encode(effect) for effect in write.effects))


def append(connection: sqlite3.Connection, writes: Sequence[Encoded]) -> tuple[Commit, ...]:
    """Write to the log, the outbox, the receipts and the projections; to be called in a transaction.

    Raises WriteRefused where a write does not go on where the log ends.
    """
    batch = _Batch(connection)
    commits = tuple(batch.add(write) for write in writes)
    batch.flush()
    return commits


class _Batch:
    """Rows on their way into the database, and where the log will end once they are there."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        (self._position,) = connection.execute(LAST_POSITION).fetchone()
        self._sequences: dict[ThreadId, int] = {}
        self._text_ends: dict[tuple[str, str, str], int] = {}
        self._rows: dict[str, list[Row]] = {
            statement: [] for statement in (INSERT_EVENT, INSERT_TEXT, INSERT_CONTENT, INSERT_RECEIPT, DELETE_EFFECT)
        }
        self._puts: list[tuple[int, ThreadId, RecordPut]] = []
        self._forgotten: list[ThreadId] = []

    def add(self, encoded: Encoded) -> Commit:
        write = encoded.write
        if write.events:
            self._check_sequence(write)
        bodies = iter(encoded.bodies)
        committed = []
        sequence = write.first_sequence - 1
        for event in write.events:
            self._position += 1
            if isinstance(event, TextAppended):
                self._add_text(event)
            else:
                sequence += 1
                place = (self._position, write.thread_id, sequence, write.command_id)
                self._rows[INSERT_EVENT].append((*place, KINDS[type(event)], next(bodies)))
                self._puts.append((self._position, write.thread_id, event))
            committed.append(Committed(self._position, write.thread_id, sequence, write.command_id, event))
        self._sequences[write.thread_id] = sequence
        self._rows[INSERT_CONTENT].extend(encoded.contents)
        if (receipt := write.receipt) is not None:
            row = (receipt.command_id, receipt.method, receipt.params_sha256, receipt.answer)
            self._rows[INSERT_RECEIPT].append(row)
        self._rows[DELETE_EFFECT].extend((effect_id,) for effect_id in write.done)
        if write.forget:
            self._forgotten.append(write.thread_id)
        return Commit(tuple(committed), self._effects(encoded))

    def flush(self) -> None:
        for statement, rows in self._rows.items():
            if rows:
                self._connection.executemany(statement, rows)
        project(self._connection, self._puts)
        for thread_id in self._forgotten:
            for statement in FORGET:
                self._connection.execute(statement, {"thread": thread_id})

    def _check_sequence(self, write: Write) -> None:
        last = self._sequences.get(write.thread_id)
        if last is None:
            (last,) = self._connection.execute(LAST_SEQUENCE, (write.thread_id,)).fetchone()
        if write.first_sequence != last + 1:
            raise WriteRefused(f"thread {write.thread_id} is at {last}, so {write.first_sequence} is not its next")

    def _add_text(self, event: TextAppended) -> None:
        key = (event.item_id, event.field, event.path or "")
        end = self._text_ends.get(key)
        if end is None:
            row = self._connection.execute(TEXT_END, key).fetchone()
            end = 0 if row is None else row[0]
        if event.offset != end:
            raise WriteRefused(f"{event.field} of item {event.item_id} ends at {end}, not at {event.offset}")
        if not event.text:
            return
        self._text_ends[key] = end + len(event.text)
        self._rows[INSERT_TEXT].append((self._position, *key, event.offset, len(event.text), event.text))

    def _effects(self, encoded: Encoded) -> tuple[StoredEffect, ...]:
        thread_id = encoded.write.thread_id
        stored = []
        for effect, body in zip(encoded.write.effects, encoded.effects, strict=True):
            effect_id = self._connection.execute(INSERT_EFFECT, (thread_id, body)).lastrowid
            assert effect_id is not None
            stored.append(StoredEffect(effect_id, thread_id, effect))
        return tuple(stored)


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
