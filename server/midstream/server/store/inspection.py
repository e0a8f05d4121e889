"""Looking at a store from outside: beside the daemon that has it open, or where none has."""

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TypeVar

from midstream.protocol.base import ThreadId
from midstream.server.store import health
from midstream.server.store.connection import transaction
from midstream.server.store.errors import UNREADABLE, StoreFailed, corrupt, translated
from midstream.server.store.health import LiveThread, NamedCheckpoint, StoredBytes, ThreadEntry
from midstream.server.store.migrations import VERSION
from midstream.server.store.opening import reading

T = TypeVar("T")


@contextmanager
def inspecting(path: Path) -> Iterator["Inspection"]:
    """Open the store at `path` to look at it; nothing in it is changed, and nobody is kept from writing.

    Raises MidstreamError storeCorrupt, storeNewer or storeLocked, and StoreFailed.
    """
    with reading(path) as connection:
        yield Inspection(connection, path)


class Inspection:
    """A store that is only read. Every question is answered from one moment.

    All methods raise StoreFailed where the disk is at fault, and MidstreamError storeCorrupt where the file is;
    all but `damage` and `version` also raise StoreFailed for a store of an older version.
    """

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection: Final = connection
        self._path: Final = path

    @property
    def version(self) -> int:
        """The version of the tables; that of a store which was never used is 0."""
        return self._asked(health.version)

    def damage(self) -> tuple[str, ...]:
        """Return what SQLite finds wrong with the file, in its words; empty where it is whole."""
        return self._asked(health.damage)

    def strays(self) -> int:
        """Return in how many places the tables do not agree with the log; a rebuild mends them."""
        return self._known(health.strays)

    def threads(self, *, workspace: str | None, archived: bool) -> tuple[ThreadEntry, ...]:
        """Return the threads, of a workspace's URI or of all, newest first; archived ones alone, or not at all."""
        return self._known(lambda connection: health.threads(connection, workspace, archived))

    def live_threads(self) -> tuple[LiveThread, ...]:
        """Return the threads that are not idle, or whose queue is held."""
        return self._known(health.live_threads)

    def pending_effects(self) -> int:
        """Return how many effects wait to be carried out."""
        return self._known(health.pending_effects)

    def checkpoints(self) -> tuple[NamedCheckpoint, ...]:
        """Return the checkpoints that should be there."""
        return self._known(health.checkpoints)

    def images(self) -> Mapping[str, frozenset[ThreadId]]:
        """Return which threads use an attached image, by its sha256 in hexadecimal."""
        return self._known(health.images)

    def sizes(self) -> tuple[StoredBytes, ...]:
        """Return what each thread takes in the file."""
        return self._known(health.sizes)

    def _known(self, question: Callable[[sqlite3.Connection], T]) -> T:
        if self.version < VERSION:
            message = "it was written by an older Midstream; start midstream serve once, which brings it up to date"
            raise StoreFailed(f"{self._path}: {message}.")
        return self._asked(question)

    def _asked(self, question: Callable[[sqlite3.Connection], T]) -> T:
        try:
            with transaction(self._connection, "DEFERRED"):
                return question(self._connection)
        except sqlite3.Error as error:
            raise translated(error, self._path) from error
        except UNREADABLE as error:
            raise corrupt(self._path, "it holds a record that is none") from error
