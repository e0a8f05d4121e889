"""What a reader may see: its thread, and of each ancestor what came before the fork."""

from collections.abc import Mapping

import attrs
from attrs import frozen
from immutables import Map

from midstream.protocol.base import CheckpointId, ItemId, RunId, ThreadId
from midstream.protocol.records.checkpoint import Checkpoint
from midstream.protocol.records.item import Item, ReasoningItem
from midstream.protocol.records.run import Run
from midstream.protocol.records.thread import SourcePoint
from midstream.server.graph.state import ThreadState
from midstream.server.runtime.loading import load_state
from midstream.server.store import ItemAnchor, Questions, Scopes


@frozen(kw_only=True)
class Reach:
    """The records of a thread and its ancestors that can be read; rolled-back runs are none of them.

    `state` is the thread's, with the ancestors' runs among its own.
    """

    state: ThreadState
    scopes: Scopes
    checkpoints: Mapping[CheckpointId, Checkpoint]

    @property
    def runs(self) -> Mapping[RunId, Run]:
        """The runs that can be read, by id."""
        return self.state.runs

    @property
    def by_ordinal(self) -> dict[int, Run]:
        """The runs that can be read, oldest first."""
        return dict(sorted((run.ordinal, run) for run in self.runs.values() if run.ordinal is not None))

    def shows(self, item: Item) -> bool:
        """Whether an item of the scopes can be read: reasoning never is, like what was rolled back."""
        return not isinstance(item, ReasoningItem) and (item.run_id is None or item.run_id in self.runs)

    def holds(self, item: Item) -> bool:
        """Whether an item belongs to the thread or to what it inherits."""
        return any(
            item.thread_id == thread_id and (upto is None or item.ordinal <= upto) for thread_id, upto in self.scopes
        )

    async def item(self, store: Questions, item_id: ItemId) -> Item | None:
        """Return an item, None for one that is out of reach as for one that is not."""
        found = await store.item(item_id)
        return found if found is not None and self.holds(found) and self.shows(found) else None


async def reach(store: Questions, thread_id: ThreadId) -> Reach | None:
    """Return what can be read of a thread, None where it is gone."""
    state = await load_state(store, thread_id)
    if state is None:
        return None
    runs = {run.id: run for run in state.runs.values() if run.status != "rolled_back"}
    checkpoints = {one.id: one for one in state.checkpoints.values() if one.run_id is None or one.run_id in runs}
    scopes: list[tuple[ThreadId, int | None]] = [(thread_id, None)]
    point, last_run, last_item = state.thread.forked_from, None, None
    while point is not None and point.thread_id not in {scope for scope, _ in scopes}:
        source = await load_state(store, point.thread_id)
        if source is None:
            break
        last_run = _least(last_run, _run_ordinal(source, point))
        last_item = _least(last_item, await _item_ordinal(store, point))
        inherited = {run.id: run for run in source.runs.values() if _inherited(run, last_run)}
        runs.update(inherited)
        checkpoints.update({one.id: one for one in source.checkpoints.values() if one.run_id in inherited})
        scopes.append((point.thread_id, last_item))
        point = source.thread.forked_from
    return Reach(state=attrs.evolve(state, runs=Map(runs)), scopes=tuple(scopes), checkpoints=checkpoints)


def _inherited(run: Run, last: int) -> bool:
    return run.ordinal is not None and run.ordinal <= last and run.status != "rolled_back"


def _run_ordinal(source: ThreadState, point: SourcePoint) -> int:
    run = source.runs.get(point.run_id or "")
    return (run.ordinal or 0) if run is not None else 0


async def _item_ordinal(store: Questions, point: SourcePoint) -> int:
    """Return the ordinal of the last item before the fork: the point's own, or the last of its run."""
    if point.item_id is not None:
        item = await store.item(point.item_id)
        return item.ordinal if item is not None else 0
    page = await store.items(((point.thread_id, None),), point.run_id, ItemAnchor(last=True), 1)
    return page.items[-1].ordinal if point.run_id is not None and page is not None and page.items else 0


def _least(known: int | None, here: int) -> int:
    return here if known is None else min(known, here)
