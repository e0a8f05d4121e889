"""Validators of parts of the protocol's schema, over one registry that is built once."""

from typing import Final

from jsonschema import Draft202012Validator
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from midstream.protocol.schema import protocol_schema

SCHEMA: Final = protocol_schema()
_REGISTRY: Final = Registry().with_resource("urn:protocol", DRAFT202012.create_resource(SCHEMA)).crawl()


def validator(part: str) -> Draft202012Validator:
    """Return a validator of what stands at a place in `$defs`, as `Thread` or `Thread/properties/title`."""
    return Draft202012Validator({"$ref": f"urn:protocol#/$defs/{part}"}, registry=_REGISTRY)


def required(name: str) -> frozenset[str]:
    """Return the names of the fields that a definition requires."""
    definitions = SCHEMA["$defs"]
    assert isinstance(definitions, dict)
    return frozenset(definitions[name]["required"])
