"""Writing: what stands in a write becomes rows, and those of many writes go in together."""

import sqlite3
from collections.abc import Iterator, Sequence
from itertools import chain, starmap
from typing import Final, TypeAlias

from attrs import frozen

from midstream.protocol.base import HandoffId, ItemId, ThreadId
from midstream.server.graph.effects import EraseTraces
from midstream.server.graph.events import Committed, HandoffPut, RecordPut, TextAppended
from midstream.server.store import reader
from midstream.server.store.codec import KINDS, encode, encode_put
from midstream.server.store.connection import transaction
from midstream.server.store.errors import WriteRefused
from midstream.server.store.model import Commit, StoredEffect, Write
from midstream.server.store.projections import Row, project

INSERT_EVENT: Final = "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)"
INSERT_TEXT: Final = "INSERT INTO texts VALUES (?, ?, ?, ?, ?, ?, ?)"
INSERT_CONTENT: Final = "INSERT INTO handoff_contents VALUES (?, ?)"
INSERT_RECEIPT: Final = "INSERT INTO receipts VALUES (?, ?, ?, ?, ?)"
INSERT_FACTS: Final = "INSERT OR REPLACE INTO item_facts VALUES (?, ?, ?, ?, ?, ?, ?)"
INSERT_FACTS_VERSION: Final = "INSERT OR REPLACE INTO facts_versions VALUES (?, ?)"
INSERT_EFFECT: Final = "INSERT INTO effects (thread_id, body) VALUES (?, ?)"
DELETE_EFFECT: Final = "DELETE FROM effects WHERE id = ?"
LAST_POSITION: Final = (
    "SELECT max((SELECT coalesce(max(position), 0) FROM events), (SELECT coalesce(max(position), 0) FROM texts))"
)
LAST_SEQUENCE: Final = "SELECT coalesce(max(sequence), 0) FROM events WHERE thread_id = ?"
TEXT_END: Final = (
    "SELECT offset + length FROM texts WHERE item_id = ? AND field = ? AND path = ? ORDER BY offset DESC LIMIT 1"
)
# X'6E756C6C' is null: the answer to the deletion itself, which tells nothing.
EMPTY_RECEIPTS: Final = "UPDATE receipts SET answer = X'' WHERE thread_id = :thread AND answer <> X'6E756C6C'"

FORGET: Final = (
    "DELETE FROM texts WHERE item_id IN (SELECT id FROM items WHERE thread_id = :thread)",
    "DELETE FROM handoff_contents WHERE handoff_id IN"
    " (SELECT id FROM records WHERE thread_id = :thread AND kind = 'handoff')",
    "DELETE FROM item_facts WHERE thread_id = :thread",
    "DELETE FROM facts_versions WHERE thread_id = :thread",
    "DELETE FROM events WHERE thread_id = :thread",
    "DELETE FROM threads WHERE id = :thread",
    "DELETE FROM items WHERE thread_id = :thread",
    "DELETE FROM records WHERE thread_id = :thread",
    EMPTY_RECEIPTS,
    "DELETE FROM deleted_threads WHERE thread_id = :thread",
)
"""Removes a thread; its receipts outlive it without what they quote of it, and its effects as they are."""

PIECE: Final = 65_536
"""The longest row of a text, in code points, so that a page of it reads little more than it shows."""

REMEMBERED: Final = 4_096
"""Of how many threads and texts it is remembered where they end."""

TextPlace: TypeAlias = tuple[ItemId, str, str]


@frozen
class Encoded:
    """A write and its JSON: of its record events in order, its handoffs' contents, its effects."""

    write: Write
    bodies: Sequence[bytes]
    contents: Sequence[tuple[HandoffId, bytes]]
    effects: Sequence[bytes]


def encoded(write: Write) -> Encoded:
    """Return a write with its JSON. Raises WriteRefused for what is no Unicode, or no JSON."""
    bodies, contents = [], []
    for event in write.events:
        if isinstance(event, TextAppended):
            if not _is_unicode(event.text):
                raise WriteRefused(f"text of item {event.item_id} holds half of a surrogate pair")
            continue
        bodies.append(encode_put(event))
        if isinstance(event, HandoffPut) and event.content is not None:
            contents.append((event.record.id, encode(event.content)))
    return Encoded(write, bodies, contents, [encode(effect) for effect in write.effects])


