"""The turns that run in one app-server: each message of Codex goes to the turn that it is for."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Final

import orjson

from midstream.protocol.base import JsonObject
from midstream.server.providers.adapter import ProviderError, Reply, SteerOutcome, ThreadOptions
from midstream.server.providers.codex.approvals import parse_approval, refusal
from midstream.server.providers.codex.conversations import OpenThread
from midstream.server.providers.codex.known import IGNORED, children_of, is_known
from midstream.server.providers.codex.turn import CodexTurn
from midstream.server.providers.connection import AnswerError, Closed, Connection, Notification, Request
from midstream.server.providers.events import ProviderEvent
from midstream.server.providers.failures import failure
from midstream.server.providers.reading import member, text_of
from midstream.server.providers.requests import Requests, real_folder
from midstream.server.providers.running import RunningTurn
from midstream.server.quoting import Quoted

logger: Final = logging.getLogger(__name__)

METHOD_NOT_FOUND: Final = -32601
LOGGED: Final = 2000


class Turns:
    """Runs turns, at most one in a conversation; `end` ends the process."""

    def __init__(self, connection: Connection, requests: Requests, end: Callable[[], Awaitable[None]]) -> None:
        self._connection = connection
        self._requests = requests
        self._end = end
        self._turns: dict[str, RunningTurn[CodexTurn]] = {}
        self._roots: dict[str, str] = {}
        self._limits: JsonObject = {}
        self._closing = asyncio.create_task(self._tell_closed())

    async def run(
        self, ref: str, thread: OpenThread, params: JsonObject, options: ThreadOptions
    ) -> AsyncGenerator[ProviderEvent, None]:
        """Send a turn and yield what happens until it has ended."""
        turn = CodexTurn(self._requests, ref, thread, real_folder(options.workspace), self._limits)

        async def send() -> None:
            if not self._connection.live:
                raise ProviderError(self._connection.failure)
            await turn.send(params)

        running = self._turns.setdefault(ref, RunningTurn(self._requests.patience.cancel, self._end))
        async with aclosing(running.run(turn, send)) as events:
            async for event in events:
                yield event

    async def interrupt(self, ref: str) -> None:
        """Ask for the running turn to stop; its `TurnEnded` says when it has."""
        if ref in self._turns:
            self._turns[ref].interrupt()

    async def steer(self, ref: str, text: str) -> SteerOutcome:
        """Give text to the running turn; its message in the history tells when it is taken."""
        running = self._turn(ref)
        if running is None or running.id is None:
            return "refused"
        params: JsonObject = {
            "threadId": ref,
            "expectedTurnId": running.id,
            "clientUserMessageId": running.new_steer(),
            "input": [{"type": "text", "text": text, "text_elements": []}],
        }
        try:
            await self._requests.attempt("turn/steer", params)
        except AnswerError as error:
            logger.info("Codex takes no words for its turn: %s", Quoted(error))
            return "refused"
        return "queued"

    async def respond(self, ref: str, request_ref: str, reply: Reply) -> None:
        """Answer a request of the running turn."""
        running = self._turn(ref)
        if running is None or not await running.respond(request_ref, reply):
            raise ProviderError(failure("validation_error", "Codex no longer waits for this answer."))

    async def aclose(self) -> None:
        """Wait for what goes on beside the turns; the process is ended by then."""
        await asyncio.gather(self._closing, return_exceptions=True)
        await asyncio.gather(*(running.aclose() for running in self._turns.values()))

    def _turn(self, ref: str) -> CodexTurn | None:
        return self._turns[ref].turn if ref in self._turns else None

    async def _tell_closed(self) -> None:
        """Tell the turns that the process is gone: the answer to their request came long before."""
        await self._connection.wait_closed()
        for running in tuple(self._turns.values()):
            if running.turn is not None:
                await running.turn.deliver(Closed())

    async def hear(self, message: Notification | Request) -> None:
        """Take a message from the reader."""
        thread_id = text_of(message.params, "threadId") or ""
        root = self._roots.get(thread_id, thread_id)
        running = self._turn(root)
        match message:
            case Request():
                await self._asked(message, running)
            case Notification(method="account/rateLimits/updated", params=params):
                self._hear_limits(member(params, "rateLimits"))
            case Notification(method=method) if method in IGNORED:
                pass
            case Notification(method=method, params=params) if not is_known(message):
                logger.info("Codex sent what Midstream does not know: %s %s", method, Quoted(_raw(params)))
            case Notification():
                for child in children_of(message):
                    self._roots[child] = root
                if running is not None and running.sent:
                    await running.deliver(message)

    async def _asked(self, request: Request, running: CodexTurn | None) -> None:
        asked = parse_approval(request)
        if asked is None:
            method = request.method
            logger.info("Codex asks what Midstream does not know: %s %s", method, Quoted(_raw(request.params)))
            await self._connection.refuse(request.id, METHOD_NOT_FOUND, f"No method {method}.")
        elif running is not None and running.sent:
            await running.deliver(request)
        else:
            await self._connection.answer(request.id, refusal(asked))

    def _hear_limits(self, told: JsonObject) -> None:
        """Take in a rolling update: what it leaves null stands as it was."""
        self._limits.update({name: value for name, value in told.items() if value is not None})


def _raw(params: JsonObject) -> str:
    return orjson.dumps(params).decode()[:LOGGED]
