"""Approvals for clients that only speak LSP: a message with the agent's options as its buttons."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from midstream.protocol.base import RequestId
from midstream.protocol.errors import MidstreamError
from midstream.protocol.methods.request import RequestRespondParams
from midstream.protocol.notifications import RequestClosed, RequestOpened
from midstream.protocol.records.request import RequestOption, RuntimeRequest
from midstream.server.quoting import Quoted
from midstream.server.wire.client import Client
from midstream.server.wire.errors import RpcError, log_unforeseen

log = logging.getLogger(__name__)


class MessageRequests:
    """Shows each open request that has options, and answers it with the option that the user chose."""

    def __init__(self, client: Client, respond: Callable[[Client, RequestRespondParams], Awaitable[object]]) -> None:
        self._client = client
        self._respond = respond
        self._shown: dict[RequestId, asyncio.Task[None]] = {}

    def follow(self, change: RequestOpened | RequestClosed) -> None:
        """Show a request that was opened; take back one that was closed."""
        request = change.request
        match change:
            case RequestOpened() if request.options and request.id not in self._shown:
                task = asyncio.create_task(self._show(request))
                self._shown[request.id] = task
                task.add_done_callback(lambda _: self._shown.pop(request.id, None))
            case RequestClosed() if request.id in self._shown:
                self._shown[request.id].cancel()
            case _:
                pass

    async def close(self) -> None:
        """Take back all that is shown."""
        tasks = list(self._shown.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _show(self, request: RuntimeRequest) -> None:
        options = _by_title(request.options)
        try:
            title = await self._client.ask(request.prompt, list(options))
            if title in options:
                option_id = options[title].option_id
                await self._respond(self._client, RequestRespondParams(request_id=request.id, option_id=option_id))
        except (MidstreamError, RpcError) as problem:  # late, or the client shows no messages: it stays as it is
            log.debug("The message of %s came to nothing: %s", request.id, Quoted(problem))
        except Exception as problem:
            log_unforeseen(problem, "window/showMessageRequest")


def _by_title(options: tuple[RequestOption, ...]) -> dict[str, RequestOption]:
    labels = [option.label for option in options]
    return {
        option.label if labels.count(option.label) == 1 else f"{option.label} ({option.option_id})": option
        for option in options
    }
