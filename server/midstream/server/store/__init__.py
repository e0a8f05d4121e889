"""What the daemon remembers, in SQLite; the only room that knows SQL."""

from midstream.server.store.errors import UNREADABLE, StoreFailed, WriteRefused
from midstream.server.store.health import LiveThread, NamedCheckpoint, StoredBytes, ThreadEntry
from midstream.server.store.inspection import Inspection, inspecting
from midstream.server.store.items import ItemAnchor, Page, Scopes
from midstream.server.store.migrations import VERSION
from midstream.server.store.model import Commit, FactsRow, Receipt, Snapshot, StoredEffect, Write
from midstream.server.store.questions import Questions, asking
from midstream.server.store.store import Store

__all__ = [
    "UNREADABLE",
    "VERSION",
    "Commit",
    "FactsRow",
    "Inspection",
    "ItemAnchor",
    "LiveThread",
    "NamedCheckpoint",
    "Page",
    "Questions",
    "Receipt",
    "Scopes",
    "Snapshot",
    "Store",
    "StoreFailed",
    "StoredBytes",
    "StoredEffect",
    "ThreadEntry",
    "Write",
    "WriteRefused",
    "asking",
    "inspecting",
]
