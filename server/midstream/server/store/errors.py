"""What can go wrong with the store, and how SQLite's errors are told apart."""

import sqlite3
from pathlib import Path
from typing import Final

from cattrs.errors import BaseValidationError

from midstream.protocol.errors import MidstreamError

UNREADABLE: Final = (BaseValidationError, ValueError, TypeError)
"""What decoding raises where a stored record is none."""


class WriteRefused(Exception):
    """A write that cannot become part of the log: nothing of it was stored."""


class StoreFailed(Exception):
    """The disk is full, read-only or broken: nothing of the write was stored, the store can still be used."""


def corrupt(path: Path, why: str) -> MidstreamError:
    """Return the error for a file that is no store, or a damaged one."""
    message = f"{path} cannot be read: {why}. Move it away, or bring back a copy of it."
    return MidstreamError("storeCorrupt", message, path=str(path))


def locked(path: Path) -> MidstreamError:
    """Return the error for a store that another process has open."""
    message = f"{path} is in use by another process. End that one, or choose another data folder."
    return MidstreamError("storeLocked", message, path=str(path))


def newer(path: Path, version: int) -> MidstreamError:
    """Return the error for a store that a later version of Midstream has made."""
    message = f"{path} was written by a newer Midstream (store version {version}). Update Midstream."
    return MidstreamError("storeNewer", message, path=str(path), version=version)


def translated(error: sqlite3.Error, path: Path) -> Exception:
    """Return what an error of SQLite means to a caller of the store."""
    # Errors that the sqlite3 module itself raises carry no code.
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    match code:
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return corrupt(path, str(error))
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return locked(path)
        case sqlite3.SQLITE_CONSTRAINT:
            return WriteRefused(f"already stored: {error}")
        case _:
            return StoreFailed(f"{path}: {error}")
