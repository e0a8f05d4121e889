"""JSON-RPC with an agent, one JSON object a line: it survives what agents write, and hands it on in order."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from itertools import count
from typing import Final, TypeAlias

import orjson
from attrs import frozen

from midstream.protocol.base import JsonObject
from midstream.protocol.nesting import is_too_deep, may_be_too_deep
from midstream.protocol.records.run import Failure
from midstream.server.providers.failures import gone
from midstream.server.providers.process import READ_SIZE, ChildProcess
from midstream.server.providers.reading import member
from midstream.server.quoting import Quoted

logger: Final = logging.getLogger(__name__)

LINE_LIMIT: Final = 64 * 1024 * 1024
RequestId: TypeAlias = int | str


@frozen
class Notification:
    """What the agent tells; `size` is that of its line in bytes, as with all that comes in."""

    method: str
    params: JsonObject
    size: int


@frozen
class Request:
    """What the agent asks; it waits for an answer to `id`."""

    id: RequestId
    method: str
    params: JsonObject
    size: int


@frozen
class Answer:
    """The agent's answer to a request of ours."""

    result: JsonObject
    error: JsonObject | None
    size: int


@frozen
class Closed:
    """The agent is gone: its process has ended, and no answer comes any more."""


Incoming: TypeAlias = Callable[[Notification | Request], Awaitable[None]]
Deliver: TypeAlias = Callable[[Answer | Closed], Awaitable[None]]


class ConnectionGoneError(Exception):
    """The agent's process ended before it answered."""


class AnswerError(Exception):
    """The agent answered with an error."""

    def __init__(self, error: JsonObject) -> None:
        super().__init__(str(error.get("message")))
        self.error: Final = error
        self.code: Final = error.get("code")


