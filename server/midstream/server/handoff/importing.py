"""A thread from the JSON Lines of an export. Pure."""

from collections.abc import Iterator
from typing import Final

import attrs
import orjson
from attrs import frozen
from cattrs import BaseValidationError

from midstream.protocol.converter import make_converter
from midstream.protocol.notifications import RECORD_CLASSES, RecordType
from midstream.protocol.records.item import Item
from midstream.protocol.records.run import Run
from midstream.protocol.records.thread import Lineage, Thread
from midstream.server.graph.events import Event, ItemPut, RunPut, ThreadPut
from midstream.server.graph.items import settle_texts
from midstream.server.graph.state import ACTIVE, LIVE_ITEM, ThreadState
from midstream.server.handoff.export import FORMAT_VERSION

CONVERTER: Final = make_converter()
HEADER: Final = {"type": "midstream", "version": FORMAT_VERSION}
IMPORTED: Final[tuple[RecordType, ...]] = ("thread", "run", "item")


class NoExport(ValueError):
    """A text is no thread that was exported."""


@frozen
class Exported:
    """A thread as it was exported: it stands by itself, and nothing of it goes on."""

    thread: Thread
    runs: tuple[Run, ...]
    items: tuple[Item, ...]

    def events(self) -> tuple[Event, ...]:
        """Return the events that make the thread."""
        state = ThreadState(thread=self.thread)
        made: list[Event] = [ThreadPut(self.thread), *(RunPut(run) for run in self.runs)]
        for item in sorted(self.items, key=lambda item: item.ordinal):
            settled, texts = settle_texts(state, item)
            made.extend((ItemPut(settled), *texts))
        return tuple(made)


def parse(text: str) -> Exported:
    """Return the thread that a text holds; a fork comes as a thread of its own, with all that it inherited.

    Raises:
        NoExport: it is no export of this version; the message names the line.
    """
    threads: list[Thread] = []
    runs: list[Run] = []
    items: list[Item] = []
    for record in _records(text):
        match record:
            case Thread():
                threads.append(record)
            case Run():
                runs.append(record)
            case _:
                items.append(record)
    if len(threads) != 1:
        raise NoExport(f"It holds {len(threads)} threads; an export holds one.")
    return _by_itself(threads[0], runs, items)


def _records(text: str) -> Iterator[Thread | Run | Item]:
    for number, line in enumerate(text.splitlines(), 1):
        try:
            value = orjson.loads(line)
            if number == 1:
                if value != HEADER:
                    raise NoExport(f"Line 1 is not {orjson.dumps(HEADER).decode()}.")
                continue
            if value["type"] not in IMPORTED:
                raise NoExport(f"Line {number} is of no type that is known.")
            yield CONVERTER.structure(value["record"], RECORD_CLASSES[value["type"]])
        except (orjson.JSONDecodeError, KeyError, TypeError, BaseValidationError) as error:
            raise NoExport(f"Line {number} holds no record of an export.") from error


def _by_itself(thread: Thread, runs: list[Run], items: list[Item]) -> Exported:
    """Return a thread without what another data folder has, and with all that was under way as interrupted."""
    lineage = Lineage(parent_thread_id=None, relationship_to_parent=None, root_thread_id=thread.id)
    return Exported(
        attrs.evolve(
            thread, lineage=lineage, forked_from=None, pending_transfer_ids=(), queue_held=False, status="idle"
        ),
        tuple(_ended(attrs.evolve(run, thread_id=thread.id)) for run in runs),
        tuple(
            attrs.evolve(item, thread_id=thread.id, status="interrupted" if item.status in LIVE_ITEM else item.status)
            for item in items
        ),
    )


def _ended(run: Run) -> Run:
    if run.status in ACTIVE:
        return attrs.evolve(run, status="interrupted", unsent_item_ids=None)
    return attrs.evolve(run, status="cancelled", queue_position=None) if run.status == "queued" else run
