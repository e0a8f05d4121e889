"""JSON-RPC over two streams, one JSON object a line; requests run side by side so that a cancel can pass a prompt."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from itertools import count
from typing import TypeAlias

import orjson

from midstream.server.rehearsal.directives import JsonObject

Handler: TypeAlias = Callable[[str, JsonObject], Awaitable[JsonObject]]
Listener: TypeAlias = Callable[[str, JsonObject], None]

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
RESOURCE_NOT_FOUND = -32002

LINE_LIMIT = 64 * 1024 * 1024


class RpcError(Exception):
    """An error answer, received or to be sent: JSON-RPC code, message, optional data."""

    def __init__(self, code: int, message: str, data: JsonObject | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data

    def as_json(self) -> JsonObject:
        error: JsonObject = {"code": self.code, "message": str(self)}
        return error if self.data is None else {**error, "data": self.data}


class Peer:
    """One end of a connection: sends requests and notifications, hands what comes in to its handlers.

    ``on_request`` answers with a result or raises ``RpcError``; ``on_notification`` runs at once, in order.
    """

    def __init__(self, writer: asyncio.StreamWriter, on_request: Handler, on_notification: Listener) -> None:
        self._writer = writer
        self._on_request = on_request
        self._on_notification = on_notification
        self._ids = count(1)
        self._waiting: dict[int, asyncio.Future[JsonObject]] = {}
        self._running: set[asyncio.Task[None]] = set()
        self._ended = False

    async def serve(self, lines: AsyncIterator[bytes]) -> None:
        """Read until the lines end, then cancel what still runs and fail what still waits."""
        try:
            async for line in lines:
                await self._receive(line)
        finally:
            self._ended = True
            for task in self._running:
                task.cancel()
            await asyncio.gather(*self._running, return_exceptions=True)
            for request_id in self._waiting:
                self._settle(request_id, RpcError(INTERNAL_ERROR, "The connection ended."))

    async def request(self, method: str, params: JsonObject) -> JsonObject:
        """Ask the other side and wait for its result.

        Raises ``RpcError`` when it answers with an error or goes away.
        """
        if self._ended:
            raise RpcError(INTERNAL_ERROR, "The connection ended.")
        request_id = next(self._ids)
        answer: asyncio.Future[JsonObject] = asyncio.get_running_loop().create_future()
        self._waiting[request_id] = answer
        try:
            await self._send({"id": request_id, "method": method, "params": params})
            return await answer
        finally:
            del self._waiting[request_id]

    async def notify(self, method: str, params: JsonObject) -> None:
        await self._send({"method": method, "params": params})

    async def _send(self, message: JsonObject) -> None:
        with suppress(ConnectionError):  # a reader that is gone also ends our input, which ends the process
            self._writer.write(orjson.dumps({"jsonrpc": "2.0", **message}) + b"\n")
            await self._writer.drain()

    async def _receive(self, line: bytes) -> None:
        try:
            message = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            await self._send_error(None, RpcError(PARSE_ERROR, f"Not JSON: {error}"))
            return
        match message:
            case {"method": str(method), "id": int() | str() as request_id}:
                task = asyncio.create_task(self._answer(request_id, method, _params(message)))
                self._running.add(task)
                task.add_done_callback(self._running.discard)
                await asyncio.sleep(0)  # let it begin, so that a cancel on the very next line finds it
            case {"method": str(method)}:
                self._on_notification(method, _params(message))
            case {"id": int(request_id), "error": {"code": int(code), "message": str(text)}}:
                self._settle(request_id, RpcError(code, text))
            case {"id": int(request_id), "result": result}:
                self._settle(request_id, result or {})
            case _:
                problem = "Neither a request, a notification nor a response."
                await self._send_error(None, RpcError(INVALID_REQUEST, problem))

    async def _answer(self, request_id: int | str, method: str, params: JsonObject) -> None:
        try:
            result = await self._on_request(method, params)
        except RpcError as error:
            await self._send_error(request_id, error)
        except OSError as problem:
            await self._send_error(request_id, RpcError(INTERNAL_ERROR, str(problem)))
        else:
            await self._send({"id": request_id, "result": result})

    async def _send_error(self, request_id: int | str | None, error: RpcError) -> None:
        await self._send({"id": request_id, "error": error.as_json()})

    def _settle(self, request_id: int, outcome: JsonObject | RpcError) -> None:
        answer = self._waiting.get(request_id)
        if answer is None or answer.done():  # a late answer to a request that was given up
            return
        if isinstance(outcome, RpcError):
            answer.set_exception(outcome)
        else:
            answer.set_result(outcome)


def _params(message: JsonObject) -> JsonObject:
    params = message.get("params")
    return params if isinstance(params, dict) else {}


async def read_lines(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    """The non-blank lines of a stream until its end."""
    while line := await reader.readline():
        if line.strip():
            yield line
