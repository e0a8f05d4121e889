"""The pipes of a client as the two directions of a connection."""

import asyncio
import os
import stat
from collections.abc import AsyncGenerator
from typing import Final

from midstream.server.wire.outbox import Outbox

CHUNK_BYTES: Final = 64 * 1024


async def read_chunks(descriptor: int, begun: bytes = b"") -> AsyncGenerator[bytes, None]:
    """Yield what was read already, and then what can be read, in pieces, until it ends."""
    if begun:
        yield begun
    if not _can_wait(descriptor):
        try:
            while chunk := await asyncio.to_thread(os.read, descriptor, CHUNK_BYTES):
                yield chunk
        finally:
            os.close(descriptor)
        return
    reader = asyncio.StreamReader(limit=CHUNK_BYTES)
    loop = asyncio.get_running_loop()
    transport, _ = await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(descriptor, "rb", buffering=0)
    )
    try:
        while chunk := await reader.read(CHUNK_BYTES):
            yield chunk
    finally:
        transport.close()


async def open_writer(descriptor: int, outbox: Outbox) -> None:
    """Let an outbox write to a descriptor."""
    loop = asyncio.get_running_loop()
    if _can_wait(descriptor):
        await loop.connect_write_pipe(lambda: outbox, os.fdopen(descriptor, "wb", buffering=0))
    else:
        outbox.connection_made(_FileTransport(descriptor, outbox))


def _can_wait(descriptor: int) -> bool:
    """Whether the event loop can wait for a descriptor; files and /dev/null never block."""
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(descriptor)


class _FileTransport(asyncio.WriteTransport):
    """Writes to a file, which takes everything at once."""

    def __init__(self, descriptor: int, outbox: Outbox) -> None:
        super().__init__()
        self._file = os.fdopen(descriptor, "wb", buffering=0)
        self._outbox = outbox

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Do nothing: there is no buffer."""

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Write all of the data."""
        view = memoryview(data)
        while view:
            view = view[self._file.write(view) :]

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        asyncio.get_running_loop().call_soon(self._outbox.connection_lost, None)
