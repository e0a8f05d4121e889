"""What can be asked of a store, by the daemon that owns it and by who only reads it."""

import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from midstream.protocol.base import CheckpointId, HandoffId, ItemId, RequestId, RunId, ThreadId, TransferId
from midstream.protocol.records.checkpoint import Checkpoint
from midstream.protocol.records.handoff import ContextHandoff, ContextTransfer
from midstream.protocol.records.item import Item
from midstream.protocol.records.request import RuntimeRequest
from midstream.protocol.records.run import Run
from midstream.protocol.records.thread import Thread
from midstream.server.graph.events import Committed
from midstream.server.graph.state import Lived
from midstream.server.store import facts, items, reader, searching, texts
from midstream.server.store.connection import Connection, transaction
from midstream.server.store.items import ItemAnchor, Page, Scopes
from midstream.server.store.model import FactsRow, Receipt, Snapshot, StoredEffect
from midstream.server.store.opening import reading

P = ParamSpec("P")
T = TypeVar("T")


class Questions:
    """The questions, each answered from one moment.

    All methods raise StoreFailed where the disk is at fault, and MidstreamError storeCorrupt where the file is.
    """

    def __init__(self, reading: Connection) -> None:
        self._reading = reading

    async def receipt(self, command_id: str) -> Receipt | None:
        """Return what a command was answered."""
        return await self._read(reader.receipt, command_id)

    async def pending_effects(self) -> tuple[StoredEffect, ...]:
        """Return the effects that were not carried out, oldest first."""
        return await self._read(reader.pending_effects)

    async def newest_id(self) -> str | None:
        """Return the id that was made last, whatever it names; None in an empty store."""
        return await self._read(reader.newest_id)

    async def thread(self, thread_id: ThreadId) -> Thread | None:
        """Return a thread."""
        return await self._read(reader.thread, thread_id)

    async def threads(
        self,
        *,
        workspace: str | None = None,
        archived: bool | None = None,
        query: str | None = None,
        limit: int,
        cursor: str | None = None,
    ) -> tuple[tuple[Thread, ...], str | None]:
        """Return a page of threads, newest first, and the cursor of the next, None at the end.

        Archived threads are listed alone, or not at all. `query` is looked for in titles, whatever the case.
        """
        return await self._read(reader.threads, workspace, archived is True, query, limit, cursor)

    async def live_threads(self) -> tuple[ThreadId, ...]:
        """Return the threads that are not idle, or whose queue is held."""
        return await self._read(reader.live_threads)

    async def snapshot(self, thread_id: ThreadId, *, deleted: bool = False) -> Snapshot | None:
        """Return a thread as it stands; with `deleted` also one that is kept for its forks alone."""
        return await self._read(reader.snapshot, thread_id, deleted=deleted)

    async def run(self, run_id: RunId) -> Run | None:
        """Return a run."""
        return await self._read(reader.record, Run, run_id)

    async def checkpoint(self, checkpoint_id: CheckpointId) -> Checkpoint | None:
        """Return a checkpoint."""
        return await self._read(reader.record, Checkpoint, checkpoint_id)

    async def handoff(self, handoff_id: HandoffId) -> ContextHandoff | None:
        """Return a whole handoff."""
        return await self._read(reader.handoff, handoff_id)

    async def transfer(self, transfer_id: TransferId) -> ContextTransfer | None:
        """Return a transfer."""
        return await self._read(reader.record, ContextTransfer, transfer_id)

    async def request(self, request_id: RequestId) -> RuntimeRequest | None:
        """Return a request."""
        return await self._read(reader.record, RuntimeRequest, request_id)

    async def pending_requests(self, thread_id: ThreadId | None) -> tuple[RuntimeRequest, ...]:
        """Return the requests that wait for an answer, of one thread or of all, oldest first."""
        return await self._read(reader.pending_requests, thread_id)

    async def item(self, item_id: ItemId) -> Item | None:
        """Return an item."""
        return await self._read(items.item, item_id)

    async def items(
        self,
        scopes: Scopes,
        run_id: RunId | None,
        anchor: ItemAnchor,
        limit: int,
        without: frozenset[RunId] = frozenset(),
    ) -> Page | None:
        """Return a page of items, of one run or of all but some; None where the anchor is no item of these threads."""
        return await self._read(items.page, scopes, run_id, anchor, limit, without)

    async def last_item(self, run_id: RunId) -> tuple[ItemId, int] | None:
        """Return a run's last item and its ordinal; None where it has none."""
        return await self._read(items.last_ordinal, run_id)

    async def forks(self, thread_id: ThreadId) -> tuple[ThreadId, ...]:
        """Return the threads that were forked from a thread, oldest first."""
        return await self._read(reader.forks, thread_id)

    async def items_of_runs(self, run_ids: tuple[RunId, ...]) -> tuple[Item, ...]:
        """Return all items of these runs, in the order of their ordinals."""
        return await self._read(items.items_of_runs, run_ids)

    async def lived(self, run_id: RunId) -> dict[ItemId, Lived]:
        """Return where the items of a run stand, without what they say."""
        return await self._read(items.lived_items, run_id)

    async def facts_version(self, thread_id: ThreadId) -> str | None:
        """Return the version of the rules that made a thread's facts, None where none were made."""
        return await self._read(facts.facts_version, thread_id)

    async def facts_of_runs(self, run_ids: tuple[RunId, ...]) -> tuple[FactsRow, ...]:
        """Return the facts of all finished items of these runs, in the order of the items' ordinals."""
        return await self._read(facts.facts_of_runs, run_ids)

    async def facts_of_items(self, item_ids: tuple[ItemId, ...]) -> tuple[FactsRow, ...]:
        """Return the facts of these items, in the order of their ordinals; items without any are left out."""
        return await self._read(facts.facts_of_items, item_ids)

    async def standing_facts(self, thread_id: ThreadId) -> tuple[FactsRow, ...]:
        """Return the facts of a thread's messages that hold a constraint, in order."""
        return await self._read(facts.standing_facts, thread_id)

    async def search(
        self, query: str, workspace: str | None, limit: int, snippet: searching.Snippet
    ) -> tuple[tuple[Item, str], ...]:
        """Return items that hold a query, newest first, each with its snippet; ASCII letters match in either case."""
        return await self._read(searching.search, query, workspace, limit, snippet)

    async def text(
        self, item_id: ItemId, field: str, path: str | None = None, *, offset: int = 0, limit: int | None = None
    ) -> str | None:
        """Return a stretch of a long text, in code points; None where it stands in the item's record alone."""
        return await self._read(texts.read_text, item_id, field, path, offset, limit)

    async def events(self, thread_id: ThreadId, after: int, limit: int) -> tuple[Committed, ...]:
        """Return a thread's record events after a sequence, in order; handoffs come without their content."""
        return await self._read(reader.events, thread_id, after, limit)

    async def _read(
        self, question: Callable[Concatenate[sqlite3.Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        def at_one_moment(connection: sqlite3.Connection) -> T:
            with transaction(connection, "DEFERRED"):
                return question(connection, *args, **kwargs)

        return await self._reading.run(at_one_moment)


@asynccontextmanager
async def asking(path: Path) -> AsyncIterator[Questions]:
    """Open the store at `path` to read it beside its daemon; nothing in it can be changed.

    Raises MidstreamError storeCorrupt, storeNewer or storeLocked, and StoreFailed.
    """
    with reading(path):  # looks whether it is a store that we know
        connection = Connection(path, "query_only = ON", read_only=True)
        await connection.connect()
    try:
        yield Questions(connection)
    finally:
        await connection.close()
