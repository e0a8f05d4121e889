"""What goes into the store, and what comes out of it."""

from collections.abc import Mapping

from attrs import frozen

from midstream.protocol.base import ItemId, ProviderThreadId, RunId, ThreadId
from midstream.protocol.records.item import Item
from midstream.protocol.records.provider import ProviderSession
from midstream.protocol.records.read import ThreadRead
from midstream.server.graph.effects import Effect
from midstream.server.graph.events import Committed, Event
from midstream.server.graph.state import TextKey
from midstream.server.graph.texts import GrowingText


@frozen(kw_only=True)
class Receipt:
    """What a command was answered: `answer` is the wire result in JSON, `params_sha256` in hexadecimal.

    The answer is empty once the command's thread was forgotten.
    """

    command_id: str
    method: str
    params_sha256: str
    answer: bytes


@frozen(kw_only=True)
class FactsRow:
    """What handoffs may tell of one finished item; `standing` where it holds a constraint of the user.

    `body` is opaque to the store.
    """

    item_id: ItemId
    run_id: RunId | None
    ordinal: int
    provider_thread_id: ProviderThreadId | None
    standing: bool
    body: bytes


@frozen(kw_only=True)
class Write:
    """What one thread stores at once: all of it, or nothing.

    `first_sequence` is that of the first record event, so the thread's sequence plus one; text takes none.
    `facts` stand beside the items that the write ends; `facts_version` says that all facts of the thread are of this
    version from now on. `done` are the ids of effects that were carried out. `forget` removes the thread and all that
    is its own.
    """

    thread_id: ThreadId
    command_id: str | None = None
    first_sequence: int
    events: tuple[Event, ...] = ()
    facts: tuple[FactsRow, ...] = ()
    facts_version: str | None = None
    effects: tuple[Effect, ...] = ()
    done: tuple[int, ...] = ()
    receipt: Receipt | None = None
    forget: bool = False


@frozen
class StoredEffect:
    """An effect that waits to be carried out; ids rise in the order of the commits and are never reused."""

    id: int
    thread_id: ThreadId
    effect: Effect


@frozen
class Commit:
    """What became of a write: its events with their places in the log, its effects with their ids.

    `forgotten` is the thread that the write removed.
    """

    events: tuple[Committed, ...]
    effects: tuple[StoredEffect, ...]
    forgotten: ThreadId | None = None


@frozen(kw_only=True)
class Snapshot:
    """A thread at one moment: all its records, but of its items only those that have not ended.

    `read` holds the thread's own records, none that a fork inherits. `texts` are the growing fields of the live
    items. The ordinals are the thread's highest, 0 where it has none.
    """

    read: ThreadRead
    sessions: tuple[ProviderSession, ...]
    live_items: tuple[Item, ...]
    texts: Mapping[TextKey, GrowingText]
    last_run_ordinal: int
    last_item_ordinal: int
