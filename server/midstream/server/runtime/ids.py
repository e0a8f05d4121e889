"""Ids with a type prefix, sortable by creation: 48 bits of milliseconds, 16 of a counter, 48 of chance."""

import secrets
from collections.abc import Callable

from midstream.server.graph.changes import IdPrefix

DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"


def id_maker(milliseconds: Callable[[], int]) -> Callable[[IdPrefix], str]:
    """Return a maker of ids that never goes backwards, even when the clock does."""
    last = 0

    def make(prefix: IdPrefix) -> str:
        nonlocal last
        last = max(last + 1, milliseconds() << 16)
        number = last << 48 | secrets.randbits(48)
        return f"{prefix}_" + "".join(DIGITS[number >> shift & 31] for shift in range(110, -1, -5))

    return make


def milliseconds_of(made: str) -> int:
    """Return when an id was made, in milliseconds since the epoch."""
    _, _, digits = made.partition("_")
    number = 0
    for digit in digits:
        number = number << 5 | DIGITS.index(digit)
    return number >> 64
