"""When a fork needs no handoff: the provider can copy its own conversation up to the fork point."""

from midstream.protocol.records.handoff import ContextTransfer
from midstream.protocol.records.provider import ProviderThread
from midstream.server.handoff.history import History, Target
from midstream.server.handoff.staleness import Signals, unusable


def native_source(
    fork: ContextTransfer, history: History, target: Target, signals: Signals, to_tell: tuple[int, ...]
) -> ProviderThread | None:
    """Return the native conversation that the target can fork itself; None where the fork has to be told.

    Only one that knows every run up to the fork point will do: the fork carries no handoff beside it.
    """
    point = fork.source_point
    able = target.capabilities
    if not able.fork or able.native_ids != "strong" or point.native_thread_ref is None:
        return None
    source = next((known for known in history.provider_threads if known.id == point.provider_thread_id), None)
    if source is not None and not (able.fork_at_turn and point.native_turn_ref) and not _at_head(source, to_tell):
        return None
    if source is None or source.provider != target.provider or unusable(source, target, signals):
        return None
    # The source went on with ordinals of its own: they are not the fork's, whose earlier runs it never saw.
    own = {run.ordinal for run in history.runs if run.thread_id == history.thread.id}
    complete = history.covered_by(source).issuperset(to_tell) and own.isdisjoint(to_tell)
    return source if complete and not source.missing_item_ids else None


def _at_head(source: ProviderThread, to_tell: tuple[int, ...]) -> bool:
    """Return whether the conversation has nothing after the fork point, so that a fork of all of it will do."""
    return max(source.native_run_ordinals, default=0) <= max(to_tell, default=0)
