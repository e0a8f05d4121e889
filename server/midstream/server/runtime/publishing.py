"""From committed events to what clients are told, in the order of the log."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from attrs import frozen

from midstream.protocol.base import ItemId, RunId
from midstream.protocol.notifications import (
    OutputField,
    RecordType,
    RequestClosed,
    RequestOpened,
    RunOutput,
    ThreadChanged,
    ThreadDeleted,
    ThreadEvent,
)
from midstream.protocol.records.item import Item
from midstream.protocol.records.run import Run
from midstream.server.graph.events import (
    CheckpointPut,
    Committed,
    HandoffPut,
    ItemPut,
    ProviderSessionPut,
    ProviderThreadPut,
    RecordPut,
    RequestPut,
    RunPut,
    TextAppended,
    ThreadPut,
    TransferPut,
)
from midstream.server.graph.items import recorded_length
from midstream.server.graph.state import LIVE_ITEM, TERMINAL
from midstream.server.runtime.audience import Audience
from midstream.server.store import Commit

OUTPUT_FIELDS: Final[Mapping[str, OutputField]] = MappingProxyType(
    {"text": "text", "output": "output", "markdown": "markdown"}
)
"""The fields whose growth is told as it happens."""

TOLD_AT_ONCE: Final = 1 << 22
"""The longest piece of text that is told, in code points: a client reads a longer one where its record is shortened."""


@frozen(eq=False)
class Waiter:
    """Somebody who waits for a run to be as `wanted`."""

    wanted: Callable[[Run], bool]
    found: asyncio.Future[Run]


def is_over(run: Run) -> bool:
    """Return whether a run is terminal."""
    return run.status in TERMINAL


class Publisher:
    """Tells clients what was committed, and those who wait for a run that it ended."""

    def __init__(self, audience: Audience) -> None:
        self._audience = audience
        self._live: dict[ItemId, Item] = {}
        self._waiters: defaultdict[RunId, set[Waiter]] = defaultdict(set)

    def publish(self, commit: Commit) -> None:
        """Tell what one commit changed."""
        for committed in commit.events:
            match committed.event:
                case TextAppended() as text:
                    self._tell_output(committed, text)
                case _ as event:
                    self._tell_record(committed, event)
        if commit.forgotten is not None:
            self._audience.to_all(ThreadDeleted(thread_id=commit.forgotten))

    async def ended(self, run: Run) -> Run:
        """Wait until a run is terminal and return it."""
        return await self._until(run, is_over)

    async def stopping(self, run: Run) -> Run:
        """Wait until a run is terminal, or the user has asked for its end, and return it."""
        return await self._until(run, lambda now: is_over(now) or now.interrupt_requested_at is not None)

    async def _until(self, run: Run, wanted: Callable[[Run], bool]) -> Run:
        if wanted(run):
            return run
        waiter = Waiter(wanted, asyncio.get_running_loop().create_future())
        self._waiters[run.id].add(waiter)
        try:
            return await waiter.found
        finally:
            self._waiters[run.id].discard(waiter)
            if not self._waiters[run.id]:
                del self._waiters[run.id]

    def _tell_output(self, committed: Committed, text: TextAppended) -> None:
        item = self._live.get(text.item_id)
        if item is None or item.run_id is None or text.path is not None or text.field not in OUTPUT_FIELDS:
            return
        end = text.offset + len(text.text)
        if len(text.text) > TOLD_AT_ONCE or end <= recorded_length(item, text.field):
            return
        self._audience.to_subscribers(
            committed.thread_id,
            RunOutput(
                thread_id=committed.thread_id,
                run_id=item.run_id,
                item_id=text.item_id,
                field=OUTPUT_FIELDS[text.field],
                offset=text.offset,
                text=text.text,
            ),
        )

    def _tell_record(self, committed: Committed, event: RecordPut) -> None:
        self._audience.to_subscribers(committed.thread_id, thread_event(committed))
        match event:
            case ThreadPut(record):
                self._audience.to_all(ThreadChanged(thread=record))
            case RequestPut(record):
                opened = record.status == "pending"
                self._audience.to_all(RequestOpened(request=record) if opened else RequestClosed(request=record))
            case ItemPut(record) if record.status in LIVE_ITEM:
                self._live[record.id] = record
            case ItemPut(record):
                self._live.pop(record.id, None)
            case RunPut(record):
                for waiter in self._waiters.get(record.id, ()):
                    if waiter.wanted(record) and not waiter.found.done():
                        waiter.found.set_result(record)
            case _:
                pass


def thread_event(committed: Committed) -> ThreadEvent:
    """Return a committed record event as subscribers see it."""
    event = committed.event
    assert not isinstance(event, TextAppended)
    return ThreadEvent(
        thread_id=committed.thread_id,
        sequence=committed.sequence,
        command_id=committed.command_id,
        type=type_of(event),
        record=event.record,
    )


def type_of(event: RecordPut) -> RecordType:
    """Return the wire's name of a record's type."""
    match event:
        case ThreadPut():
            return "thread"
        case RunPut():
            return "run"
        case ItemPut():
            return "item"
        case ProviderThreadPut():
            return "providerThread"
        case ProviderSessionPut():
            return "providerSession"
        case TransferPut():
            return "transfer"
        case HandoffPut():
            return "handoff"
        case CheckpointPut():
            return "checkpoint"
        case RequestPut():
            return "request"