class Connection:
    """One end of a connection. The reader waits for whoever takes a message, and the agent at its full pipe."""

    def __init__(self, process: ChildProcess, incoming: Incoming) -> None:
        self._process = process
        self._incoming = incoming
        self._ids = count(1)
        self._waiting: dict[int, Deliver] = {}
        self._heard = asyncio.Event()
        self._closed = asyncio.Event()
        self._reading = asyncio.create_task(self._read())
        self._closing = asyncio.create_task(self._close())

    @property
    def live(self) -> bool:
        """Whether the agent can still be spoken to."""
        return not self._closed.is_set() and self._process.returncode is None

    @property
    def failure(self) -> Failure:
        """Why nothing comes any more, once the process has ended."""
        return gone(self._process.returncode, self._process.last_words())

    async def request(self, method: str, params: JsonObject, seconds: float) -> JsonObject:
        """Ask the agent and return its result.

        Raises:
            AnswerError: it answered with an error.
            ConnectionGoneError: it is gone.
            TimeoutError: it did not answer within `seconds`.
        """
        answered: asyncio.Future[Answer | Closed] = asyncio.get_running_loop().create_future()

        async def settle(message: Answer | Closed) -> None:
            if not answered.done():
                answered.set_result(message)

        async with asyncio.timeout(seconds):
            await self.ask(method, params, settle)
            message = await answered
        match message:
            case Closed():
                raise ConnectionGoneError
            case Answer(error=dict(error)):
                raise AnswerError(error)
            case Answer(result=result):
                return result

    async def ask(self, method: str, params: JsonObject, deliver: Deliver) -> None:
        """Send a request whose answer, or `Closed`, is delivered in its place among all that comes in."""
        if self._closed.is_set():
            await deliver(Closed())
            return
        request_id = next(self._ids)
        self._waiting[request_id] = deliver
        await self._send({"id": request_id, "method": method, "params": params})

    async def notify(self, method: str, params: JsonObject) -> None:
        """Tell the agent something."""
        await self._send({"method": method, "params": params})

    async def answer(self, request_id: RequestId, result: JsonObject) -> None:
        """Answer a request of the agent."""
        await self._send({"id": request_id, "result": result})

    async def refuse(self, request_id: RequestId, code: int, message: str) -> None:
        """Answer a request of the agent with an error."""
        await self._send({"id": request_id, "error": {"code": code, "message": message}})

    async def wait_closed(self) -> None:
        """Wait until the agent is gone and all that it wrote was handed on."""
        await self._closed.wait()

    async def quiet(self, window: float, limit: float) -> None:
        """Wait until nothing came in for `window` seconds, `limit` seconds at most."""
        with suppress(TimeoutError):
            async with asyncio.timeout(limit):
                while self.live and await self._hears_within(window):
                    pass

    async def aclose(self) -> None:
        """End the process for certain; whoever still waits is told `Closed`."""
        await self._process.end()
        self._reading.cancel()
        await self._closing

    async def _hears_within(self, window: float) -> bool:
        self._heard.clear()
        try:
            async with asyncio.timeout(window):
                await self._heard.wait()
        except TimeoutError:
            return False
        return True

    async def _send(self, message: JsonObject) -> None:
        with suppress(ConnectionError):  # the reader sees that the agent is gone
            self._process.stdin.write(orjson.dumps({"jsonrpc": "2.0", **message}) + b"\n")
            await self._process.stdin.drain()

    async def _read(self) -> None:
        async for line in read_lines(self._process.stdout):
            self._heard.set()
            await self._receive(line)

    async def _close(self) -> None:
        """Once nothing is read any more, end the process and tell whoever waits."""
        ended = await asyncio.gather(self._reading, return_exceptions=True)
        await self._process.end()
        self._closed.set()
        for deliver in self._waiting.values():
            await deliver(Closed())
        if isinstance(ended[0], Exception):
            raise ended[0]

    async def _receive(self, line: bytes | bytearray) -> None:
        message = parse_line(line)
        match message:
            case {"method": str(method), "id": int() | str() as request_id}:
                await self._incoming(Request(request_id, method, member(message, "params"), len(line)))
            case {"method": str(method)}:
                await self._incoming(Notification(method, member(message, "params"), len(line)))
            case {"id": int(request_id)} if request_id in self._waiting:
                await self._waiting.pop(request_id)(_answer(message, len(line)))
            case _:
                logger.info("An agent wrote a line that is no message of ours: %s", Quoted(line[:200]))


def _answer(message: JsonObject, size: int) -> Answer:
    error = message.get("error")
    if error is None:
        return Answer(member(message, "result"), None, size)
    return Answer({}, error if isinstance(error, dict) else {"message": str(error)}, size)


def parse_line(line: bytes | bytearray) -> JsonObject:
    """Return the object on a line, empty where there is none, or one nested too deeply to be kept."""
    try:
        message = orjson.loads(line)
    except orjson.JSONDecodeError:
        message = _parse_leniently(line)
    if may_be_too_deep(line) and is_too_deep(message):
        return {}
    return message if isinstance(message, dict) else {}


def _parse_leniently(line: bytes | bytearray) -> object:
    """Parse what is no JSON and yet written: NaN, and half of a surrogate pair, where text is streamed by its units."""
    try:
        message = json.loads(line.decode(errors="replace"), parse_constant=lambda _: None)
        return orjson.loads(json.dumps(message, ensure_ascii=False).encode(errors="replace"))
    except (ValueError, RecursionError):
        return None


async def read_lines(stream: asyncio.StreamReader, limit: int = LINE_LIMIT) -> AsyncIterator[bytes | bytearray]:
    """Yield the lines of a stream, none of them copied; one longer than `limit` is left out, and never held whole."""
    line = bytearray()
    while data := await stream.read(READ_SIZE):
        *ended, rest = data.split(b"\n")
        for end in ended:
            line += end
            if len(line) > limit:
                logger.warning("An agent wrote a line of more than %d bytes; it is left out.", limit)
            elif line:
                yield line
            line = bytearray()
        line += rest
        del line[limit + 1 :]
