"""Between attrs classes and JSON values: camelCase names, strict types, tagged unions."""

import math
from collections.abc import Callable, Mapping
from functools import partial, reduce
from operator import is_, or_
from types import NoneType, UnionType
from typing import Final, Literal, TypeAlias, TypeVar, Union, cast, get_args, get_origin

import attrs
from cattrs import Converter
from cattrs.errors import ClassValidationError
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override

from midstream.protocol.base import LARGEST_INTEGER, OPTIONAL, JsonObject
from midstream.protocol.checked import CHECKS
from midstream.protocol.faults import FaultInside, invalid_params
from midstream.protocol.methods.thread import ForkPoint
from midstream.protocol.names import camel
from midstream.protocol.notifications import RECORD_CLASSES, Record, ThreadEvent
from midstream.protocol.records.handoff import Resolution
from midstream.protocol.records.item import Item
from midstream.protocol.records.run import Attachment, StoredAttachment

T = TypeVar("T")
Hook: TypeAlias = Callable[[object, object], object]

TAGGED_UNIONS: Final[tuple[tuple[object, str], ...]] = (
    (Item, "type"),
    (Attachment, "type"),
    (StoredAttachment, "type"),
    (ForkPoint, "type"),
    (Resolution, "strategy"),
)
SCALARS: Final = (str, int, float, bool, NoneType)


def tags_of(union: object, tag: str) -> dict[str, type[attrs.AttrsInstance]]:
    """Return which class stands behind each value of a union's tag field."""
    return {value: member for member in get_args(union) for value in get_args(attrs.fields_dict(member)[tag].type)}


def without_none(type_: object) -> object:
    """Return what a nullable type is beside null."""
    arms = get_args(type_)
    return reduce(or_, (arm for arm in arms if arm is not NoneType)) if NoneType in arms else type_


def make_converter(*, forbid_extra_keys: bool = False) -> Converter:
    """Make a converter for all classes of the protocol; unknown keys are ignored unless forbidden."""
    converter = Converter(forbid_extra_keys=forbid_extra_keys)
    for scalar in (str, bool):
        converter.register_structure_hook(scalar, _exactly(scalar))
    for kind, check in CHECKS.items():
        converter.register_structure_hook_func(partial(is_, kind), _checked(check))
    converter.register_structure_hook(int, _integer)
    converter.register_structure_hook(float, _number)
    converter.register_structure_hook_func(lambda t: t is object, lambda value, _: value)
    converter.register_unstructure_hook_func(lambda t: t is object, lambda value: value)
    converter.register_structure_hook_func(lambda t: t == JsonObject, _object)
    converter.register_unstructure_hook_func(lambda t: t == JsonObject, lambda value: value)
    converter.register_structure_hook(NoneType, _exactly(NoneType))
    converter.register_structure_hook_func(_is_scalar_union, _scalar_of_union)
    converter.register_structure_hook_func(_is_literal, _one_of)
    converter.register_structure_hook_factory(_is_list, lambda t: _list_hook(t, converter))
    converter.register_structure_hook_factory(_is_map, lambda t: _map_hook(t, converter))
    converter.register_structure_hook_factory(attrs.has, lambda t: _record_hook(t, converter))
    converter.register_unstructure_hook_factory(attrs.has, lambda t: _record_dump(t, converter))
    for union, tag in TAGGED_UNIONS:
        _register_tagged(converter, union, tag)
    converter.register_structure_hook(ThreadEvent, _thread_event_hook(converter))
    return converter


def structure(converter: Converter, value: object, cls: type[T]) -> T:
    """Make an instance of `cls` from a JSON value.

    Raises:
        InvalidParams: the value does not fit; names the first field that does not.
    """
    try:
        return converter.structure(value, cls)
    except (ClassValidationError, TypeError, ValueError) as error:
        raise invalid_params(error) from None


def _is_list(type_: object) -> bool:
    return get_origin(type_) is tuple


def _is_map(type_: object) -> bool:
    return get_origin(type_) is dict and type_ != JsonObject


def _is_scalar_union(type_: object) -> bool:
    return get_origin(type_) in (Union, UnionType) and (
        len(get_args(type_)) > 2 and all(arm in SCALARS for arm in get_args(type_))
    )


def _is_literal(type_: object) -> bool:
    return get_origin(type_) == Literal


def _exactly(cls: type[object]) -> Hook:
    def hook(value: object, _: object) -> object:
        if type(value) is not cls:
            raise TypeError(f"expected {_json_name(cls)}, got {_json_name(type(value))}")
        return value

    return hook


