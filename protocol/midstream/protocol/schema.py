"""The JSON Schema of the protocol, made from its classes: `python -m midstream.protocol.schema [--write]`.

`$defs` holds every class and tagged union by name. Three tables of our own stand beside it: `x-methods`
(params, result, and whether the request takes a `commandId`), `x-notifications` (params) and `x-errors`
(the code of each kind of error). A schema describes what the daemon sends; what it takes is wider by an
empty array for an empty object, null for an absent optional field, and keys it does not know.
"""

import json
import sys
from collections.abc import Mapping
from inspect import getdoc
from pathlib import Path
from types import MappingProxyType, NoneType
from typing import Any, Final, Literal, TypeAlias, get_args, get_origin

import attrs
from cattrs import Converter

from midstream.protocol.base import JsonObject
from midstream.protocol.checked import CHECKS
from midstream.protocol.converter import make_converter, without_none
from midstream.protocol.errors import ERROR_CODES, ErrorData, InvalidParamsData
from midstream.protocol.lifecycle import InitializationOptions, MidstreamCapabilities
from midstream.protocol.methods.table import METHODS, NOTIFICATIONS
from midstream.protocol.methods.thread import ForkPoint
from midstream.protocol.names import camel
from midstream.protocol.notifications import RECORD_CLASSES, ThreadEvent
from midstream.protocol.records.handoff import Resolution
from midstream.protocol.records.item import Item
from midstream.protocol.records.run import Attachment, StoredAttachment

Field: TypeAlias = "attrs.Attribute[Any]"

SCHEMA_FILE: Final = Path(__file__).parents[2] / "schema.json"
ROOTS: Final[tuple[object, ...]] = (
    *(part for method in METHODS.values() for part in (method.params, method.result)),
    *NOTIFICATIONS.values(),
    InitializationOptions,
    MidstreamCapabilities,
    ErrorData,
    InvalidParamsData,
)
UNION_NAMES: Final[Mapping[object, str]] = MappingProxyType(
    {
        Attachment: "Attachment",
        ForkPoint: "ForkPoint",
        Item: "Item",
        Resolution: "Resolution",
        StoredAttachment: "StoredAttachment",
    }
)
SCALARS: Final[Mapping[object, str]] = MappingProxyType(
    {
        str: "string",
        int: "integer",
        float: "number",
        bool: "boolean",
        NoneType: "null",
        **dict.fromkeys(CHECKS, "string"),
    }
)


def is_required(field: Field) -> bool:
    """Whether a field is always present: it has no default, or is the tag of a union."""
    return field.default is attrs.NOTHING or get_origin(field.type) is Literal


def wire_type(field: Field) -> object:
    """Return the type of a field where it is present: None in memory means that an optional one is not."""
    return field.type if is_required(field) else without_none(field.type)


def protocol_schema() -> JsonObject:
    """Return the whole document."""
    definitions = _Definitions()
    for root in ROOTS:
        definitions.reference(root)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$comment": "Generated from the classes by `python -m midstream.protocol.schema --write`.",
        "title": "Midstream wire protocol, version 1",
        "$defs": definitions.found,
        "x-methods": {
            name: {
                "params": definitions.reference(method.params),
                "result": definitions.reference(method.result),
                "changes": method.changes,
            }
            for name, method in METHODS.items()
        },
        "x-notifications": {name: definitions.reference(params) for name, params in NOTIFICATIONS.items()},
        "x-errors": dict(ERROR_CODES),
    }


def rendered() -> str:
    """Return the document as `schema.json` holds it."""
    return json.dumps(protocol_schema(), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


class _Definitions:
    """The classes and unions met so far, each defined once."""

    def __init__(self) -> None:
        self.found: JsonObject = {}
        self._converter: Final[Converter] = make_converter()

    def reference(self, type_: object) -> JsonObject:
        """Return the schema of a type, by name where it has one."""
        if type_ in SCALARS:
            return {"type": SCALARS[type_]}
        if type_ is object:
            return {}
        if isinstance(type_, type) and attrs.has(type_):
            if type_.__name__ not in self.found:
                self._define(type_)
            return _named(type_.__name__)
        if type_ in UNION_NAMES:
            name = UNION_NAMES[type_]
            self.found[name] = {"oneOf": [self.reference(arm) for arm in get_args(type_)]}
            return _named(name)
        return self._composed(type_)

    def _composed(self, type_: object) -> JsonObject:
        origin, arms = get_origin(type_), get_args(type_)
        if origin is Literal:
            return {"const": arms[0]} if len(arms) == 1 else {"enum": list(arms)}
        if origin is tuple:
            return {"type": "array", "items": self.reference(arms[0])}
        if origin is dict:
            return {"type": "object", "additionalProperties": self.reference(arms[1])}
        if NoneType in arms:
            return {"anyOf": [self.reference(without_none(type_)), {"type": "null"}]}
        return {"anyOf": [self.reference(arm) for arm in arms]}

    def _define(self, cls: type[attrs.AttrsInstance]) -> None:
        properties = {camel(field.name): self._property(field) for field in attrs.fields(cls)}
        definition: JsonObject = {
            "type": "object",
            "description": getdoc(cls),
            "properties": properties,
            "required": [camel(field.name) for field in attrs.fields(cls) if is_required(field)],
        }
        self.found[cls.__name__] = definition
        if cls is ThreadEvent:
            properties["record"] = {}
            definition["oneOf"] = [self._event(tag, record) for tag, record in RECORD_CLASSES.items()]

    def _property(self, field: Field) -> JsonObject:
        schema = self.reference(wire_type(field))
        if is_required(field) or field.default is None:
            return schema
        default = getattr(field.default, "factory", lambda: field.default)()
        return {**schema, "default": self._converter.unstructure(default)}

    def _event(self, tag: str, record: object) -> JsonObject:
        return {"properties": {"type": {"const": tag}, "record": self.reference(record)}}


def _named(name: str) -> JsonObject:
    return {"$ref": f"#/$defs/{name}"}


def main(arguments: list[str]) -> None:
    """Print the schema, or write it to its file."""
    if arguments == ["--write"]:
        SCHEMA_FILE.write_text(rendered(), encoding="utf-8")
    elif not arguments:
        sys.stdout.write(rendered())
    else:
        raise SystemExit("usage: python -m midstream.protocol.schema [--write]")


if __name__ == "__main__":
    main(sys.argv[1:])
