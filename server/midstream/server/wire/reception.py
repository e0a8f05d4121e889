"""The daemon's side of the doorway: takes in the pipes that each `midstream serve` brings."""

import asyncio
import logging
import os
import socket
from contextlib import suppress
from typing import Final, Protocol

import orjson
from attrs import frozen

from midstream.protocol.base import JsonObject
from midstream.server.runtime.background import Background
from midstream.server.wire import doorway
from midstream.server.wire.connection import Connection
from midstream.server.wire.logs import also_to
from midstream.server.wire.stdio import open_writer, read_chunks

log = logging.getLogger(__name__)

HELLO_SECONDS: Final = 5.0
AGAIN_SECONDS: Final = 1.0
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


class Household(Protocol):
    """Who lives behind the doorway."""

    def arrive(self) -> bool:
        """Count somebody in, to be served and to depart; False where the daemon is ending already."""

    async def visit(self, visitor: Visitor) -> None:
        """Serve a client until its connection ends."""

    def depart(self) -> None:
        """Count out who arrived."""

    def give_way(self) -> bool:
        """End for one of another version, where nobody needs this daemon; return whether it ends."""


@frozen
class Hello:
    """What one who comes says first."""

    launch: JsonObject
    begun: bytes


class Reception:
    """Receives who comes through the doorway until it is closed."""

    def __init__(self, listener: socket.socket, version: str, household: Household) -> None:
        self._listener = listener
        self._version = version
        self._household = household
        self._arrivals = Background()
        self._listener.setblocking(False)
        self._accepting = asyncio.create_task(self._accept())

    async def close(self) -> None:
        """Receive nobody any more: who knocks now begins anew, with the next daemon."""
        self._accepting.cancel()
        await asyncio.wait([self._accepting])
        doorway.forget()
        self._listener.close()

    async def join(self) -> None:
        """Wait until all visits are over."""
        await self._arrivals.join()

    async def _accept(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                connection, _ = await loop.sock_accept(self._listener)
            except OSError as error:  # out of descriptors, say: those who wait are let in once some are free
                log.warning("Nobody can be let in just now: %s", error)
                await asyncio.sleep(AGAIN_SECONDS)
            else:
                self._arrivals.spawn(self._receive(connection))

    async def _receive(self, connection: socket.socket) -> None:
        visitor = None
        try:
            hello = await self._hello(connection)
            if hello is None or not self._household.arrive():
                return
            try:
                visitor = await _welcome(connection, hello)
                await self._household.visit(visitor)
            finally:
                self._household.depart()
        except (OSError, ValueError, KeyError, TypeError, TimeoutError) as error:
            log.warning("Somebody who came through the socket was turned away: %s", error)
        finally:
            if visitor is None:
                connection.close()

    async def _hello(self, connection: socket.socket) -> Hello | None:
        """Return what one who came says; None where its version differs, which it was told."""
        if doorway.peer_uid(connection) != os.geteuid():
            raise ValueError("it belongs to another user")
        connection.setblocking(False)
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(HELLO_SECONDS):
            head, _, begun = (await loop.sock_recv(connection, doorway.HELLO_BYTES)).partition(b"\n")
            hello = orjson.loads(head)
            if hello["version"] != self._version:
                leaving = self._household.give_way()
                refusal = doorway.line(version=self._version, pid=os.getpid(), leaving=leaving)
                await loop.sock_sendall(connection, refusal)
                return None
            while len(begun) < hello["begun"]:
                more = await loop.sock_recv(connection, hello["begun"] - len(begun))
                if not more:
                    raise ValueError("it ended in the middle of its hello")
                begun += more
        return Hello(launch=hello["launch"], begun=begun)


async def _welcome(connection: socket.socket, hello: Hello) -> Visitor:
    """Let one in, and take its pipes."""
    async with asyncio.timeout(HELLO_SECONDS):
        await asyncio.get_running_loop().sock_sendall(connection, doorway.line(welcome=True))
        await _readable(connection)
    _, received, _, _ = socket.recv_fds(connection, 1, PIPES)
    for descriptor in received:
        os.set_inheritable(descriptor, False)
    stdin, stdout, stderr = received
    return Visitor(connection, hello.launch, hello.begun, stdin, stdout, stderr)


async def _readable(connection: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(connection, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(connection)
