"""The store's versions: each migration leads from one to the next, and is never changed once released."""

import sqlite3
from typing import Final

from midstream.server.store.schema import DELETED, FACTS, LOG, PROJECTIONS, RECEIPTS_BY_THREAD

APPLICATION_ID: Final = 0x4D494453
"""Marks a database as Midstream's: "MIDS" in ASCII."""

MIGRATIONS: Final[tuple[tuple[str, ...], ...]] = ((*LOG, *PROJECTIONS), RECEIPTS_BY_THREAD, FACTS, DELETED)
"""The statements that make version 1, 2, 3…"""

VERSION: Final = len(MIGRATIONS)


def migrate(connection: sqlite3.Connection) -> None:
    """Bring a database to `VERSION`; to be called in a transaction."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    for migration in MIGRATIONS[version:]:
        for statement in migration:
            connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {VERSION}")
