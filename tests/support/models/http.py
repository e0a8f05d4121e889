"""A small HTTP server on the loopback interface, enough for the clients of model endpoints."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, TypeAlias

from attrs import frozen

Json: TypeAlias = dict[str, Any]


@frozen
class Request:
    """A request with its JSON body."""

    method: str
    path: str
    body: Json


async def at_once() -> None:
    """Wait for nothing."""


class Response:
    """Writes one answer: whole JSON, or a stream of server-sent events."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self.between_pieces: Callable[[], Awaitable[object]] = at_once
        self._writer = writer

    async def json(self, status: int, body: Json, headers: Mapping[str, str] | None = None) -> None:
        """Answer with a JSON body."""
        data = json.dumps(body).encode()
        await self._head(
            status, {"content-type": "application/json", "content-length": str(len(data)), **(headers or {})}
        )
        await self._write(data)

    async def begin_events(self, headers: Mapping[str, str] | None = None) -> None:
        """Begin a stream of events."""
        await self._head(200, {"content-type": "text/event-stream", **(headers or {})})

    async def event(self, body: Json) -> None:
        """Send an event, named by its type."""
        await self._write(f"event: {body['type']}\ndata: {json.dumps(body)}\n\n".encode())

    async def _head(self, status: int, headers: Mapping[str, str]) -> None:
        lines = [f"HTTP/1.1 {status} Answer", *(f"{name}: {value}" for name, value in headers.items())]
        await self._write("\r\n".join([*lines, "connection: close", "", ""]).encode())

    async def _write(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()


Handle: TypeAlias = Callable[[Request, Response], Awaitable[None]]


class HttpServer:
    """Answers each request with `handle`, one request a connection."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self) -> int:
        """Listen on a free port and return it."""
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=2**26)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def stop(self) -> None:
        """Stop, in the middle of answers too."""
        assert self._server is not None
        self._server.close()
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        await asyncio.wait([task])

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError):  # the client went away
                await self._handle(await _read(reader), Response(writer))
        finally:
            writer.close()


async def _read(reader: asyncio.StreamReader) -> Request:
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    first, *lines = head.strip().split("\r\n")
    method, path, _ = first.split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    data = await reader.readexactly(int(headers.get("content-length", "0")))
    return Request(method, path, json.loads(data) if data else {})
