"""A whole thread as clients read it."""

from midstream.protocol.records.read import ThreadRead
from midstream.server.graph.inheritance import known_runs
from midstream.server.graph.state import ThreadState


def thread_read(state: ThreadState) -> ThreadRead:
    """Return a thread's records as they stand, oldest first; of inherited ones, the runs."""
    return ThreadRead(
        thread=state.thread,
        runs=tuple(sorted(known_runs(state).values(), key=lambda run: run.id)),
        provider_threads=tuple(sorted(state.provider_threads.values(), key=lambda known: known.id)),
        transfers=tuple(sorted(state.transfers.values(), key=lambda transfer: transfer.id)),
        handoffs=tuple(sorted(state.handoffs.values(), key=lambda handoff: handoff.id)),
        checkpoints=tuple(sorted(state.checkpoints.values(), key=lambda checkpoint: checkpoint.id)),
        requests=tuple(sorted(state.requests.values(), key=lambda request: request.id)),
        sequence=state.sequence,
    )
