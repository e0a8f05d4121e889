"""How large a value is, for what may wait or be kept: about its length as JSON."""

from dataclasses import is_dataclass
from typing import Final

import attrs

SCALAR: Final = 8


def weight(value: object) -> int:
    """Return the code points of all strings in a value, however deep, and a little for each other thing in it."""
    total = 0
    waiting = [value]
    while waiting:
        match waiting.pop():
            case str() as text:
                total += SCALAR + len(text)
            case dict() as members:
                waiting.extend(members.keys())
                waiting.extend(members.values())
            case list() | tuple() as entries:
                waiting.extend(entries)
            case other if attrs.has(cls := type(other)):
                waiting.extend(getattr(other, field.name) for field in attrs.fields(cls))
            case other if is_dataclass(other):
                waiting.extend(vars(other).values())
            case _:
                total += SCALAR
    return total
