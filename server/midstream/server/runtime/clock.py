"""The time of day, as the protocol writes it."""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TypeAlias

from midstream.protocol.base import Time

Clock: TypeAlias = Callable[[], int]
"""Milliseconds since the epoch."""


def system_clock() -> int:
    """Return the system's time."""
    return time.time_ns() // 1_000_000


def never_back(clock: Clock, since: int = 0) -> Clock:
    """Return a clock that shows no time before `since`, and stands still where `clock` goes back."""
    last = since

    def shown() -> int:
        nonlocal last
        last = max(last, clock())
        return last

    return shown


def as_time(milliseconds: int) -> Time:
    """Return a time as RFC 3339, UTC, with milliseconds."""
    moment = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
