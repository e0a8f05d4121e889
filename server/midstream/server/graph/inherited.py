"""What a fork has from its parent without copying it."""

from attrs import frozen
from immutables import Map

from midstream.protocol.base import CheckpointId, HandoffId, ProviderThreadId, RunId, ThreadId
from midstream.protocol.records.checkpoint import Checkpoint
from midstream.protocol.records.handoff import HandoffInfo
from midstream.protocol.records.provider import ProviderThread
from midstream.protocol.records.run import Run


@frozen(kw_only=True)
class Inherited:
    """The records up to a fork's point, as they were when it was made; they keep their own thread's id.

    `runs` are those that were retained then, `left_out` those before the point that were not. `scopes` are the
    threads whose items are inherited, each up to and with an ordinal; the fork's own ordinals go on after the last
    ones. The provider threads are no coverage of the fork's: they are what a native fork can be made from.
    """

    runs: Map[RunId, Run] = Map()
    left_out: frozenset[RunId] = frozenset()
    provider_threads: Map[ProviderThreadId, ProviderThread] = Map()
    handoffs: Map[HandoffId, HandoffInfo] = Map()
    checkpoints: Map[CheckpointId, Checkpoint] = Map()
    scopes: tuple[tuple[ThreadId, int], ...] = ()
    last_run_ordinal: int = 0
    last_item_ordinal: int = 0
