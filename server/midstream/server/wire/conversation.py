"""What is said on a connection: LSP's lifecycle, and the requests that a Service answers."""

import asyncio
import logging
from collections.abc import Coroutine
from functools import partial
from typing import Any, TypeVar, cast

from cattrs import Converter
from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.protocol import lsp_method

from midstream.protocol.base import JsonObject
from midstream.protocol.converter import structure
from midstream.protocol.methods.table import METHODS
from midstream.server.wire import errors
from midstream.server.wire.client import Client
from midstream.server.wire.errors import RpcError, error_of
from midstream.server.wire.execute_command import ExecuteCommandParams, request_of
from midstream.server.wire.lifecycle import (
    DidChangeConfigurationParams,
    InitializeParams,
    WorkDoneProgressCancelParams,
    initialize_result,
)
from midstream.server.wire.message_requests import MessageRequests
from midstream.server.wire.messages import CONVERTER
from midstream.server.wire.outbox import Outbox
from midstream.server.wire.parent import process_ended
from midstream.server.wire.protocol import WireProtocol, lsp_converter
from midstream.server.wire.service import InitializeOptions, Service
from midstream.server.wire.subscriptions import Subscriptions

log = logging.getLogger(__name__)

T = TypeVar("T")


class Conversation(WireProtocol):
    """One client's conversation with a Service."""

    def __init__(
        self,
        server: LanguageServer,
        converter: Converter,
        *,
        service: Service,
        outbox: Outbox,
        subscriptions: Subscriptions,
    ) -> None:
        super().__init__(server, converter, outbox=outbox)
        self._service = service
        self._client = Client(self, outbox, subscriptions)
        self._message_requests: MessageRequests | None = None
        self._background: set[asyncio.Task[None]] = set()
        self._initializing: asyncio.Event | None = None
        self._initialized = False
        self._over = False
        self.ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        """Done once the connection has to end; its result is the exit status."""

    def end(self, status: int) -> None:
        """End the connection with this exit status, unless it has ended."""
        if not self.ended.done():
            self.ended.set_result(status)

    async def settled(self) -> None:
        """Wait while `initialize` is at work: what a client sent behind it waits its turn."""
        if self._initializing is not None:
            await self._initializing.wait()

    async def close(self, grace: float) -> None:
        """Give the requests in flight `grace` seconds to end, cancel the rest, and let go of the client."""
        await self.answered(grace)
        for task in self._background:
            task.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)
        if self._message_requests is not None:
            await self._message_requests.close()
        if self._initialized:
            self._service.hub.remove(self._client)
            await self._service.close(self._client)

    def admit(self, method: str) -> None:
        """Hold the order of LSP's lifecycle."""
        match method:
            case _ if self._over:
                raise RpcError(errors.INVALID_REQUEST, "The connection was shut down; only `exit` may follow.")
            case lsp.INITIALIZE if self._initialized or self._initializing is not None:
                raise RpcError(errors.INVALID_REQUEST, "The connection is initialized already.")
            case lsp.INITIALIZE:
                self._initializing = asyncio.Event()
            case _ if not self._initialized:
                raise RpcError(errors.NOT_INITIALIZED, "Send `initialize` first, and wait for its answer.")
            case lsp.SHUTDOWN:
                self._over = True
                self.cancel_requests()
            case _:
                pass

    def listens(self, method: str) -> bool:
        """Heed what ends something at any time, and the rest while the connection is in use."""
        return method in (lsp.EXIT, lsp.CANCEL_REQUEST) or (self._initialized and not self._over)

    async def call(self, method: str, params: object) -> object:
        """Run a request with its handler."""
        handler = self._service.handlers.get(method)
        if handler is None:
            raise RpcError(errors.METHOD_NOT_FOUND, f"This daemon does not answer {method}.")
        return await handler(self._client, _structured(params, METHODS[method].params))

    @lsp_method(lsp.INITIALIZE)
    async def lsp_initialize(self, params: object) -> JsonObject:  # type: ignore[override]
        """Take the client in."""
        try:
            read = _structured(params, InitializeParams)
            options = read.initialization_options or InitializeOptions()
            self._client.native = options.native is True
            self._client.name = "" if read.client_info is None else read.client_info.name
            if read.process_id is not None:
                self._spawn(self._end_with(read.process_id), lsp.INITIALIZE)
            problems = await self._service.initialize(self._client, options)
            self._take_in()
            return initialize_result(self._service, problems, native=self._client.native)
        finally:
            if self._initializing is not None:
                self._initializing.set()
            self._initializing = None

    @lsp_method(lsp.SHUTDOWN)
    async def lsp_shutdown(self, params: object) -> None:  # type: ignore[override]
        """Answer null: all that it means was done when it came."""

    @lsp_method(lsp.EXIT)
    def lsp_exit(self, params: object) -> None:  # type: ignore[override]
        """End this connection; the process goes on for others."""
        self.end(0 if self._over else 1)

    @lsp_method(lsp.WORKSPACE_DID_CHANGE_CONFIGURATION)
    def lsp_did_change_configuration(self, params: object) -> None:
        """Pass on what concerns this daemon."""
        self._spawn(self._change_configuration(params), lsp.WORKSPACE_DID_CHANGE_CONFIGURATION)

    @lsp_method(lsp.WINDOW_WORK_DONE_PROGRESS_CANCEL)
    def lsp_work_done_progress_cancel(self, params: object) -> None:
        """Wait no longer for work that the request which began it can do without."""
        self._spawn(self._cancel_progress(params), lsp.WINDOW_WORK_DONE_PROGRESS_CANCEL)

    @lsp_method(lsp.WORKSPACE_EXECUTE_COMMAND)
    async def lsp_workspace__execute_command(self, params: object) -> object:  # type: ignore[override]
        """Run the request that a command stands for."""
        return await self.call(*request_of(_structured(params, ExecuteCommandParams)))

    def _take_in(self) -> None:
        respond = self._service.handlers.get("request/respond")
        if not self._client.native and respond is not None:
            self._message_requests = self._client.follower = MessageRequests(self._client, respond)
        self._initialized = True
        self._service.hub.add(self._client)

    async def _end_with(self, process_id: int) -> None:
        await process_ended(process_id)
        log.info("The client's process has ended.")
        self.end(0)

    async def _change_configuration(self, params: object) -> None:
        settings = _structured(params, DidChangeConfigurationParams).settings
        if settings is not None and settings.midstream is not None:
            await self._service.configuration_changed(self._client, settings.midstream)

    async def _cancel_progress(self, params: object) -> None:
        self._client.cancel_progress(_structured(params, WorkDoneProgressCancelParams).token)

    def _spawn(self, work: Coroutine[Any, Any, None], method: str) -> None:
        task = asyncio.create_task(self._in_background(work, method))
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def _in_background(self, work: Coroutine[Any, Any, None], method: str) -> None:
        try:
            await work
        except Exception as problem:
            self._client.show_message(error_of(problem, method).message, lsp.MessageType.Error)


def converse(service: Service, outbox: Outbox, subscriptions: Subscriptions) -> Conversation:
    """Begin a conversation, with a pygls server object of its own."""
    protocol_class = partial(Conversation, service=service, outbox=outbox, subscriptions=subscriptions)
    server = LanguageServer(
        "midstream",
        service.version,
        text_document_sync_kind=lsp.TextDocumentSyncKind.None_,
        protocol_cls=cast(type[Conversation], protocol_class),
        converter_factory=lsp_converter,
    )
    return cast(Conversation, server.protocol)


def _structured(params: object, cls: type[T]) -> T:
    return structure(CONVERTER, {} if params is None else params, cls)
