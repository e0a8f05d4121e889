"""What a rollback has to know beside its thread: whose files to go back to, and which forks still stand."""

from midstream.protocol.base import ThreadId
from midstream.protocol.errors import MidstreamError
from midstream.protocol.records.checkpoint import Checkpoint
from midstream.server.graph.inheritance import known_checkpoints, standing_runs
from midstream.server.graph.rollback import later_runs
from midstream.server.graph.state import ThreadState
from midstream.server.store import Store


def files_after(state: ThreadState, ordinal: int) -> Checkpoint | None:
    """Return the files as the first run after one found them, or else as that one left them.

    What the user did between the two is the user's, and is not rolled back.

    None where nothing would be rolled back.

    Raises:
        MidstreamError: checkpointNotFound, where neither is kept.
    """
    later = later_runs(state, ordinal)
    if not later:
        return None
    last = next((run for run in reversed(standing_runs(state)) if (run.ordinal or 0) <= ordinal), None)
    known = known_checkpoints(state)
    for checkpoint_id in (later[0].baseline_checkpoint_id, last.checkpoint_id if last else None):
        checkpoint = known.get(checkpoint_id or "")
        if checkpoint is not None and checkpoint.status == "ready":
            return checkpoint
    raise MidstreamError(
        "checkpointNotFound",
        f"The files as they were after run {ordinal} are not kept; roll back without restoring them.",
        threadId=state.thread.id,
    )


async def standing(store: Store, state: ThreadState) -> frozenset[ThreadId]:
    """Return the forks that gave their work to this thread and are still there."""
    sources = {transfer.source_thread_id for transfer in state.transfers.values() if transfer.type == "merge_back"}
    return frozenset([source for source in sources if await store.thread(source) is not None])
