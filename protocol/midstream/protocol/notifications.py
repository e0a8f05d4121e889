"""What the daemon tells clients without being asked."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, TypeAlias, cast

from attrs import frozen

from midstream.protocol.base import (
    CheckpointId,
    HandoffId,
    ItemId,
    RunId,
    ThreadId,
)
from midstream.protocol.records.checkpoint import Checkpoint
from midstream.protocol.records.handoff import ContextTransfer, HandoffInfo
from midstream.protocol.records.item import Item
from midstream.protocol.records.provider import Provider, ProviderSession, ProviderThread
from midstream.protocol.records.request import RuntimeRequest
from midstream.protocol.records.run import Run
from midstream.protocol.records.thread import Thread

RecordType: TypeAlias = Literal[
    "thread",
    "run",
    "item",
    "providerThread",
    "providerSession",
    "transfer",
    "handoff",
    "checkpoint",
    "request",
]
Record: TypeAlias = (
    Thread | Run | Item | ProviderThread | ProviderSession | ContextTransfer | HandoffInfo | Checkpoint | RuntimeRequest
)
RECORD_CLASSES: Final[Mapping[RecordType, type]] = MappingProxyType(
    {
        "thread": Thread,
        "run": Run,
        "item": cast(type, Item),
        "providerThread": ProviderThread,
        "providerSession": ProviderSession,
        "transfer": ContextTransfer,
        "handoff": HandoffInfo,
        "checkpoint": Checkpoint,
        "request": RuntimeRequest,
    }
)
OutputField: TypeAlias = Literal["text", "output", "markdown"]
HandoffPhase: TypeAlias = Literal[
    "deciding", "collecting", "summarizing", "ready", "delivering", "delivered", "failed", "cancelled"
]


@frozen(kw_only=True)
class ThreadEvent:
    """One durable event of a thread: the whole record as it now stands."""

    thread_id: ThreadId
    sequence: int
    command_id: str | None
    type: RecordType
    record: Record


@frozen(kw_only=True)
class ThreadChanged:
    """A thread was made or changed; sent to every client."""

    thread: Thread


@frozen(kw_only=True)
class ThreadDeleted:
    """A thread is gone."""

    thread_id: ThreadId


@frozen(kw_only=True)
class ThreadReset:
    """The client fell too far behind: its subscription has ended, and it subscribes anew."""

    thread_id: ThreadId
    after_sequence: int


@frozen(kw_only=True)
class RunOutput:
    """Text being written; `offset` counts the code points of the whole field before `text`."""

    thread_id: ThreadId
    run_id: RunId
    item_id: ItemId
    field: OutputField
    offset: int
    text: str


@frozen(kw_only=True)
class HandoffProgress:
    """How far a handoff is; `percentage` from 0 to 100."""

    thread_id: ThreadId
    run_id: RunId | None
    handoff_id: HandoffId | None
    command_id: str | None
    phase: HandoffPhase
    message: str
    percentage: int | None


@frozen(kw_only=True)
class CheckpointCaptured:
    """A checkpoint was taken; `patch` shows what changed since the run's baseline."""

    thread_id: ThreadId
    run_id: RunId | None
    checkpoint: Checkpoint
    patch: str | None
    truncated: bool


@frozen(kw_only=True)
class CheckpointRestored:
    """Files were brought back."""

    thread_id: ThreadId
    checkpoint_id: CheckpointId
    safety_checkpoint_id: CheckpointId | None
    written: tuple[str, ...]
    deleted: tuple[str, ...]


@frozen(kw_only=True)
class RequestOpened:
    """An agent asks."""

    request: RuntimeRequest


@frozen(kw_only=True)
class RequestClosed:
    """A request was answered, expired or withdrawn."""

    request: RuntimeRequest


@frozen(kw_only=True)
class ProviderChanged:
    """A provider's state changed."""

    provider: Provider


Notification: TypeAlias = (
    ThreadEvent
    | ThreadChanged
    | ThreadDeleted
    | ThreadReset
    | RunOutput
    | HandoffProgress
    | CheckpointCaptured
    | CheckpointRestored
    | RequestOpened
    | RequestClosed
    | ProviderChanged
)