class Log:
    """The log of one database, and where it ends: what was just written is written on most often."""

    def __init__(self) -> None:
        self._position: int | None = None
        self._sequences: dict[ThreadId, int] = {}
        self._text_ends: dict[TextPlace, int] = {}

    def append(self, connection: sqlite3.Connection, writes: Sequence[Encoded]) -> list[Commit]:
        """Commit writes to the log, the outbox, the receipts and the projections in one transaction.

        Raises WriteRefused where a write does not go on where the log ends, and what SQLite raises.
        """
        try:
            with transaction(connection, "IMMEDIATE"):
                batch = _Batch()
                commits = [self._add(connection, batch, write) for write in writes]
                batch.flush(connection)
        except BaseException:
            self._look_again()
            raise
        if batch.forgotten or len(self._sequences) + len(self._text_ends) > REMEMBERED:
            self._look_again()
        return commits

    def _look_again(self) -> None:
        self._position = None
        self._sequences.clear()
        self._text_ends.clear()

    def _add(self, connection: sqlite3.Connection, batch: "_Batch", encoded: Encoded) -> Commit:
        write = encoded.write
        thread_id, command_id = write.thread_id, write.command_id
        committed = []
        if write.events:
            position = self._last_position(connection)
            sequence = self._checked_start(connection, write)
            bodies = iter(encoded.bodies)
            for event in write.events:
                position += 1
                if isinstance(event, TextAppended):
                    self._check_text(connection, event)
                    batch.texts.append((position, event))
                    position += max(0, len(event.text) - 1) // PIECE
                else:
                    sequence += 1
                    batch.events.append((position, thread_id, sequence, command_id, KINDS[type(event)], next(bodies)))
                    batch.puts.append((position, thread_id, event))
                committed.append(Committed(position, thread_id, sequence, command_id, event))
            self._position = position
            self._sequences[thread_id] = sequence
        batch.add(encoded)
        effects = _store_effects(connection, encoded) if encoded.effects else ()
        return Commit(tuple(committed), effects, thread_id if write.forget else None)

    def _last_position(self, connection: sqlite3.Connection) -> int:
        if self._position is None:
            (self._position,) = connection.execute(LAST_POSITION).fetchone()
        return self._position

    def _checked_start(self, connection: sqlite3.Connection, write: Write) -> int:
        last = self._sequences.get(write.thread_id)
        if last is None:
            (last,) = connection.execute(LAST_SEQUENCE, (write.thread_id,)).fetchone()
        if write.first_sequence != last + 1:
            raise WriteRefused(f"thread {write.thread_id} is at {last}, so {write.first_sequence} is not its next")
        return last

    def _check_text(self, connection: sqlite3.Connection, event: TextAppended) -> None:
        place = (event.item_id, event.field, event.path or "")
        end = self._text_ends.get(place)
        if end is None:
            row = connection.execute(TEXT_END, place).fetchone()
            end = 0 if row is None else row[0]
        if event.offset != end:
            raise WriteRefused(f"{event.field} of item {event.item_id} ends at {end}, not at {event.offset}")
        self._text_ends[place] = end + len(event.text)


class _Batch:
    """Rows on their way into the database."""

    def __init__(self) -> None:
        self.events: list[Row] = []
        self.texts: list[tuple[int, TextAppended]] = []
        self.puts: list[tuple[int, ThreadId, RecordPut]] = []
        self.forgotten: list[ThreadId] = []
        self._contents: list[Row] = []
        self._facts: list[Row] = []
        self._versions: list[Row] = []
        self._receipts: list[Row] = []
        self._done: list[Row] = []

    def add(self, encoded: Encoded) -> None:
        write = encoded.write
        self._contents.extend(encoded.contents)
        self._facts.extend(
            (row.item_id, write.thread_id, row.run_id, row.ordinal, row.provider_thread_id, int(row.standing), row.body)
            for row in write.facts
        )
        if write.facts_version is not None:
            self._versions.append((write.thread_id, write.facts_version))
        if (receipt := write.receipt) is not None:
            self._receipts.append(
                (receipt.command_id, receipt.method, receipt.params_sha256, receipt.answer, write.thread_id)
            )
        self._done.extend([(effect_id,) for effect_id in write.done])
        if write.forget:
            self.forgotten.append(write.thread_id)

    def flush(self, connection: sqlite3.Connection) -> None:
        for statement, rows in (
            (INSERT_EVENT, self.events),
            (INSERT_CONTENT, self._contents),
            (INSERT_FACTS, self._facts),
            (INSERT_FACTS_VERSION, self._versions),
            (INSERT_RECEIPT, self._receipts),
            (DELETE_EFFECT, self._done),
        ):
            if rows:
                connection.executemany(statement, rows)
        connection.executemany(INSERT_TEXT, chain.from_iterable(starmap(_pieces, self.texts)))
        project(connection, self.puts)
        for thread_id in self.forgotten:
            if connection.execute(reader.FORKS, (thread_id,)).fetchone() is None:
                remove(connection, thread_id)
            else:
                connection.execute("INSERT INTO deleted_threads VALUES (?)", (thread_id,))
                connection.execute(EMPTY_RECEIPTS, {"thread": thread_id})


def remove(connection: sqlite3.Connection, thread_id: ThreadId) -> None:
    """Remove a thread with all that is its own; its receipts and effects outlive it."""
    for statement in FORGET:
        connection.execute(statement, {"thread": thread_id})


def remove_unneeded(connection: sqlite3.Connection) -> tuple[StoredEffect, ...]:
    """Remove the deleted threads from which no fork inherits any more; return what is left to do about each."""
    effects: list[StoredEffect] = []
    while rows := [
        row
        for row in connection.execute("SELECT thread_id FROM deleted_threads ORDER BY thread_id").fetchall()
        if connection.execute(reader.FORKS, row).fetchone() is None
    ]:
        for (thread_id,) in rows:
            remove(connection, thread_id)
            effect = EraseTraces(native_refs=())
            effect_id = connection.execute(INSERT_EFFECT, (thread_id, encode(effect))).lastrowid
            assert effect_id is not None
            effects.append(StoredEffect(effect_id, thread_id, effect))
    return tuple(effects)


def _pieces(position: int, event: TextAppended) -> Iterator[Row]:
    """Yield the rows of a text, cut from it as they are written: it may be larger than all else that is held."""
    for number, start in enumerate(range(0, len(event.text), PIECE)):
        piece = event.text[start : start + PIECE]
        place = (event.item_id, event.field, event.path or "", event.offset + start)
        yield (position + number, *place, len(piece), piece)


def _store_effects(connection: sqlite3.Connection, encoded: Encoded) -> tuple[StoredEffect, ...]:
    thread_id = encoded.write.thread_id
    stored = []
    for effect, body in zip(encoded.write.effects, encoded.effects, strict=True):
        effect_id = connection.execute(INSERT_EFFECT, (thread_id, body)).lastrowid
        assert effect_id is not None
        stored.append(StoredEffect(effect_id, thread_id, effect))
    return tuple(stored)


def _is_unicode(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
