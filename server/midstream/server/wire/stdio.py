"""The daemon's standard streams as a connection."""

import asyncio
import os
import stat
import sys
from collections.abc import AsyncGenerator
from typing import Final

from midstream.server.wire.connection import Connection
from midstream.server.wire.outbox import Outbox
from midstream.server.wire.service import Service

CHUNK_BYTES: Final = 64 * 1024


async def serve_stdio(service: Service) -> int:
    """Serve the client on stdin and stdout until it exits or is gone; return the exit status."""
    stdin, stdout = take_stdio()
    connection = Connection(service)
    await open_writer(stdout, connection.outbox)
    return await connection.serve(read_chunks(stdin))


def take_stdio() -> tuple[int, int]:
    """Move stdin and stdout to descriptors that nobody else knows.

    What anything in this process or its children prints then goes to stderr, and no child can read a frame.
    """
    sys.stdout.flush()
    stdin, stdout = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return stdin, stdout


async def read_chunks(descriptor: int) -> AsyncGenerator[bytes, None]:
    """Yield what can be read, in pieces, until it ends."""
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
