"""Agent processes that a dead daemon left: they bear our mark, and no guard looks after that mark any more."""

from collections.abc import Iterator

import psutil
from attrs import frozen

from midstream.server.providers.process import GUARD, MARK


@frozen
class Orphan:
    """A process that nobody will end: its id, and its name as the system has it."""

    pid: int
    name: str


def orphans() -> tuple[Orphan, ...]:
    """Return the agent processes, of any data folder of this user, whose daemon is dead."""
    # In this order: an agent that has just started has a guard already, and one whose guard has just gone is dead.
    marked = list(_marked())
    guarded = _guarded()
    unguarded = ((process, name) for process, name, mark in marked if mark not in guarded)
    return tuple(Orphan(process.pid, name) for process, name in unguarded if process.is_running())


def _marked() -> Iterator[tuple[psutil.Process, str, str]]:
    for process in psutil.process_iter():
        try:
            mark = process.environ().get(MARK)
            if mark is not None and process.status() != psutil.STATUS_ZOMBIE:
                yield process, process.name(), mark
        except (psutil.Error, OSError):
            continue  # gone meanwhile, or another user's


def _guarded() -> frozenset[str]:
    marks = set()
    for process in psutil.process_iter():
        try:
            words = process.cmdline()
        except (psutil.Error, OSError):
            continue
        if GUARD in words:
            marks.add(words[-1].removeprefix(f"{MARK}="))
    return frozenset(marks)
