"""What is known of one thread, and how an event changes it."""

from bisect import insort
from typing import TypeAlias

import attrs
from attrs import frozen
from immutables import Map

from midstream.protocol.base import (
    CheckpointId,
    HandoffId,
    ItemId,
    ProviderSessionId,
    ProviderThreadId,
    RequestId,
    RunId,
    Time,
    TransferId,
)
from midstream.protocol.records.checkpoint import Checkpoint
from midstream.protocol.records.handoff import ContextTransfer, HandoffInfo
from midstream.protocol.records.item import Item
from midstream.protocol.records.provider import ProviderSession, ProviderThread
from midstream.protocol.records.request import RuntimeRequest
from midstream.protocol.records.run import Run
from midstream.protocol.records.thread import Thread
from midstream.server.graph.events import (
    CheckpointPut,
    Event,
    HandoffPut,
    ItemPut,
    ProviderSessionPut,
    ProviderThreadPut,
    RequestPut,
    RunPut,
    TextAppended,
    ThreadPut,
    TransferPut,
)
from midstream.server.graph.inherited import Inherited
from midstream.server.graph.texts import GrowingText

TextKey: TypeAlias = tuple[ItemId, str, str | None]

ACTIVE = frozenset({"starting", "running", "waiting"})
TERMINAL = frozenset({"completed", "interrupted", "failed", "cancelled", "rolled_back"})
COVERABLE = frozenset({"completed", "interrupted", "failed"})
LIVE_ITEM = frozenset({"pending", "running", "waiting"})
NEVER_TOLD = frozenset({"reasoning", "handoff", "checkpoint", "fork", "mergeBack", "notice", "compaction"})
"""Items that no provider ever misses: its own thoughts, and what the daemon notes for the user."""


@frozen
class Lived:
    """Where an item of the active run stands, and which provider thread lived it."""

    ordinal: int
    started_at: Time
    provider_thread_id: ProviderThreadId | None
    told: bool


@frozen(kw_only=True)
class ThreadState:
    """A thread's own records but its finished items, so that its size does not grow with what was said.

    `live_items` are those that have not ended, `texts` their growing fields; `active_items` are all of the active run.
    """

    thread: Thread
    runs: Map[RunId, Run] = Map()
    provider_threads: Map[ProviderThreadId, ProviderThread] = Map()
    sessions: Map[ProviderSessionId, ProviderSession] = Map()
    transfers: Map[TransferId, ContextTransfer] = Map()
    handoffs: Map[HandoffId, HandoffInfo] = Map()
    checkpoints: Map[CheckpointId, Checkpoint] = Map()
    requests: Map[RequestId, RuntimeRequest] = Map()
    live_items: Map[ItemId, Item] = Map()
    texts: Map[TextKey, GrowingText] = Map()
    inherited: Inherited = Inherited()
    active_items: Map[ItemId, Lived] = Map()
    active_run_id: RunId | None = None
    queue: tuple[RunId, ...] = ()
    last_started_run_id: RunId | None = None
    latest_checkpoint_id: CheckpointId | None = None
    sequence: int = 0
    last_run_ordinal: int = 0
    last_item_ordinal: int = 0

    @property
    def active_run(self) -> Run | None:
        """The run that is starting, running or waiting."""
        return None if self.active_run_id is None else self.runs[self.active_run_id]

    @property
    def unsent(self) -> tuple[ItemId, ...]:
        """The messages of the run that started last which no provider took yet."""
        last = self.runs.get(self.last_started_run_id or "")
        return (last.unsent_item_ids if last else None) or ()

    @property
    def queued_runs(self) -> tuple[Run, ...]:
        """The queued runs, next first."""
        return tuple(self.runs[run_id] for run_id in self.queue)

    @property
    def pending_requests(self) -> tuple[RuntimeRequest, ...]:
        """The requests that wait for the user."""
        return tuple(request for request in self.requests.values() if request.status == "pending")


def evolve(state: ThreadState | None, event: Event) -> ThreadState:
    """Return the state after an event. The first event of a thread is its `ThreadPut`."""
    if state is None:
        if not isinstance(event, ThreadPut):
            raise ValueError("a thread's first event makes the thread")
        return ThreadState(thread=event.record, sequence=1)
    if isinstance(event, TextAppended):
        return _append(state, event)
    return attrs.evolve(_put(state, event), sequence=state.sequence + 1)


