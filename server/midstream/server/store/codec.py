"""Between records and the JSON that the database holds, which is that of the wire."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, TypeVar, cast

import attrs
import orjson

from midstream.protocol.converter import make_converter, tags_of
from midstream.protocol.notifications import RECORD_CLASSES, RecordType
from midstream.protocol.records.handoff import HandoffInfo
from midstream.protocol.records.item import Item
from midstream.server.graph.effects import Effect
from midstream.server.graph.events import (
    CheckpointPut,
    HandoffPut,
    ItemPut,
    ProviderSessionPut,
    ProviderThreadPut,
    RecordPut,
    RequestPut,
    RunPut,
    ThreadPut,
    TransferPut,
)
from midstream.server.store.errors import WriteRefused

T = TypeVar("T")

PUTS: Final[Mapping[RecordType, type[RecordPut]]] = MappingProxyType(
    {
        "thread": ThreadPut,
        "run": RunPut,
        "item": ItemPut,
        "providerThread": ProviderThreadPut,
        "providerSession": ProviderSessionPut,
        "transfer": TransferPut,
        "handoff": HandoffPut,
        "checkpoint": CheckpointPut,
        "request": RequestPut,
    }
)
KINDS: Final[Mapping[type[RecordPut], RecordType]] = MappingProxyType({put: kind for kind, put in PUTS.items()})
RECORD_KINDS: Final[Mapping[type, RecordType]] = MappingProxyType({cls: kind for kind, cls in RECORD_CLASSES.items()})

_CONVERTER: Final = make_converter()
_EFFECTS: Final = tags_of(Effect, "type")


def encode(value: attrs.AttrsInstance, cls: type[object] | None = None) -> bytes:
    """Return the JSON of a record, as one of class `cls` where that is given.

    Raises WriteRefused for what JSON cannot hold, such as half of a surrogate pair.
    """
    try:
        return orjson.dumps(_CONVERTER.unstructure(value, cls))
    except orjson.JSONEncodeError as error:
        raise WriteRefused(f"cannot be stored as JSON: {error}") from None


def encode_put(put: RecordPut) -> bytes:
    """Return the JSON of the record that a put brings, which of a handoff is never the content."""
    return encode(put.record, HandoffInfo if isinstance(put, HandoffPut) else None)


def decode(body: bytes, cls: type[T]) -> T:
    """Return the record of class `cls` that a JSON text holds."""
    return _CONVERTER.structure(orjson.loads(body), cls)


def decode_item(body: bytes) -> Item:
    """Return the item that a JSON text holds."""
    return cast(Item, decode(body, RECORD_CLASSES["item"]))


def decode_put(kind: RecordType, body: bytes) -> RecordPut:
    """Return the put of a record; that of a handoff is without its content, which the log does not hold."""
    return PUTS[kind](decode(body, RECORD_CLASSES[kind]))


def decode_effect(body: bytes) -> Effect:
    """Return the effect that a JSON text holds."""
    value = orjson.loads(body)
    return cast(Effect, _CONVERTER.structure(value, _EFFECTS[value["type"]]))
