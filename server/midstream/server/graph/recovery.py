"""Putting a thread right after a crash, and when an agent process changes."""

import attrs

from midstream.protocol.records.provider import ProviderSession
from midstream.protocol.records.thread import Thread
from midstream.server.graph.changes import Changes
from midstream.server.graph.commands import EndTurn, FinishRun, UpdateSession
from midstream.server.graph.endings import doubt_delivery, end, finish
from midstream.server.graph.events import ProviderSessionPut, ProviderThreadPut
from midstream.server.graph.requests import close_requests
from midstream.server.graph.threads import put_thread


def recover(changes: Changes) -> Thread:
    """End what was live as it stands, hold the queue, and doubt what was on its way."""
    if changes.state.queue:
        put_thread(changes, attrs.evolve(changes.state.thread, queue_held=True))
    run = changes.state.active_run
    if run is not None:
        close_requests(changes, run.id, "expired")
        *earlier, attempt = run.attempts
        end(changes, EndTurn(run_id=run.id, attempt=attempt.ordinal, status="interrupted", failure=None, lost=True))
        for superseded in earlier:
            doubt_delivery(changes, run, superseded)
        finish(changes, FinishRun(run_id=run.id, attempt=attempt.ordinal, checkpoint=None))
    for session in changes.state.sessions.values():
        if session.status not in ("stopped", "error"):
            update_session(changes, UpdateSession(session=attrs.evolve(session, status="stopped", pid=None)))
    return changes.state.thread


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
