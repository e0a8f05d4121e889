"""The daemon's side of the doorway: takes in the pipes that each `midstream serve` brings."""

import asyncio
import logging
import os
import socket
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, Final

import orjson
from attrs import define, field, frozen

from midstream.protocol.base import JsonObject
from midstream.server.runtime.background import Background
from midstream.server.wire import doorway
from midstream.server.wire.connection import Connection
from midstream.server.wire.logs import also_to
from midstream.server.wire.stdio import open_writer, read_chunks

log = logging.getLogger(__name__)

HELLO_SECONDS: Final = 5.0
PIPES: Final = 3


@frozen
class Visitor:
    """A `midstream serve` that waits for its connection's end; `begun` is what it had read from stdin."""

    connection: socket.socket
    launch: JsonObject
    begun: bytes
    stdin: int
    stdout: int
    stderr: int

    async def serve(self, connection: Connection) -> None:
        """Serve the client on its pipes, and tell the process its exit status; it ends once it is let go."""
        gone = asyncio.ensure_future(self._gone())
        gone.add_done_callback(lambda _: connection.end(0))
        status = 1
        try:
            with also_to(self.stderr):
                await open_writer(self.stdout, connection.outbox)
                status = await connection.serve(read_chunks(self.stdin, self.begun))
        finally:
            gone.cancel()
            with suppress(OSError):
                self.connection.send(doorway.line(status=status))

    async def _gone(self) -> None:
        with suppress(ConnectionError):
            await asyncio.get_running_loop().sock_recv(self.connection, 1)

    def let_go(self) -> None:
        """Let it end."""
        self.connection.close()


@define(eq=False)
class Reception:
    """Receives visitors until it is closed; one of another version is told whether this daemon leaves for it."""

    listener: socket.socket
    version: str
    visit: Callable[[Visitor], Coroutine[Any, Any, None]]
    leave: Callable[[], bool]
    _arrivals: Background = field(factory=Background, init=False)
    _accepting: asyncio.Task[None] | None = field(default=None, init=False)

    def open(self) -> None:
        """Begin to receive."""
        self.listener.setblocking(False)
        self._accepting = asyncio.create_task(self._accept())

    async def close(self) -> None:
        """Receive nobody any more: who knocks now begins anew, with the next daemon."""
        if self._accepting is not None:
            self._accepting.cancel()
            await asyncio.wait([self._accepting])
        doorway.forget()
        self.listener.close()

    async def join(self) -> None:
        """Wait until all visits are over."""
        await self._arrivals.join()

    async def _accept(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            connection, _ = await loop.sock_accept(self.listener)
            self._arrivals.spawn(self._receive(connection))

    async def _receive(self, connection: socket.socket) -> None:
        descriptors: list[int] = []
        try:
            async with asyncio.timeout(HELLO_SECONDS):
                visitor = await self._introduced(connection, descriptors)
        except (OSError, ValueError, KeyError, TypeError, TimeoutError) as error:
            log.warning("Somebody who came through the socket was turned away: %s", error)
            visitor = None
        except asyncio.CancelledError:
            _close(connection, descriptors)
            raise
        if visitor is None:
            _close(connection, descriptors)
        else:
            await self.visit(visitor)

    async def _introduced(self, connection: socket.socket, descriptors: list[int]) -> Visitor | None:
        """Return who came; None where its version differs, which it was told."""
        if doorway.peer_uid(connection) != os.geteuid():
            raise ValueError("it belongs to another user")
        loop = asyncio.get_running_loop()
        await _readable(connection)
        data, received, _, _ = socket.recv_fds(connection, doorway.HELLO_BYTES, PIPES)
        connection.setblocking(False)
        for descriptor in received:
            os.set_inheritable(descriptor, False)
        descriptors += received
        head, _, begun = data.partition(b"\n")
        hello = orjson.loads(head)
        if hello["version"] != self.version:
            refusal = doorway.line(version=self.version, pid=os.getpid(), leaving=self.leave())
            await loop.sock_sendall(connection, refusal)
            return None
        stdin, stdout, stderr = descriptors
        while len(begun) < hello["begun"]:
            more = await loop.sock_recv(connection, hello["begun"] - len(begun))
            if not more:
                raise ValueError("it ended in the middle of its hello")
            begun += more
        if self.listener.fileno() < 0:
            raise ValueError("the daemon is just ending")
        await loop.sock_sendall(connection, doorway.line(welcome=True))
        return Visitor(connection, hello["launch"], begun, stdin, stdout, stderr)


async def _readable(connection: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(connection, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(connection)


def _close(connection: socket.socket, descriptors: list[int]) -> None:
    connection.close()
    for descriptor in descriptors:
        os.close(descriptor)
