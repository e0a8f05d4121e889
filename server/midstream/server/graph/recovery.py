"""Putting a thread right after a crash, and when an agent process changes."""

import attrs

from midstream.protocol.base import Reason
from midstream.protocol.records.provider import ProviderSession
from midstream.protocol.records.run import Run
from midstream.protocol.records.thread import Thread
from midstream.server.graph.changes import Changes, with_attempt
from midstream.server.graph.commands import EndTurn, FinishRun, UpdateSession
from midstream.server.graph.endings import ENDED, end, finish
from midstream.server.graph.events import HandoffPut, ProviderSessionPut, ProviderThreadPut
from midstream.server.graph.requests import close_requests
from midstream.server.graph.threads import put_thread


def recover(changes: Changes) -> Thread:
    """End what was live as it stands, hold the queue, and doubt what was on its way."""
    if changes.state.queue:
        put_thread(changes, attrs.evolve(changes.state.thread, queue_held=True))
    run = changes.state.active_run
    if run is not None:
        _doubt_delivery(changes, run)
        attempt = run.attempts[-1]
        close_requests(changes, run.id, "expired")
        for earlier in run.attempts[:-1]:
            if earlier.status in ("pending", "running"):
                run = changes.put_run(with_attempt(run, attrs.evolve(earlier, status="superseded")))
        if attempt.status not in ENDED:
            end(
                changes,
                EndTurn(run_id=run.id, attempt=attempt.ordinal, status="interrupted", failure=None, lost=True),
            )
        finish(changes, FinishRun(run_id=run.id, attempt=attempt.ordinal, checkpoint=None))
    for session in changes.state.sessions.values():
        if session.status not in ("stopped", "error"):
            update_session(changes, UpdateSession(session=attrs.evolve(session, status="stopped", pid=None)))
    return changes.state.thread


def _doubt_delivery(changes: Changes, run: Run) -> None:
    known = changes.state.provider_threads.get(run.attempts[-1].provider_thread_id or "")
    if known is None or known.status != "active" or run.attempts[-1].status != "pending":
        return
    for handoff_id in run.handoff_ids:
        handoff = changes.state.handoffs[handoff_id]
        if handoff.delivery is not None and handoff.delivery.status == "pending":
            doubted = attrs.evolve(handoff.delivery, status="uncertain")
            changes.put(HandoffPut(attrs.evolve(handoff, delivery=doubted, updated_at=changes.now)))
    reason = Reason(
        code="delivery_uncertain",
        message="The daemon stopped while a message was on its way; nobody knows whether it arrived.",
    )
    changes.put(ProviderThreadPut(attrs.evolve(known, stale_reasons=(*known.stale_reasons, reason))))


def update_session(changes: Changes, command: UpdateSession) -> ProviderSession:
    """Note an agent process's state; when it stopped, its conversations are no longer loaded."""
    session = command.session
    if changes.state.sessions.get(session.id) != session:
        changes.put(ProviderSessionPut(session))
    if session.status in ("stopped", "error"):
        for known in tuple(changes.state.provider_threads.values()):
            if known.session_id == session.id and known.status in ("idle", "active"):
                changes.put(ProviderThreadPut(attrs.evolve(known, status="not_loaded")))
    return session
