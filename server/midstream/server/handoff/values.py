"""Which values are secrets although nothing in their shape says so: those that look like chance."""

import math
import re
from collections import Counter
from typing import Final

SHORTEST: Final = 12
"""Characters: a shorter value would be found in innocent text."""

ENTROPY: Final = 3.2
"""Bits for each character, of the value's own letters; words and paths of this length stay below or are told apart."""

_ASSIGNED: Final = re.compile(
    r"^[ \t]*(?:export[ \t]+)?[A-Za-z_][A-Za-z0-9_]*[ \t]*=[ \t]*(?P<value>.*?)[ \t]*$", re.MULTILINE
)
_DIGIT_AND_LETTER: Final = re.compile(r"(?=.*\d)(?=.*[A-Za-z])")
_PLACE: Final = re.compile(r"[\s/\\]|^[\w.-]+@|^[\w.]+:\d+$|^\d[\d.:T-]*Z?$")
"""Paths, addresses, lists of words, versions and times."""


def secret_like(value: str) -> bool:
    """Return whether a value is long and random enough to be a secret wherever it stands."""
    if len(value) < SHORTEST or _PLACE.search(value) or not _DIGIT_AND_LETTER.match(value):
        return False
    return _entropy(value) >= ENTROPY


def assigned(text: str) -> frozenset[str]:
    """Return the secret-like values of a file that sets variables, such as ``.env``."""
    values = (match["value"].strip("\"'") for match in _ASSIGNED.finditer(text))
    return frozenset(value for value in values if secret_like(value))


def _entropy(value: str) -> float:
    return -sum(n / len(value) * math.log2(n / len(value)) for n in Counter(value).values())
