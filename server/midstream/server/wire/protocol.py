"""pygls, made fit for a daemon. Everything that overrides pygls, private names included, is in this module.

Closed here: requests that get no answer, payloads that contain `jsonrpc` taken for messages, parse errors
unanswered, tracebacks and bodies shown, and writing on the event loop.
"""

import asyncio
import logging
from abc import abstractmethod
from collections.abc import Awaitable
from functools import cache
from typing import Any, Final, cast
from uuid import uuid4

import orjson
from cattrs import Converter
from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, default_converter, lsp_method

from midstream.protocol.base import JsonObject
from midstream.protocol.nesting import DEEPEST, is_too_deep
from midstream.server.wire import errors
from midstream.server.wire.errors import RpcError, error_of
from midstream.server.wire.framing import BadFrame, Frame, encode
from midstream.server.wire.messages import MessageId, answer_frame, error_frame
from midstream.server.wire.outbox import Outbox

log = logging.getLogger(__name__)

LONGEST_ID: Final = 256
IN_FLIGHT: Final = 4096
IN_FLIGHT_BYTES: Final = 64 * 1024 * 1024
LOSSY: Final = frozenset({lsp.WINDOW_LOG_MESSAGE, lsp.PROGRESS})


class WireProtocol(LanguageServerProtocol):
    """JSON-RPC with one client: takes frames and gives every request exactly one answer.

    A subclass names its LSP methods with `lsp_method`: coroutine functions are requests, plain ones
    notifications, each given the params as they came.
    """

    def __init__(self, server: LanguageServer, converter: Converter, *, outbox: Outbox) -> None:
        super().__init__(server, converter)
        self._outbox = outbox
        self._running: dict[MessageId, asyncio.Task[None]] = {}
        self._held = 0
        self._freed = asyncio.Event()

    @abstractmethod
    def admit(self, method: str) -> None:
        """Raise RpcError where a request may not come now; called as it comes, before any other of its batch."""

    @abstractmethod
    def listens(self, method: str) -> bool:
        """Whether a notification is heeded now."""

    @abstractmethod
    async def call(self, method: str, params: object) -> object:
        """Run a request that is none of LSP's."""

    def receive(self, frame: Frame) -> None:
        """Take a frame as it came from the client."""
        if isinstance(frame, BadFrame):
            return self._fail(None, RpcError(frame.code, frame.message))
        try:
            message = orjson.loads(frame)
        except orjson.JSONDecodeError:
            return self._fail(None, RpcError(errors.PARSE_ERROR, "The message is not JSON in UTF-8."))
        return self.handle_message(message, len(frame))

    def handle_message(self, message: Any, size: int = 0) -> None:
        """Take a message, a JSON value of any shape, that came in `size` bytes."""
        match message:
            case {"id": str(long_id)} if len(long_id) > LONGEST_ID:
                self._fail(None, RpcError(errors.INVALID_REQUEST, f"An id has at most {LONGEST_ID} characters."))
            case _ if is_too_deep(message):
                msg_id = message.get("id") if isinstance(message, dict) else None
                refusal = RpcError(errors.INVALID_REQUEST, f"The message is nested more than {DEEPEST} deep.")
                self._fail(msg_id if isinstance(msg_id, str | int) else None, refusal)
            case {"jsonrpc": "2.0", "method": str(method), "id": str() | int() as msg_id}:
                self._handle_request(msg_id, method, message.get("params"), size)
            case {"jsonrpc": "2.0", "method": str(method)} if "id" not in message:
                self._handle_notification(method, message.get("params"))
            case {"jsonrpc": "2.0", "result": _} | {"jsonrpc": "2.0", "error": _} if "method" not in message:
                self._take_answer(message)
            case {"id": str() | int() as msg_id}:
                self._fail(msg_id, RpcError(errors.INVALID_REQUEST, "This is no JSON-RPC 2.0 request."))
            case list():
                self._fail(None, RpcError(errors.INVALID_REQUEST, "Batches are not taken; send one by one."))
            case _:
                self._fail(None, RpcError(errors.INVALID_REQUEST, "This is no JSON-RPC 2.0 message."))

    async def room(self) -> None:
        """Wait while the requests in flight hold more than their share of memory: no more are read meanwhile."""
        while self._held > IN_FLIGHT_BYTES:
            self._freed.clear()
            await self._freed.wait()

    def tell(self, method: str, params: object) -> None:
        """Send one of LSP's notifications."""
        self.notify(method, params)

    async def ask(self, method: str, params: object) -> object:
        """Send one of LSP's requests and return its result; withdrawn when the caller is cancelled.

        Raises:
            RpcError: the client answered with an error, or with something else.
        """
        msg_id = str(uuid4())
        try:
            return await self.send_request_async(method, params, msg_id=msg_id)
        except asyncio.CancelledError:
            self._request_futures.pop(msg_id, None)
            self._result_types.pop(msg_id, None)
            self.notify(lsp.CANCEL_REQUEST, lsp.CancelParams(id=msg_id))
            raise

    def cancel_requests(self) -> None:
        """Cancel what the client asked and has no answer to yet."""
        for task in self._running.values():
            _cancel(task)

    async def answered(self, seconds: float) -> None:
        """Wait for the requests in flight, cancel those that take longer than `seconds`, until all are answered."""
        if self._running:
            await asyncio.wait(self._running.values(), timeout=seconds)
        self.cancel_requests()
        await asyncio.gather(*self._running.values())

    @lsp_method(lsp.CANCEL_REQUEST)
    def lsp_cancel_request(self, params: object) -> None:
        """Cancel a request in flight; its handler may have committed, and then answers nevertheless."""
        match params:
            case {"id": str() | int() as msg_id} if msg_id in self._running:
                _cancel(self._running[msg_id])
            case _:
                log.debug("A cancellation of nothing that is in flight.")

    def _register_builtin_features(self) -> None:
        super()._register_builtin_features()  # type: ignore[no-untyped-call]
        for method, handler in list(self.fm.builtin_features.items()):
            if handler.__module__.startswith("pygls."):  # what a language server does: text documents and the like
                del self.fm.builtin_features[method]

    def _handle_request(self, msg_id: MessageId, method_name: str, params: object, size: int = 0) -> None:
        try:
            if msg_id in self._running:
                raise RpcError(errors.INVALID_REQUEST, f"A request with the id {msg_id} is still in flight.")
            if len(self._running) >= IN_FLIGHT and method_name != lsp.SHUTDOWN:
                raise RpcError(errors.INVALID_REQUEST, f"{IN_FLIGHT} requests are in flight; wait for answers.")
            self.admit(method_name)
        except RpcError as refusal:
            self._fail(msg_id, refusal)
        else:
            self._held += size
            self._running[msg_id] = asyncio.create_task(self._answer(msg_id, method_name, params, size))

    async def _answer(self, msg_id: MessageId, method: str, params: object, size: int) -> None:
        try:
            frame = answer_frame(msg_id, await self._outcome(method, params))
        except (Exception, asyncio.CancelledError) as problem:
            frame = error_frame(msg_id, error_of(problem, method))
        del self._running[msg_id]
        self._held -= size
        self._freed.set()
        self._outbox.send(frame)
        self._outbox.flush()

    def _outcome(self, method: str, params: object) -> Awaitable[object]:
        handler = self.fm.builtin_features.get(method)
        if asyncio.iscoroutinefunction(handler):
            return cast(Awaitable[object], handler(params))
        return self.call(method, params)

    def _handle_notification(self, method_name: str, params: object) -> None:
        handler = self.fm.builtin_features.get(method_name)
        if handler is not None and not asyncio.iscoroutinefunction(handler) and self.listens(method_name):
            handler(params)

    def _take_answer(self, message: JsonObject) -> None:
        match message.get("id"):
            case str(msg_id) if msg_id in self._request_futures:
                future = self._request_futures.pop(msg_id)
                shape = self._result_types.pop(msg_id)
            case _:  # late, or to nothing that was asked
                return
        match message.get("error"):
            case None:
                try:
                    future.set_result(self._converter.structure(message, shape).result)
                except Exception:
                    future.set_exception(RpcError(errors.INTERNAL_ERROR, "The client's answer has no known shape."))
            case {"code": int(code), "message": str(text)}:
                future.set_exception(RpcError(code, text))
            case _:
                future.set_exception(RpcError(errors.INTERNAL_ERROR, "The client failed without saying how."))

    def _send_data(self, data: Any) -> None:
        frame = encode(self._converter.unstructure(data))
        if data.method in LOSSY:
            self._outbox.send_lossy(frame)
        else:
            self._outbox.send(frame)

    def _fail(self, msg_id: MessageId | None, error: RpcError) -> None:
        self._outbox.send(error_frame(msg_id, error))


@cache
def lsp_converter() -> Converter:
    """Return the converter of LSP's own messages: slow to make, and the same for all connections."""
    return cast(Converter, default_converter())  # type: ignore[no-untyped-call]


def _cancel(task: asyncio.Task[None]) -> None:
    # Not before its first step, or a request cancelled right behind it would end without an answer.
    asyncio.get_running_loop().call_soon(task.cancel)
