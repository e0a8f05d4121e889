"""The protocol's classes as tests want them: all of them, their fields in the document's spelling, and samples."""

from collections.abc import Hashable, Iterator
from functools import cache
from typing import Any, Final, Literal, TypeAlias, cast, get_args, get_origin

import attrs
from hypothesis import strategies as st

from midstream.protocol.base import JsonObject
from midstream.protocol.checked import CHECKS, CommandId, RelativePath, lies_inside
from midstream.protocol.converter import make_converter
from midstream.protocol.names import camel
from midstream.protocol.notifications import RECORD_CLASSES, ThreadEvent
from midstream.protocol.schema import ROOTS, SCALARS, is_required, wire_type
from support.contract import Fields, canonical

Class: TypeAlias = type[attrs.AttrsInstance]

CONVERTER: Final = make_converter()
FORBIDDING: Final = make_converter(forbid_extra_keys=True)
ANYTHING: Final = "anything at all"
MAP_KEY: Final = "any-key"
JSON: Final = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3),
    lambda values: st.lists(values, max_size=2) | st.dictionaries(st.text(max_size=3), values, max_size=2),
    max_leaves=4,
)


def classes_within(type_: object) -> Iterator[Class]:
    """Yield the classes that a type is made of, itself included, with repetitions."""
    if isinstance(type_, type) and attrs.has(type_):
        yield type_
        for field in attrs.fields(type_):
            yield from classes_within(field.type)
    else:
        for arm in get_args(type_):
            yield from classes_within(arm)


CLASSES: Final[dict[str, Class]] = {cls.__name__: cls for root in ROOTS for cls in classes_within(root)}


def fields_of(cls: Class) -> Fields:
    """Return a class's fields as the document writes them."""
    return {
        camel(field.name) + ("" if is_required(field) else "?"): canonical(_arms(wire_type(field)))
        for field in attrs.fields(cls)
    }


def _arms(type_: object) -> frozenset[str]:
    origin, arms = get_origin(type_), get_args(type_)
    if type_ in SCALARS:
        return frozenset({SCALARS[type_]})
    if type_ is object or type_ == JsonObject:
        return frozenset({"any" if type_ is object else "object"})
    if isinstance(type_, type) and attrs.has(type_):
        return frozenset({type_.__name__})
    if origin is Literal:
        return frozenset("true" if arm is True else f'"{arm}"' for arm in arms)
    if origin is tuple:
        return frozenset({f"[{canonical(_arms(arms[0]))}]"})
    if origin is dict:
        return frozenset({f"{{string: {canonical(_arms(arms[1]))}}}"})
    return frozenset().union(*map(_arms, arms))


def sample(type_: object) -> Any:
    """Return a JSON value of a type with all that it may hold: each optional field, each arm of a list's union."""
    origin, arms = get_origin(type_), get_args(type_)
    scalars: dict[object, object] = {
        str: "text",
        int: 7,
        float: 7.5,
        bool: True,
        object: ANYTHING,
        **dict.fromkeys(CHECKS, "text"),
    }
    if type_ in scalars:
        return scalars[type_]
    if isinstance(type_, type) and attrs.has(type_):
        return {camel(field.name): sample(wire_type(field)) for field in attrs.fields(type_)}
    if origin is tuple:
        members = get_args(arms[0]) if attrs.has(next(iter(get_args(arms[0])), int)) else arms[:1]
        return [sample(member) for member in members]
    if origin is dict:
        return {} if type_ == JsonObject else {MAP_KEY: sample(arms[1])}
    return arms[0] if origin is Literal else sample(arms[0])


def _is_path(text: str) -> bool:
    return lies_inside(text.encode())


@cache
def instances(type_: object) -> st.SearchStrategy[Any]:
    """Return a strategy of instances of a type."""
    origin, arms = get_origin(type_), get_args(type_)
    scalars: dict[object, st.SearchStrategy[Any]] = {
        str: st.text(max_size=4),
        CommandId: st.text(min_size=1, max_size=4),
        RelativePath: st.lists(st.text("abc.é -", min_size=1), min_size=1, max_size=3).map("/".join).filter(_is_path),
        int: st.integers(-(2**53), 2**53),
        float: st.floats(allow_nan=False, allow_infinity=False),
        object: JSON,
    }
    if type_ in scalars:
        return scalars[type_]
    if type_ is ThreadEvent:
        return st.sampled_from(list(RECORD_CLASSES)).flatmap(_events)
    if isinstance(type_, type) and attrs.has(type_):
        return st.builds(type_, **_parts(type_))
    if origin is Literal:
        return st.sampled_from(arms)
    if origin is tuple:
        return st.lists(instances(arms[0]), max_size=1).map(tuple)
    if origin is dict:
        return st.dictionaries(st.text(max_size=3), instances(arms[1]), max_size=1)
    return st.one_of(*map(instances, arms)) if arms else st.from_type(type_)  # type: ignore[arg-type]


def _parts(cls: Class) -> dict[str, st.SearchStrategy[Any]]:
    return {field.name: instances(cast(Hashable, field.type)) for field in attrs.fields(cls)}


def _events(tag: Any) -> st.SearchStrategy[ThreadEvent]:
    return st.builds(
        ThreadEvent, **{**_parts(ThreadEvent), "type": st.just(tag), "record": instances(RECORD_CLASSES[tag])}
    )
