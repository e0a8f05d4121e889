"""A whole thread as `thread/read` and a subscription's snapshot give it: no items."""

from attrs import frozen

from midstream.protocol.records.checkpoint import Checkpoint
from midstream.protocol.records.handoff import ContextTransfer, HandoffInfo
from midstream.protocol.records.provider import ProviderThread
from midstream.protocol.records.request import RuntimeRequest
from midstream.protocol.records.run import Run
from midstream.protocol.records.thread import Thread


@frozen(kw_only=True)
class ThreadRead:
    """A thread with all that belongs to it but its items, as it stood after event `sequence`."""

    thread: Thread
    runs: tuple[Run, ...]
    provider_threads: tuple[ProviderThread, ...]
    transfers: tuple[ContextTransfer, ...]
    handoffs: tuple[HandoffInfo, ...]
    checkpoints: tuple[Checkpoint, ...]
    requests: tuple[RuntimeRequest, ...]
    sequence: int
