"""What the daemon remembers, in SQLite; the only room that knows SQL."""

from midstream.server.store.errors import StoreFailed, WriteRefused
from midstream.server.store.items import ItemAnchor, Page, Scopes
from midstream.server.store.model import Commit, Receipt, Snapshot, StoredEffect, Write
from midstream.server.store.store import Store

__all__ = [
    "Commit",
    "ItemAnchor",
    "Page",
    "Receipt",
    "Scopes",
    "Snapshot",
    "Store",
    "StoreFailed",
    "StoredEffect",
    "Write",
    "WriteRefused",
]
