"""What a commit says happened: a new version of one record, or text added to an item.

An event is the whole record as it then stood, so that a replay is a fold of replacements and a client
can be sent the log itself. Text that grows is the exception: it is told once, piece by piece.
"""

from typing import TypeAlias

from attrs import frozen

from midstream.protocol.base import ItemId, ThreadId
from midstream.protocol.records.checkpoint import Checkpoint
from midstream.protocol.records.handoff import ContextTransfer, HandoffInfo, HandoffSection
from midstream.protocol.records.item import Item
from midstream.protocol.records.provider import ProviderSession, ProviderThread
from midstream.protocol.records.request import RuntimeRequest
from midstream.protocol.records.run import Run
from midstream.protocol.records.thread import Thread


@frozen
class ThreadPut:
    """A thread's new version."""

    record: Thread


@frozen
class RunPut:
    """A run's new version."""

    record: Run


@frozen
class ItemPut:
    """An item's new version; its long fields stand shortened, their whole text in `TextAppended`."""

    record: Item


@frozen
class ProviderThreadPut:
    """A provider thread's new version."""

    record: ProviderThread


@frozen
class ProviderSessionPut:
    """A provider session's new version, as the thread that uses it was told."""

    record: ProviderSession


@frozen
class TransferPut:
    """A transfer's new version."""

    record: ContextTransfer


@frozen
class HandoffContent:
    """The text of a handoff: written with its first version and never again."""

    summary_text: str
    sent_text: str
    sections: tuple[HandoffSection, ...]


@frozen
class HandoffPut:
    """A handoff's new version; `content` comes with the first."""

    record: HandoffInfo
    content: HandoffContent | None = None


@frozen
class CheckpointPut:
    """A checkpoint's new version."""

    record: Checkpoint


@frozen
class RequestPut:
    """A runtime request's new version."""

    record: RuntimeRequest


@frozen
class TextAppended:
    """Text added to a field of an item; `offset` counts the code points before it. No event on the wire."""

    item_id: ItemId
    field: str
    path: str | None
    offset: int
    text: str


RecordPut: TypeAlias = (
    ThreadPut
    | RunPut
    | ItemPut
    | ProviderThreadPut
    | ProviderSessionPut
    | TransferPut
    | HandoffPut
    | CheckpointPut
    | RequestPut
)
Event: TypeAlias = RecordPut | TextAppended


@frozen
class Committed:
    """An event as the log holds it: `position` counts over all threads, `sequence` within this one.

    Text has no sequence of its own: it carries that of the record event before it.
    """

    position: int
    thread_id: ThreadId
    sequence: int
    command_id: str | None
    event: Event
