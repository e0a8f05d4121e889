"""Threads that do not go on by themselves, told from what is stored; pure."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from midstream.protocol.records.run import Run
from midstream.server.cli.doctor.finding import Finding, counted, error, ok, warning
from midstream.server.graph.effects import ExecuteAttempt
from midstream.server.store import LiveThread

ACTIVE: Final = ("starting", "running", "waiting")
LONG: Final = timedelta(hours=1)


def look_at_threads(live: Sequence[LiveThread], *, daemon_runs: bool, now: datetime) -> list[Finding]:
    """Say which threads are stuck, and which wait for the user."""
    if not daemon_runs:
        interrupted = [one for one in live if _active(one)]
        if not interrupted:
            return [*_held(live)] or [ok("threads", "none is stuck")]
        message = f"{counted(len(interrupted), 'run')} ended with a daemon that died"
        action = "Start midstream serve: it marks them interrupted, with all that was stored of them."
        return [warning("threads", message, action), *_held(live)]
    found = [finding for one in live if (finding := _stuck(one, now)) is not None]
    return [*found, *_held(live)] or [ok("threads", f"none is stuck, {len(live)} at work")]


def _stuck(live: LiveThread, now: datetime) -> Finding | None:
    subject = f"thread {live.thread.id}"
    restart = "End the daemon and start it anew: what is stored of the run is kept, and it can be retried."
    run = _active(live)
    if run is None:
        if live.thread.queue_held or not any(queued.status == "queued" for queued in live.runs):
            return None
        return error(subject, "its queue does not go on, and nothing holds it", restart)
    if not any(isinstance(effect, ExecuteAttempt) and effect.run_id == run.id for effect in live.effects):
        return error(subject, f"run {run.ordinal} is {run.status}, and nobody carries it out", restart)
    if run.started_at is None or now - datetime.fromisoformat(run.started_at) < LONG:
        return None
    if run.status == "waiting":
        return warning(subject, f"run {run.ordinal} waits for an answer since {run.started_at}", "Answer its request.")
    message = f"run {run.ordinal} is {run.status} since {run.started_at}"
    return warning(subject, message, "Look at what its agent does, and interrupt it where that is nothing.")


def _held(live: Sequence[LiveThread]) -> list[Finding]:
    return [
        warning(
            f"thread {one.thread.id}", f"{counted(waiting, 'queued run')} held", "Resume its queue, or cancel them."
        )
        for one in live
        if one.thread.queue_held and (waiting := sum(run.status == "queued" for run in one.runs))
    ]


def _active(live: LiveThread) -> Run | None:
    return next((run for run in live.runs if run.status in ACTIVE), None)
