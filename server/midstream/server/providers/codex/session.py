"""A live Codex app-server: its native conversations, and the turns that run in them."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Coroutine
from typing import Final

import orjson

from midstream.protocol.base import JsonObject
from midstream.protocol.records.provider import Capabilities, ProviderModel
from midstream.server.providers.adapter import (
    NativeThread,
    NativeTurn,
    ProviderError,
    Reply,
    SteerOutcome,
    ThreadOptions,
    TurnInput,
)
from midstream.server.providers.codex.approvals import parse_approval, refusal
from midstream.server.providers.codex.catalog import list_models, logged_in
from midstream.server.providers.codex.conversations import Conversations
from midstream.server.providers.codex.failures import rpc_failure
from midstream.server.providers.codex.known import IGNORED, children_of, is_known
from midstream.server.providers.codex.requirements import INTRODUCTION, UNKNOWN, capabilities, probe
from midstream.server.providers.codex.turn import Turn
from midstream.server.providers.codex.usage import parse_tokens
from midstream.server.providers.connection import AnswerError, Closed, Connection, Notification, Request
from midstream.server.providers.events import ProviderEvent
from midstream.server.providers.failures import failure
from midstream.server.providers.process import ChildProcess
from midstream.server.providers.reading import member, text_of
from midstream.server.providers.requests import Patience, Requests, real_folder

logger: Final = logging.getLogger(__name__)

METHOD_NOT_FOUND: Final = -32601
LOGGED: Final = 2000


class CodexSession:
    """A running app-server; made by `start`."""

    def __init__(self, process: ChildProcess, model: str | None, patience: Patience) -> None:
        self._process = process
        self._connection = Connection(process, self._incoming)
        self._requests = Requests(self._connection, patience, rpc_failure)
        self._abilities = UNKNOWN
        self._conversations = Conversations(self._requests, self._abilities, model)
        self._models: tuple[ProviderModel, ...] = ()
        self._turns: dict[str, Turn] = {}
        self._roots: dict[str, str] = {}
        self._limits: JsonObject = {}
        self._abandoned: dict[str, asyncio.Event] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._spawn(self._tell_closed())

    @classmethod
    async def start(cls, process: ChildProcess, model: str | None, patience: Patience) -> "CodexSession":
        """Introduce ourselves to an app-server that was just started; whatever goes wrong, it is ended.

        Raises:
            ProviderError: it does not answer in time, or is too old.
        """
        session = cls(process, model, patience)
        try:
            initialized = await session._requests.call("initialize", dict(INTRODUCTION))
            await session._connection.notify("initialized", {})
            session._abilities = await probe(session._requests, initialized)
            session._conversations = Conversations(session._requests, session._abilities, model)
            session._models = await list_models(session._requests)
        except BaseException:  # a cancel included
            await session.aclose()
            raise
        return session

    @property
    def pid(self) -> int | None:
        """The process id, None once it has ended."""
        return self._process.pid if self._process.returncode is None else None

    @property
    def version(self) -> str | None:
        """Codex's version."""
        return self._abilities.version

    @property
    def models(self) -> tuple[ProviderModel, ...]:
        """The models that Codex offers."""
        return self._models

    @property
    def capabilities(self) -> Capabilities:
        """What this Codex can do."""
        return capabilities(self._abilities, bool(self._models))

    @property
    def live(self) -> bool:
        """Whether the process can still be spoken to."""
        return self._connection.live

    async def logged_in(self) -> bool:
        """Return whether Codex has what it needs to reach its model."""
        return await logged_in(self._requests)

    async def start_thread(self, options: ThreadOptions) -> NativeThread:
        """Start a native conversation."""
        return await self._conversations.start(options)

    async def resume_thread(self, ref: str, options: ThreadOptions) -> NativeThread:
        """Open a native conversation of an earlier day."""
        return await self._conversations.resume(ref, options)

    async def fork_thread(self, ref: str, turn_ref: str | None, options: ThreadOptions) -> NativeThread:
        """Fork a native conversation after a turn, or at its head where `turn_ref` is None."""
        return await self._conversations.fork(ref, turn_ref, options)

    async def revert_thread(self, ref: str, turn_ref: str) -> None:
        """Drop a turn and all after it from an open conversation."""
        await self._conversations.revert(ref, turn_ref)

    async def read_turns(self, ref: str) -> tuple[NativeTurn, ...]:
        """Return the turns of an open conversation as Codex has them now, oldest first."""
        return await self._conversations.turns(ref)

    async def run_turn(self, ref: str, turn: TurnInput, options: ThreadOptions) -> AsyncGenerator[ProviderEvent, None]:
        """Send a turn and yield what happens until it has ended."""
        if ref in self._abandoned:
            await self._abandoned[ref].wait()
        if not self.live:
            raise ProviderError(self._connection.failure)
        thread = self._conversations.get(ref)
        if thread is None or ref in self._turns:
            state = "runs a turn" if ref in self._turns else "is not open"
            raise ProviderError(failure("validation_error", f"The conversation {state}."))
        params = self._conversations.turn_params(ref, turn, options)
        running = Turn(self._connection, ref, real_folder(options.workspace), thread.used)
        running.limits = self._limits
        self._turns[ref] = running
        try:
            await running.send(params)
            while not running.over:
                for event in await running.step():
                    yield event
        finally:
            if running.sent and not running.ended.is_set():
                self._abandoned[ref] = asyncio.Event()
                self._spawn(self._abandon(running))
            else:
                await running.abandon()
                del self._turns[ref]

    async def interrupt(self, ref: str) -> None:
        """Ask for the running turn to stop; its `TurnEnded` says when it has."""
        running = self._turns.get(ref)
        if running is not None and not running.cancelled:
            running.cancelled = True
            if running.sent:  # otherwise it never will be
                self._spawn(self._cancel(running))

    async def _cancel(self, running: Turn) -> None:
        """Interrupt a turn, and end the Codex that does not end it."""
        running.cancelled = True
        try:
            async with asyncio.timeout(self._requests.patience.cancel):
                await running.begun.wait()
                if not running.ended.is_set():
                    params: JsonObject = {"threadId": running.thread_id, "turnId": running.id}
                    await self._requests.attempt("turn/interrupt", params)
                await running.ended.wait()
        except AnswerError as error:  # it ended by itself meanwhile
            logger.info("Codex did not interrupt a turn: %s", error)
        except ProviderError as error:
            logger.info("Codex is gone while a turn is interrupted: %s", error)
        except TimeoutError:
            logger.warning("Codex did not end an interrupted turn; its process is ended.")
            await self._process.end()

    async def _abandon(self, running: Turn) -> None:
        await running.abandon()
        await self._cancel(running)
        del self._turns[running.thread_id]
        self._abandoned.pop(running.thread_id).set()

    async def steer(self, ref: str, text: str) -> SteerOutcome:
        """Give text to the running turn; its message in the history tells when it is taken."""
        running = self._turns.get(ref)
        if running is None or running.id is None or "turn/steer" not in self._abilities.methods:
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
            logger.info("Codex takes no words for its turn: %s", error)
            return "refused"
        return "queued"

    async def respond(self, ref: str, request_ref: str, reply: Reply) -> None:
        """Answer a request of the running turn."""
        running = self._turns.get(ref)
        if running is None or not await running.respond(request_ref, reply):
            raise ProviderError(failure("validation_error", "Codex no longer waits for this answer."))

    async def close_thread(self, ref: str) -> None:
        """Let go of a native conversation; it can be resumed later."""
        await self._conversations.close(ref)

    async def aclose(self) -> None:
        """End the process and all its children for certain."""
        await self._connection.aclose()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _tell_closed(self) -> None:
        """Tell the turns that the process is gone: the answer to their request came long before."""
        await self._connection.wait_closed()
        for running in tuple(self._turns.values()):
            await running.deliver(Closed())

    async def _incoming(self, message: Notification | Request) -> None:
        thread_id = text_of(message.params, "threadId") or ""
        root = self._roots.get(thread_id, thread_id)
        running = self._turns.get(root)
        match message:
            case Request():
                await self._asked(message, running)
            case Notification(method="account/rateLimits/updated", params=params):
                self._hear_limits(member(params, "rateLimits"))
            case Notification(method=method) if method in IGNORED:
                pass
            case Notification(method=method, params=params) if not is_known(message):
                logger.info("Codex sent what Midstream does not know: %s %s", method, _raw(params))
            case Notification():
                for child in children_of(message):
                    self._roots[child] = root
                self._hear_tokens(message, root)
                if running is not None and running.sent:
                    await running.deliver(message)

    async def _asked(self, request: Request, running: Turn | None) -> None:
        asked = parse_approval(request)
        if asked is None:
            logger.info("Codex asks what Midstream does not know: %s %s", request.method, _raw(request.params))
            await self._connection.refuse(request.id, METHOD_NOT_FOUND, f"No method {request.method}.")
        elif running is not None and running.sent:
            await running.deliver(request)
        else:
            await self._connection.answer(request.id, refusal(asked))

    def _hear_limits(self, told: JsonObject) -> None:
        """Take in a rolling update: what it leaves null stands as it was."""
        self._limits.update({name: value for name, value in told.items() if value is not None})

    def _hear_tokens(self, told: Notification, root: str) -> None:
        thread = self._conversations.get(root)
        if thread is not None and told.method == "thread/tokenUsage/updated" and told.params.get("threadId") == root:
            thread.used = parse_tokens(told.params).whole

    def _spawn(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _raw(params: JsonObject) -> str:
    return orjson.dumps(params).decode()[:LOGGED]
