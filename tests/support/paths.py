"""Where the params of requests hold paths of a workspace, read from their classes, and paths that leave it."""

from collections.abc import Iterator
from typing import Any, Final, TypeAlias, get_args, get_origin

import attrs

from midstream.protocol.checked import RelativePath
from midstream.protocol.methods.table import METHODS
from midstream.protocol.names import camel
from midstream.protocol.schema import wire_type
from support.classes import sample

Steps: TypeAlias = tuple[str | int, ...]

LEAVING: Final = (
    *("", "/", "/etc/passwd", "//etc/passwd", ".", "..", "./a", "../a", "a/..", "a/../b", "a/../../etc/passwd"),
    *("a//b", "a/", "a\0b", "..\0"),
)
INSIDE: Final = (
    *("a", "a/b", "...", "..a", "a..", "-rf", "--output=x", ":(top)a", "a\nb", "a\\..\\b", "~", "%2e%2e/a", "ä"),
)


def places_of(type_: object, steps: Steps = ()) -> Iterator[Steps]:
    """Yield the way to each path of a workspace inside a value of a type."""
    if type_ is RelativePath:
        yield steps
    elif isinstance(type_, type) and attrs.has(type_):
        for field in attrs.fields(type_):
            yield from places_of(wire_type(field), (*steps, camel(field.name)))
    elif get_origin(type_) is tuple:
        yield from places_of(get_args(type_)[0], (*steps, 0))
    else:
        for arm in get_args(type_):
            yield from places_of(arm, steps)


PLACES: Final = [(method, steps) for method, found in METHODS.items() for steps in places_of(found.params)]
"""Each method that takes a path of a workspace, with the way to it in the params."""


def params_with(method: str, steps: Steps, path: str) -> dict[str, Any]:
    """Return params that fit but perhaps for one path."""
    params: dict[str, Any] = sample(METHODS[method].params)
    inner: Any = params
    for step in steps[:-1]:
        inner = inner[step]
    inner[steps[-1]] = path
    return params


def named(steps: Steps) -> str:
    """Return a way as `data.path` of an error names it."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps).lstrip(".")
