"""Which threads do not go on by themselves."""

from datetime import UTC, datetime
from typing import Any

import pytest

from midstream.server.cli.doctor.threads import look_at_threads
from midstream.server.graph.effects import ExecuteAttempt
from midstream.server.store import LiveThread
from support import records

NOW = datetime(2026, 12, 1, 16, 30, tzinfo=UTC)
LATER = datetime(2026, 12, 1, 17, 1, tzinfo=UTC)


def live(*runs: Any, executing: str | None = "run_1", held: bool = False) -> LiveThread:
    effect = ExecuteAttempt(run_id=executing, attempt=1, message_item_ids=()) if executing else None
    thread = records.thread(status="running", queue_held=held)
    return LiveThread(thread=thread, runs=runs, effects=(effect,) if effect else ())


def seen(*threads: LiveThread, daemon_runs: bool = True, now: datetime = NOW) -> list[tuple[str, str, str]]:
    found = look_at_threads(threads, daemon_runs=daemon_runs, now=now)
    assert all(one.severity == "ok" or one.action for one in found)
    return [(one.severity, one.subject, one.message) for one in found]


def test_none_is_stuck_where_all_are_idle() -> None:
    assert seen() == [("ok", "threads", "none is stuck, 0 at work")]
    assert seen(daemon_runs=False) == [("ok", "threads", "none is stuck")]


@pytest.mark.parametrize("status", ["starting", "running", "waiting"])
def test_a_run_that_is_carried_out_is_at_work(status: str) -> None:
    assert seen(live(records.run(1, status=status))) == [("ok", "threads", "none is stuck, 1 at work")]


@pytest.mark.parametrize("status", ["starting", "running", "waiting"])
def test_a_run_that_nobody_carries_out_is_stuck(status: str) -> None:
    ((severity, subject, message),) = seen(live(records.run(1, status=status), executing="run_2"))
    assert (severity, subject) == ("error", "thread thr_1")
    assert message == f"run 1 is {status}, and nobody carries it out"


def test_a_queue_that_nothing_holds_and_nothing_moves_is_stuck() -> None:
    ((severity, _, message),) = seen(live(records.run(None, status="queued"), executing=None))
    assert (severity, message) == ("error", "its queue does not go on, and nothing holds it")


def test_a_queue_behind_a_run_at_work_is_not_stuck() -> None:
    assert seen(live(records.run(1, status="running"), records.run(None, status="queued")))[0][0] == "ok"


def test_a_held_queue_waits_for_the_user() -> None:
    waiting = live(records.run(None, status="queued"), executing=None, held=True)
    for daemon_runs in (True, False):
        assert seen(waiting, daemon_runs=daemon_runs) == [("warning", "thread thr_1", "1 queued run held")]
    assert seen(live(records.run(1), executing=None, held=True))[0][0] == "ok"


def test_a_run_of_more_than_an_hour_is_told_of() -> None:
    at_work = live(records.run(1, status="running"))
    asking = live(records.run(1, status="waiting"))
    assert seen(at_work, now=LATER)[0][::2] == ("warning", "run 1 is running since 2026-12-01T16:00:00.000Z")
    assert seen(asking, now=LATER)[0][::2] == ("warning", "run 1 waits for an answer since 2026-12-01T16:00:00.000Z")


def test_runs_without_a_daemon_ended_with_it() -> None:
    ((severity, subject, message),) = seen(live(records.run(1, status="running")), daemon_runs=False)
    assert (severity, subject, message) == ("warning", "threads", "1 run ended with a daemon that died")
