"""What a provider says and does in a turn, made into items, text and requests."""

import attrs

from midstream.server.graph.changes import Changes
from midstream.server.graph.commands import (
    Observation,
    Observe,
    ObservedCompaction,
    ObservedItem,
    ObservedRequest,
    ObservedSteer,
    ObservedText,
    ObservedUsage,
    ObservedWithdrawal,
)
from midstream.server.graph.endings import ENDED
from midstream.server.graph.events import ProviderThreadPut
from midstream.server.graph.items import append_text, put_item
from midstream.server.graph.requests import open_request, withdraw
from midstream.server.graph.steering import take_steer
from midstream.server.graph.subagents import keep_conversation


def observe(changes: Changes, command: Observe) -> None:
    """Take in what an active run's provider said. What comes for a turn that is over changes nothing."""
    run = changes.state.active_run
    if run is None or run.id != command.run_id:
        return
    over = {attempt.ordinal for attempt in run.attempts if attempt.status in ENDED}
    if command.attempt not in {attempt.ordinal for attempt in run.attempts} - over or run.attempts[-1].ordinal in over:
        return
    for observation in command.observations:
        _take(changes, run.id, command.attempt, observation)


def _take(changes: Changes, run_id: str, attempt: int, observation: Observation) -> None:
    match observation:
        case ObservedItem(item=item, conversation_ref=native_ref):
            put_item(changes, item, run_id)
            if native_ref is not None:
                keep_conversation(changes, item, native_ref)
        case ObservedCompaction(item=item):
            put_item(changes, item, run_id)
            known = changes.state.provider_threads.get(item.provider_thread_id or "")
            if known is not None:
                changes.put(ProviderThreadPut(attrs.evolve(known, compacted=True)))
        case ObservedText(item_id=item_id, field=field, text=text):
            live = changes.state.live_items.get(item_id)
            if live is not None:
                append_text(changes, live, field, text)
        case ObservedRequest():
            open_request(changes, observation, run_id)
        case ObservedWithdrawal(request_id=request_id):
            withdraw(changes, request_id)
        case ObservedSteer():
            take_steer(changes, attempt)
        case ObservedUsage(usage=usage):
            changes.put_run(attrs.evolve(changes.state.runs[run_id], usage=usage))