def _checked(check: Callable[[str], str]) -> Hook:
    exactly = _exactly(str)
    return lambda value, target: check(cast(str, exactly(value, target)))


def _integer(value: object, _: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"expected integer, got {_json_name(type(value))}")
    if abs(value) > LARGEST_INTEGER:
        raise ValueError(f"expected integer from {-LARGEST_INTEGER} to {LARGEST_INTEGER}")
    return value


def _one_of(value: object, type_: object) -> object:
    if not any(type(value) is type(arm) and value == arm for arm in get_args(type_)):
        raise ValueError(f"expected one of {', '.join(str(arm) for arm in get_args(type_))}")
    return value


def _number(value: object, _: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise TypeError(f"expected finite number, got {_json_name(type(value))}")
    return float(value)


def _object(value: object, _: object) -> JsonObject:
    if value == []:
        return {}
    if not isinstance(value, dict):
        raise TypeError(f"expected object, got {_json_name(type(value))}")
    return value


def _scalar_of_union(value: object, type_: object) -> object:
    if type(value) not in get_args(type_):
        expected = " or ".join(_json_name(arm) for arm in get_args(type_))
        raise TypeError(f"expected {expected}, got {_json_name(type(value))}")
    return value


def _list_hook(type_: type, converter: Converter) -> Hook:
    read = _reader(get_args(type_)[0], converter)

    def hook(value: object, _: object) -> object:
        if not isinstance(value, list | tuple):
            raise TypeError(f"expected array, got {_json_name(type(value))}")
        return tuple([read(inner, place) for place, inner in enumerate(value)])

    return hook


def _map_hook(type_: object, converter: Converter) -> Hook:
    read = _reader(get_args(type_)[1], converter)
    return lambda value, _: {key: read(inner, key) for key, inner in _object(value, None).items()}


def _reader(type_: type, converter: Converter) -> Callable[[object, str | int], object]:
    """Return what reads one of many values: the first that does not fit ends it, or a million faults would be kept."""
    fill = converter.get_structure_hook(type_)

    def read(value: object, place: str | int) -> object:
        try:
            return fill(value, type_)
        except (ClassValidationError, TypeError, ValueError) as error:
            raise FaultInside(place, error) from None

    return read


def _record_hook(cls: type[attrs.AttrsInstance], converter: Converter) -> Hook:
    names = {field.name: override(rename=camel(field.name)) for field in attrs.fields(cls)}
    fill = cast(Hook, make_dict_structure_fn(cls, converter, **names))  # type: ignore[arg-type]
    return lambda value, target: fill(_object(value, None), target)


def _record_dump(cls: type[attrs.AttrsInstance], converter: Converter) -> Callable[[object], JsonObject]:
    names = {
        field.name: override(rename=camel(field.name), omit_if_default=OPTIONAL in field.metadata)
        for field in attrs.fields(cls)
    }
    dump = make_dict_unstructure_fn(cls, converter, **names)  # type: ignore[arg-type]
    return cast(Callable[[object], JsonObject], dump)


def _register_tagged(converter: Converter, union: object, tag: str) -> None:
    classes = tags_of(union, tag)

    def hook(value: object, type_: object) -> object:
        if value is None and type_ != union:
            return None
        fields = _object(value, None)
        name = fields.get(tag)
        if not isinstance(name, str) or name not in classes:
            raise FaultInside(tag, ValueError(f"expected one of {', '.join(classes)}"))
        return converter.structure(fields, classes[name])

    converter.register_structure_hook_func(lambda t: without_none(t) == union, hook)


def _thread_event_hook(converter: Converter) -> Hook:
    names = {field.name: override(rename=camel(field.name)) for field in attrs.fields(ThreadEvent)}
    names["record"] = override(struct_hook=lambda value, _: value)
    fill = make_dict_structure_fn(ThreadEvent, converter, **names)  # type: ignore[arg-type]

    def hook(value: object, _: object) -> ThreadEvent:
        event = fill(_object(value, None), ThreadEvent)
        try:
            record: Record = converter.structure(event.record, RECORD_CLASSES[event.type])
        except (ValueError, TypeError, ClassValidationError) as error:
            raise FaultInside("record", error) from None
        return attrs.evolve(event, record=record)

    return hook


JSON_NAMES: Final[Mapping[object, str]] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    NoneType: "null",
    dict: "object",
    list: "array",
}


def _json_name(cls: object) -> str:
    return JSON_NAMES.get(cls, getattr(cls, "__name__", "value"))
