"""A thread's state from what is stored of it."""

import attrs
from immutables import Map

from midstream.protocol.base import ThreadId
from midstream.server.graph.inheritance import inherit
from midstream.server.graph.state import ACTIVE, ThreadState, latest
from midstream.server.store import Questions, Snapshot


async def load_state(store: Questions, thread_id: ThreadId) -> ThreadState | None:
    """Return the state of a thread as its last commit left it, or None where there is no such thread."""
    return await _load(store, await store.snapshot(thread_id))


async def _load(store: Questions, snapshot: Snapshot | None) -> ThreadState | None:
    if snapshot is None:
        return None
    state = await _with_inherited(store, state_of(snapshot))
    if state.active_run_id is None:
        return state
    return attrs.evolve(state, active_items=Map(await store.lived(state.active_run_id)))


async def _with_inherited(store: Questions, state: ThreadState) -> ThreadState:
    """Return a fork's state with what it has from its parent, deleted as it may be."""
    point = state.thread.forked_from
    source = None if point is None else await _load(store, await store.snapshot(point.thread_id, deleted=True))
    if point is None or source is None:
        return state
    last = None if point.item_id is None else await store.item(point.item_id)
    inherited = inherit(source, point, last.ordinal if last else 0)
    return attrs.evolve(
        state,
        inherited=inherited,
        last_run_ordinal=max(state.last_run_ordinal, inherited.last_run_ordinal),
        last_item_ordinal=max(state.last_item_ordinal, inherited.last_item_ordinal),
    )


def state_of(snapshot: Snapshot) -> ThreadState:
    """Return the state that a snapshot's records make."""
    read = snapshot.read
    active = next((run for run in read.runs if run.status in ACTIVE), None)
    queued = sorted((run for run in read.runs if run.status == "queued"), key=lambda run: run.queue_position or 0)
    started = [run for run in read.runs if run.ordinal is not None]
    latest_id: str | None = None
    for checkpoint in read.checkpoints:
        latest_id = latest(latest_id, checkpoint)
    return ThreadState(
        thread=read.thread,
        runs=Map({run.id: run for run in read.runs}),
        provider_threads=Map({known.id: known for known in read.provider_threads}),
        sessions=Map({session.id: session for session in snapshot.sessions}),
        transfers=Map({transfer.id: transfer for transfer in read.transfers}),
        handoffs=Map({handoff.id: handoff for handoff in read.handoffs}),
        checkpoints=Map({checkpoint.id: checkpoint for checkpoint in read.checkpoints}),
        requests=Map({request.id: request for request in read.requests}),
        live_items=Map({item.id: item for item in snapshot.live_items}),
        texts=Map(snapshot.texts),
        active_run_id=active.id if active else None,
        queue=tuple(run.id for run in queued),
        last_started_run_id=max(started, key=lambda run: run.ordinal or 0).id if started else None,
        latest_checkpoint_id=latest_id,
        sequence=read.sequence,
        last_run_ordinal=snapshot.last_run_ordinal,
        last_item_ordinal=snapshot.last_item_ordinal,
    )
