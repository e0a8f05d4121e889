"""A client's end of the wire, which speaks raw frames over real pipes: to a connection here, or to a process."""

import asyncio
import os
import sys
import tempfile
from asyncio.subprocess import PIPE, Process
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

import orjson

from midstream.server.wire.connection import Connection
from midstream.server.wire.framing import Decoder, encode
from midstream.server.wire.service import Service
from midstream.server.wire.stdio import open_writer, read_chunks
from support import echo_service

PATIENCE = 20.0
"""Seconds after which a test gives up."""


class Peer:
    """Sends and receives; `told` holds the notifications and requests that came while an answer was awaited."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._decoder = Decoder()
        self._arrived: deque[Any] = deque()
        self._ids = count(1)
        self.told: list[Any] = []

    async def send_bytes(self, data: bytes) -> None:
        """Send anything."""
        self._writer.write(data)
        await self._writer.drain()

    async def send(self, message: object) -> None:
        """Send a message as a frame."""
        await self.send_bytes(encode(message))

    async def notify(self, method: str, params: object = None) -> None:
        """Send a notification."""
        await self.send({"jsonrpc": "2.0", "method": method, "params": params})

    async def ask(self, method: str, params: object = None) -> int:
        """Send a request and return its id."""
        msg_id = next(self._ids)
        await self.send({"jsonrpc": "2.0", "id": msg_id, "method": method, "params": params})
        return msg_id

    async def receive(self) -> Any:
        """Return the next message."""
        async with asyncio.timeout(PATIENCE):
            while not self._arrived:
                data = await self._reader.read(1 << 20)
                if not data:
                    raise EOFError
                for frame in self._decoder.feed(data):
                    assert isinstance(frame, bytes)
                    self._arrived.append(orjson.loads(frame))
        return self._arrived.popleft()

    async def answer(self, msg_id: int | str | None) -> Any:
        """Return the answer of that id; put what comes before it into `told`."""
        while True:
            message = await self.receive()
            if "method" not in message and message["id"] == msg_id:
                return message
            self.told.append(message)

    async def call(self, method: str, params: object = None) -> Any:
        """Send a request and return its answer."""
        return await self.answer(await self.ask(method, params))

    async def until(self, method: str) -> Any:
        """Return the next notification or request of that method."""
        for message in self.told:
            if message.get("method") == method:
                self.told.remove(message)
                return message
        while True:
            message = await self.receive()
            if message.get("method") == method:
                return message
            self.told.append(message)

    async def open(self, *, native: bool = True, **options: object) -> Any:
        """Go through `initialize` and return its answer."""
        params = {"capabilities": {}, "initializationOptions": {"native": native, **options}}
        return await self.call("initialize", params)

    async def rest(self) -> list[Any]:
        """Return all that comes until the connection ends."""
        messages = []
        with suppress(EOFError):
            while True:
                messages.append(await self.receive())
        return messages

    async def hang_up(self) -> None:
        """Close the sending side."""
        self._writer.close()
        await self._writer.wait_closed()


class LocalPeer(Peer):
    """The other end of a connection in this process."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, serving: asyncio.Task[int]) -> None:
        super().__init__(reader, writer)
        self._serving = serving

    async def status(self) -> int:
        """Wait until the connection has ended and return its exit status."""
        async with asyncio.timeout(PATIENCE):
            return await asyncio.shield(self._serving)


@asynccontextmanager
async def connected(service: Service) -> AsyncIterator[LocalPeer]:
    """A client of the service, over two pipes."""
    loop = asyncio.get_running_loop()
    (daemon_in, client_out), (client_in, daemon_out) = os.pipe(), os.pipe()
    connection = Connection(service)
    await open_writer(daemon_out, connection.outbox)
    serving = asyncio.create_task(connection.serve(read_chunks(daemon_in)))
    reader = asyncio.StreamReader()
    incoming, _ = await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(client_in, "rb", buffering=0)
    )
    outgoing, protocol = await loop.connect_write_pipe(
        lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), os.fdopen(client_out, "wb", buffering=0)
    )
    writer = asyncio.StreamWriter(outgoing, protocol, None, loop)
    try:
        yield LocalPeer(reader, writer, serving)
    finally:
        writer.close()
        incoming.close()
        await asyncio.wait_for(serving, PATIENCE)
        with suppress(ConnectionError):
            await writer.wait_closed()


class ProcessPeer(Peer):
    """The client of a process."""

    def __init__(self, process: Process, folder: Path) -> None:
        assert process.stdout is not None
        assert process.stdin is not None
        super().__init__(process.stdout, process.stdin)
        self.process = process
        self.folder = folder

    async def status(self) -> int:
        """Wait until the process has ended and return its exit status."""
        return await asyncio.wait_for(self.process.wait(), PATIENCE)

    async def stderr(self) -> str:
        """Wait until the process has ended and return what it wrote to stderr."""
        assert self.process.stderr is not None
        return (await asyncio.wait_for(self.process.stderr.read(), PATIENCE)).decode()


@asynccontextmanager
async def spawned(log_file: Path | None = None) -> AsyncIterator[ProcessPeer]:
    """A client of the echo service in a process of its own."""
    folder = tempfile.TemporaryDirectory()
    arguments = [folder.name, *([] if log_file is None else [str(log_file)])]
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "support.echo_service", *arguments,
        cwd=Path(echo_service.__file__).parents[1], stdin=PIPE, stdout=PIPE, stderr=PIPE,
    )  # fmt: skip
    try:
        yield ProcessPeer(process, Path(folder.name))
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()
        folder.cleanup()
