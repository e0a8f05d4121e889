"""The store: one writer, and who asks, over one SQLite database that this process owns."""

import sqlite3
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Self

from midstream.server.store.connection import Connection, transaction
from midstream.server.store.errors import StoreFailed
from midstream.server.store.log import remove_unneeded
from midstream.server.store.migrations import migrate
from midstream.server.store.model import Commit, StoredEffect, Write
from midstream.server.store.opening import Claim, prepare
from midstream.server.store.projections import rebuild
from midstream.server.store.questions import Questions
from midstream.server.store.writer import Writer


class Store(Questions):
    """What the daemon remembers. Made by `open`, ended by `aclose`.

    A question sees every commit that returned before it was asked.
    """

    def __init__(self, writer: Writer, writing: Connection, reading: Connection, resources: AsyncExitStack) -> None:
        super().__init__(reading)
        self._writer = writer
        self._writing = writing
        self._resources = resources

    @classmethod
    async def open(cls, path: Path, *, durable: bool = False) -> Self:
        """Open the store at `path`, or make it; `durable` loses no commit even in a power cut.

        Raises MidstreamError storeLocked, storeCorrupt or storeNewer, and StoreFailed; the file is then untouched.
        """
        async with AsyncExitStack() as resources:
            claim = Claim(path)
            resources.callback(claim.release)
            prepare(path)
            synchronous = f"synchronous = {'FULL' if durable else 'NORMAL'}"
            writing = Connection(path, "journal_mode = WAL", "secure_delete = ON", synchronous)
            await writing.connect()
            resources.push_async_callback(writing.close)
            await writing.run(_migrate)
            reading = Connection(path, "query_only = ON")
            await reading.connect()
            resources.push_async_callback(reading.close)
            writer = Writer(writing)
            resources.push_async_callback(writer.aclose)
            return cls(writer, writing, reading, resources.pop_all())

    @property
    def on_committed(self) -> Callable[[Commit], None]:
        """Called after each commit, in their order, before `commit` returns."""
        return self._writer.on_committed

    @on_committed.setter
    def on_committed(self, callback: Callable[[Commit], None]) -> None:
        self._writer.on_committed = callback

    async def commit(self, write: Write) -> Commit:
        """Store a write whole, or nothing of it; it goes on where its caller is cancelled.

        Raises WriteRefused for a write that does not continue the log, or repeats a receipt or a handoff's content;
        StoreFailed; MidstreamError storeLocked where something outside has the file locked.
        """
        return await self._writer.commit(write)

    async def rebuild(self) -> None:
        """Make the projections anew from the log."""
        await self._writing.run(_rebuild)

    async def remove_unneeded(self) -> tuple[StoredEffect, ...]:
        """Remove the deleted threads from which no fork inherits any more; return what is left to do about each."""
        return await self._writing.run(_remove_unneeded)

    async def shred(self) -> None:
        """Leave nothing in the files of what was forgotten: a second for each 100 MB, in which no commit goes in."""
        await self._writing.run(_shred)

    async def aclose(self) -> None:
        """Commit what waits, and close."""
        await self._resources.aclose()


def _migrate(connection: sqlite3.Connection) -> None:
    with transaction(connection, "IMMEDIATE"):
        migrate(connection)


def _rebuild(connection: sqlite3.Connection) -> None:
    with transaction(connection, "IMMEDIATE"):
        rebuild(connection)


def _remove_unneeded(connection: sqlite3.Connection) -> tuple[StoredEffect, ...]:
    with transaction(connection, "IMMEDIATE"):
        return remove_unneeded(connection)


def _shred(connection: sqlite3.Connection) -> None:
    # secure_delete leaves the copies that a b-tree makes when it moves rows between pages; only a rewrite has none.
    connection.execute("VACUUM")
    busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    if busy:
        raise StoreFailed("something outside is reading the store, and what was deleted is still in its log")
