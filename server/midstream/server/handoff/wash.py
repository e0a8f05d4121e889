"""All of a handoff's material made safe before anything is taken from it, so that no later cut can hide a secret."""

from typing import Any, TypeVar, cast

import attrs

from midstream.server.handoff.redact import redact
from midstream.server.handoff.text import clean

T = TypeVar("T")


def wash(value: T, secrets: frozenset[str] = frozenset()) -> T:
    """Return a record, and all that it holds, with every text cleaned and redacted."""
    return cast(T, _wash(value, secrets))


def _wash(value: Any, secrets: frozenset[str]) -> Any:
    match value:
        case str():
            return redact(clean(value), secrets)[0]
        case tuple() | list():
            return tuple(_wash(part, secrets) for part in value)
        case dict():
            return {_wash(key, secrets): _wash(part, secrets) for key, part in value.items()}
        case _ if attrs.has(type(value)):
            fields = attrs.fields(type(value))
            washed = {field.alias: _wash(getattr(value, field.name), secrets) for field in fields}
            return attrs.evolve(value, **washed)
        case _:
            return value
