"""Messages as bytes: LSP's headers around JSON, in both directions, without any I/O."""

import json
from collections.abc import Iterator
from typing import Final, TypeAlias

import orjson
from attrs import frozen

from midstream.server.wire.errors import INVALID_REQUEST, PARSE_ERROR

FRAME_LIMIT: Final = 128 * 1024 * 1024
HEADER_LIMIT: Final = 8 * 1024
LENGTH_DIGITS: Final = 15


@frozen
class BadFrame:
    """A frame that holds no message. After a `fatal` one nobody can tell where the next begins."""

    code: int
    message: str
    fatal: bool = False


Frame: TypeAlias = bytes | BadFrame


def encode(message: object) -> bytes:
    """Return a message, made of plain JSON values, as a frame."""
    try:
        body = orjson.dumps(message)
    except orjson.JSONEncodeError:  # half a surrogate pair, or an integer over 64 bits: JSON can say both, escaped
        body = json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


class Decoder:
    """Cuts what arrives, in pieces of any size, into bodies; one over `limit` is skipped without being kept."""

    def __init__(self, limit: int = FRAME_LIMIT) -> None:
        self._limit = limit
        self._buffer = bytearray()
        self._body: int | None = None
        self._skip = 0
        self._lost = False

    @property
    def midway(self) -> bool:
        """Whether the input so far ends inside a frame."""
        return bool(self._buffer) or self._body is not None or self._skip > 0

    def feed(self, data: bytes) -> Iterator[Frame]:
        """Yield what `data` completes; exhaust it before feeding more."""
        skipped = min(self._skip, len(data))
        self._skip -= skipped
        self._buffer += data[skipped:] if skipped else data
        while not self._lost:
            frame = self._next_header() if self._body is None else self._next_body(self._body)
            if frame is not None:
                yield frame
            elif self._body is None or len(self._buffer) < self._body:
                return

    def _next_body(self, length: int) -> Frame | None:
        if len(self._buffer) < length:
            return None
        with memoryview(self._buffer) as view:
            body = bytes(view[:length])
        del self._buffer[:length]
        self._body = None
        return body

    def _next_header(self) -> BadFrame | None:
        end = self._buffer.find(b"\r\n\r\n", 0, HEADER_LIMIT)
        if end < 0:
            return self._lose("The header does not end.") if len(self._buffer) >= HEADER_LIMIT else None
        length = _content_length(bytes(self._buffer[:end]))
        if length is None:
            return self._lose("The header has no usable Content-Length.")
        del self._buffer[: end + 4]
        if length > self._limit:
            self._skip = max(0, length - len(self._buffer))
            del self._buffer[:length]
            return BadFrame(INVALID_REQUEST, f"The message has {length} bytes; at most {self._limit} are taken.")
        self._body = length
        return None

    def _lose(self, message: str) -> BadFrame:
        self._lost = True
        self._buffer.clear()
        return BadFrame(PARSE_ERROR, message, fatal=True)


def _content_length(header: bytes) -> int | None:
    values = {
        value.strip()
        for name, _, value in (line.partition(b":") for line in header.split(b"\r\n"))
        if name.strip().lower() == b"content-length"
    }
    if len(values) != 1:  # two that differ are an attempt to smuggle, or noise
        return None
    value = values.pop()
    return int(value) if value.isdigit() and len(value) <= LENGTH_DIGITS else None
