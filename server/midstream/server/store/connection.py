"""A database connection on a thread of its own, to which a whole transaction goes in one hop."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Concatenate, Literal, ParamSpec, TypeVar, cast

import aiosqlite

from midstream.server.store.errors import translated

P = ParamSpec("P")
T = TypeVar("T")

LOCK_WAIT = 1.0
"""How many seconds a transaction waits while something outside Midstream has the database locked."""


class Connection(aiosqlite.Connection):
    """An aiosqlite connection that runs functions. One that has begun runs to its end, whoever is cancelled."""

    def __init__(self, path: Path, *pragmas: str, read_only: bool = False) -> None:
        self._path = path
        self._mode = "ro" if read_only else "rwc"
        self._pragmas = pragmas
        super().__init__(self._open, iter_chunk_size=64)

    async def connect(self) -> None:
        """Open the database. Raises StoreFailed, or MidstreamError storeCorrupt or storeLocked."""
        opened = await self
        assert opened is self

    async def run(
        self, function: Callable[Concatenate[sqlite3.Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Call `function` with the plain connection, on the connection's thread.

        Raises StoreFailed, WriteRefused, or MidstreamError storeCorrupt or storeLocked for errors of SQLite.
        """
        # aiosqlite has no public way to run several statements in one hop, and a hop costs as much as a commit.
        try:
            result = await self._execute(function, self._conn, *args, **kwargs)  # type: ignore[no-untyped-call]
        except sqlite3.Error as error:
            raise translated(error, self._path) from error
        return cast(T, result)

    def _open(self) -> sqlite3.Connection:
        # Without an isolation level the module begins no transactions by itself.
        uri = f"{self._path.absolute().as_uri()}?mode={self._mode}"
        connection = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=LOCK_WAIT)
        try:
            for pragma in self._pragmas:
                connection.execute(f"PRAGMA {pragma}")
        except sqlite3.Error as error:
            connection.close()
            raise translated(error, self._path) from error
        return connection


@contextmanager
def transaction(connection: sqlite3.Connection, kind: Literal["DEFERRED", "IMMEDIATE"]) -> Iterator[None]:
    """Commit what is done inside, or nothing of it."""
    connection.execute(f"BEGIN {kind}")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        # A full disk makes SQLite roll back by itself.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
