"""Deleting a thread."""

from midstream.server.graph.changes import Changes, refuse
from midstream.server.graph.commands import CancelRun, DeleteThread
from midstream.server.graph.effects import EraseTraces
from midstream.server.graph.queue import cancel
from midstream.server.graph.state import ThreadState


def delete(changes: Changes, _: DeleteThread) -> None:
    """Cancel what is queued, and let the thread go with the commit.

    Raises:
        MidstreamError: invalidState, where a run is active.
    """
    run = changes.state.active_run
    if run is not None:
        refuse(f"Run {run.id} is {run.status}; interrupt it, and delete the thread once it has ended.", run)
    for queued in changes.state.queued_runs:
        cancel(changes, CancelRun(run_id=queued.id))
    refs = (known.native_ref for known in changes.state.provider_threads.values() if known.native_ref is not None)
    changes.effects.append(EraseTraces(native_refs=tuple(sorted(refs))))
    changes.forget = True


def native_conversations(state: ThreadState) -> tuple[str, ...]:
    """Name the providers' own conversations behind the thread, which outlive it."""
    return tuple(
        f"{known.provider} {known.native_ref}"
        for known in sorted(state.provider_threads.values(), key=lambda known: known.id)
        if known.native_ref is not None
    )
