"""What a reader may see: its thread, and of each ancestor what came before the fork."""

from collections.abc import Mapping

import attrs
from attrs import frozen
from immutables import Map

from midstream.protocol.base import CheckpointId, ItemId, RunId, ThreadId
from midstream.protocol.records.checkpoint import Checkpoint
from midstream.protocol.records.item import Item, ReasoningItem
from midstream.protocol.records.run import Run
from midstream.server.graph.inheritance import known_runs
from midstream.server.graph.state import ThreadState
from midstream.server.runtime.loading import load_state
from midstream.server.store import Questions, Scopes


@frozen(kw_only=True)
class Reach:
    """The records of a thread and its ancestors that can be read; rolled-back runs are none of them."""

    state: ThreadState
    runs: Mapping[RunId, Run]
    scopes: Scopes
    checkpoints: Mapping[CheckpointId, Checkpoint]

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
    standing = {run.id: run for run in state.runs.values() if run.status != "rolled_back"}
    state = attrs.evolve(state, runs=Map(standing))
    inherited = state.inherited
    left_by = {one.id: one for one in state.checkpoints.values() if one.run_id is None or one.run_id in standing}
    return Reach(
        state=state,
        runs=known_runs(state),
        scopes=((thread_id, None), *inherited.scopes),
        checkpoints=inherited.checkpoints.update(left_by),
    )
