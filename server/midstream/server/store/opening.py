"""What must be true of the file before it is opened: ours alone, ours at all, and of a version we know."""

import fcntl
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from midstream.server.store.connection import LOCK_WAIT
from midstream.server.store.errors import StoreFailed, corrupt, locked, newer, translated
from midstream.server.store.migrations import APPLICATION_ID, VERSION


class Claim:
    """The right to be the only process that has a store open; it ends with `release` or with the process."""

    def __init__(self, path: Path) -> None:
        """Claim the store at `path`, whose folder is made where it is missing.

        Raises MidstreamError storeLocked, StoreFailed.
        """
        # A file of its own, since SQLite's locks on the database would be lost when another descriptor closes.
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._file = os.open(path.with_name(f"{path.name}.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StoreFailed(f"{path}: {error}") from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._file)
            raise locked(path) from None

    def release(self) -> None:
        """Let another process have the store."""
        os.close(self._file)


def prepare(path: Path) -> None:
    """Make sure of a private file at `path` that is empty or a store of a known version.

    Raises MidstreamError storeCorrupt, storeNewer or storeLocked, and StoreFailed; the file is then untouched.
    """
    try:
        # Before SQLite looks: beside a file that cannot be written it would leave a log that never can be.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        if path.stat().st_size > 0:
            with reading(path):
                pass
        path.chmod(0o600)
    except OSError as error:
        raise StoreFailed(f"{path}: {error}") from error


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Open the store at `path` for reading alone, also while another process has it open and writes.

    Raises MidstreamError storeCorrupt, storeNewer or storeLocked, and StoreFailed.
    """
    with closing(_read_only(path)) as connection:
        try:
            (application_id,) = connection.execute("PRAGMA application_id").fetchone()
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            # Reading the schema is what makes SQLite compare the file's length with its header.
            (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        except sqlite3.Error as error:
            raise translated(error, path) from error
        if tables and application_id != APPLICATION_ID:
            raise corrupt(path, "it is no Midstream store")
        if version > VERSION:
            raise newer(path, version)
        yield connection


def _read_only(path: Path) -> sqlite3.Connection:
    if not path.is_file():  # SQLite would wait for ever at a pipe
        raise StoreFailed(f"{path}: there is no such file")
    try:
        uri = f"{path.absolute().as_uri()}?mode=ro"
        return sqlite3.connect(uri, uri=True, isolation_level=None, timeout=LOCK_WAIT)
    except sqlite3.Error as error:
        raise translated(error, path) from error
