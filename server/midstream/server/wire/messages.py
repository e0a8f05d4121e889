"""What the daemon says, as frames."""

from functools import cached_property
from typing import Final, TypeAlias

from midstream.protocol.base import JsonObject
from midstream.protocol.converter import make_converter
from midstream.protocol.methods.table import NOTIFICATION_METHODS
from midstream.protocol.notifications import Notification
from midstream.server.wire.errors import RpcError
from midstream.server.wire.framing import encode

MessageId: TypeAlias = int | str

CONVERTER: Final = make_converter()


class Told:
    """A notification on its way to clients, whose frame is made once for all of them."""

    def __init__(self, params: Notification) -> None:
        self.params: Final = params

    @cached_property
    def frame(self) -> bytes:
        """The notification as bytes."""
        return notification_frame(self.params)


def notification_frame(params: Notification) -> bytes:
    """Return a notification of the protocol."""
    method = NOTIFICATION_METHODS[type(params)]
    return encode({"jsonrpc": "2.0", "method": method, "params": CONVERTER.unstructure(params)})


def output_frame(params: JsonObject) -> bytes:
    """Return a `run/output` whose params are JSON already."""
    return encode({"jsonrpc": "2.0", "method": "run/output", "params": params})


def answer_frame(id: MessageId, result: object) -> bytes:
    """Return the answer to a request that succeeded."""
    return encode({"jsonrpc": "2.0", "id": id, "result": CONVERTER.unstructure(result)})


def error_frame(id: MessageId | None, error: RpcError) -> bytes:
    """Return the answer to a request that failed; id null where the request could not be read."""
    return encode({"jsonrpc": "2.0", "id": id, "error": CONVERTER.unstructure(error.as_json())})