def _put(state: ThreadState, event: Event) -> ThreadState:
    match event:
        case ThreadPut(record):
            return attrs.evolve(state, thread=record)
        case RunPut(record):
            return _put_run(state, record)
        case ItemPut(record):
            return _put_item(state, record)
        case ProviderThreadPut(record):
            return attrs.evolve(state, provider_threads=state.provider_threads.set(record.id, record))
        case ProviderSessionPut(record):
            return attrs.evolve(state, sessions=state.sessions.set(record.id, record))
        case TransferPut(record):
            return attrs.evolve(state, transfers=state.transfers.set(record.id, record))
        case HandoffPut(record):
            return attrs.evolve(state, handoffs=state.handoffs.set(record.id, record))
        case CheckpointPut(record):
            return attrs.evolve(
                state,
                checkpoints=state.checkpoints.set(record.id, record),
                latest_checkpoint_id=latest(state.latest_checkpoint_id, record),
            )
        case RequestPut(record):
            return attrs.evolve(state, requests=state.requests.set(record.id, record))
        case TextAppended():
            return _append(state, event)


def latest(known: CheckpointId | None, checkpoint: Checkpoint) -> CheckpointId | None:
    """Return the later of a thread's latest checkpoint and this one; only the workspace's own, ready ones count."""
    counts = checkpoint.status == "ready" and checkpoint.kind in ("baseline", "run", "manual")
    return max(known or "", checkpoint.id) if counts else known


def lived(item: Item) -> Lived:
    """Return what is remembered of an item while its run is active."""
    return Lived(item.ordinal, item.started_at, item.provider_thread_id, item.type not in NEVER_TOLD)


def _put_run(state: ThreadState, run: Run) -> ThreadState:
    active = state.active_run_id
    active_items = state.active_items
    if run.status in ACTIVE:
        active_items = active_items if active == run.id else Map()
        active = run.id
    elif active == run.id:
        active = None
    started = run.ordinal is not None and run.ordinal >= state.last_run_ordinal
    return attrs.evolve(
        state,
        runs=state.runs.set(run.id, run),
        active_run_id=active,
        active_items=active_items,
        queue=_queue(state, run),
        last_started_run_id=run.id if started else state.last_started_run_id,
        last_run_ordinal=max(state.last_run_ordinal, run.ordinal or 0),
    )


def _queue(state: ThreadState, run: Run) -> tuple[RunId, ...]:
    """Return the queued runs' order with a run's new version."""
    before = state.runs.get(run.id)
    position = run.queue_position if run.status == "queued" else None
    if (before.queue_position if before is not None else None) == position:
        return state.queue
    queue = [run_id for run_id in state.queue if run_id != run.id]
    if position is not None:
        insort(
            queue, run.id, key=lambda run_id: position if run_id == run.id else state.runs[run_id].queue_position or 0
        )
    return tuple(queue)


def _put_item(state: ThreadState, item: Item) -> ThreadState:
    live, texts = state.live_items, state.texts
    if item.status in LIVE_ITEM:
        live = live.set(item.id, item)
        for key, text in texts.items():
            if key[0] == item.id:
                texts = texts.set(key, attrs.evolve(text, recorded=text.length))
    else:
        live = live.delete(item.id) if item.id in live else live
        for key in tuple(texts):
            if key[0] == item.id:
                texts = texts.delete(key)
    active_items = state.active_items
    if item.run_id is not None and item.run_id == state.active_run_id:
        active_items = active_items.set(item.id, lived(item))
    return attrs.evolve(
        state,
        live_items=live,
        texts=texts,
        active_items=active_items,
        last_item_ordinal=max(state.last_item_ordinal, item.ordinal),
    )


def _append(state: ThreadState, event: TextAppended) -> ThreadState:
    if event.item_id not in state.live_items:
        return state
    key = (event.item_id, event.field, event.path)
    text = state.texts.get(key, GrowingText())
    return attrs.evolve(state, texts=state.texts.set(key, text.appended(event.text)))
