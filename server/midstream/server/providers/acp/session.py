"""A live ACP agent: its native conversations, and the turns that run in them."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Coroutine
from contextlib import aclosing, suppress
from typing import Final

from midstream.protocol.base import JsonObject
from midstream.protocol.records.provider import Capabilities, ProviderModel
from midstream.server.providers.acp.blocks import prompt_blocks
from midstream.server.providers.acp.capabilities import INTRODUCTION, Agent, capabilities, parse_agent
from midstream.server.providers.acp.failures import LOGIN_REQUIRED, METHOD_NOT_FOUND, rpc_failure
from midstream.server.providers.acp.permissions import CANCELLED
from midstream.server.providers.acp.place import place
from midstream.server.providers.acp.settings import Settings
from midstream.server.providers.acp.turn import GRACE_LIMIT, Prompt
from midstream.server.providers.adapter import (
    NativeThread,
    NativeTurn,
    ProviderError,
    Reply,
    ResumeFailed,
    SteerOutcome,
    ThreadOptions,
    TurnInput,
)
from midstream.server.providers.connection import AnswerError, Connection, Notification, Request
from midstream.server.providers.events import ProviderEvent
from midstream.server.providers.failures import failure
from midstream.server.providers.process import ChildProcess
from midstream.server.providers.reading import member, text_of
from midstream.server.providers.requests import Patience, Requests, real_folder
from midstream.server.providers.running import RunningTurn

logger: Final = logging.getLogger(__name__)


class AcpSession:
    """A running agent; made by `start`."""

    def __init__(self, process: ChildProcess, model: str | None, patience: Patience) -> None:
        self._process = process
        self._connection = Connection(process, self._incoming)
        self._requests = Requests(self._connection, patience, rpc_failure)
        self._agent = parse_agent({})
        self._model = model
        self._settings: dict[str, Settings] = {}
        self._models: tuple[ProviderModel, ...] = ()
        self._turns: dict[str, RunningTurn[Prompt]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    @classmethod
    async def start(cls, process: ChildProcess, model: str | None, patience: Patience) -> "AcpSession":
        """Introduce ourselves to an agent that was just started; whatever goes wrong, the process is ended."""
        session = cls(process, model, patience)
        try:
            initialized = await session._requests.call("initialize", dict(INTRODUCTION))
        except BaseException:  # a cancel included
            await session.aclose()
            raise
        session._agent = parse_agent(initialized)
        return session

    @property
    def pid(self) -> int | None:
        """The process id, None once it has ended."""
        return self._process.pid if self._process.returncode is None else None

    @property
    def agent(self) -> Agent:
        """What the agent announced."""
        return self._agent

    @property
    def models(self) -> tuple[ProviderModel, ...]:
        """The models that the conversation opened last offers."""
        return self._models

    @property
    def capabilities(self) -> Capabilities:
        """What this agent said it can do."""
        return capabilities(self._agent, bool(self._models))

    @property
    def live(self) -> bool:
        """Whether the process can still be spoken to."""
        return self._connection.live

    @property
    def _grace(self) -> float:
        """Seconds of quiet after which an agent has said all; our own agents say it before they answer."""
        return 0.0 if self._agent.turn_started else self._requests.patience.grace

    async def start_thread(self, options: ThreadOptions) -> NativeThread:
        """Start a native conversation."""
        return await self._opened(await self._requests.call("session/new", place(options)), options)

    async def resume_thread(self, ref: str, options: ThreadOptions) -> NativeThread:
        """Open a native conversation of an earlier day; nothing that it replays comes back as an event."""
        if not (self._agent.resume or self._agent.load):
            raise ResumeFailed(failure("validation_error", "The agent cannot resume conversations."))
        params = {"sessionId": ref, **place(options)}
        try:
            opened = await self._reopen(params)
        except AnswerError as error:
            if error.code == LOGIN_REQUIRED:
                raise ProviderError(rpc_failure(error.error)) from error
            raise ResumeFailed(rpc_failure(error.error)) from error
        await self._connection.quiet(self._grace, GRACE_LIMIT)  # a replay may go on after its answer
        return await self._opened({**opened, "sessionId": ref}, options)

    async def _reopen(self, params: JsonObject) -> JsonObject:
        if self._agent.resume:
            try:
                return await self._requests.attempt("session/resume", params)
            except AnswerError as error:  # announced, and missing
                if error.code != METHOD_NOT_FOUND or not self._agent.load:
                    raise
        return await self._requests.attempt("session/load", params)

    async def fork_thread(self, ref: str, turn_ref: str | None, options: ThreadOptions) -> NativeThread:
        """Fork a native conversation after a turn, or at its head where `turn_ref` is None."""
        params: JsonObject = {"sessionId": ref, **place(options)}
        if turn_ref is not None and self._agent.fork_at_turn:
            forked = await self._requests.call("_midstream/fork_at_turn", {**params, "turnId": turn_ref})
        elif turn_ref is None and self._agent.fork:
            forked = await self._requests.call("session/fork", params)
        else:
            raise ProviderError(failure("validation_error", "The agent cannot fork a conversation there."))
        return await self._opened(forked, options)

    async def revert_thread(self, ref: str, turn_ref: str) -> None:
        """Drop a turn and all after it from an open conversation; files stay as they are."""
        turns = [turn.ref for turn in await self.read_turns(ref)]
        if turn_ref not in turns:
            raise ProviderError(failure("validation_error", f"The agent knows no turn {turn_ref}."))
        before = turns[: turns.index(turn_ref)]
        await self._requests.call("_midstream/rewind", {"sessionId": ref, "toTurn": before[-1] if before else None})

    async def read_turns(self, ref: str) -> tuple[NativeTurn, ...]:
        """Return the turns of an open conversation as the agent has them now, oldest first."""
        if not self._agent.rewind:
            raise ProviderError(failure("validation_error", "The agent does not tell its turns."))
        answered = await self._requests.call("_midstream/turns", {"sessionId": ref})
        turns = answered.get("turns")
        refs = turns if isinstance(turns, list) else []
        return tuple(NativeTurn(ref=turn, completed=True) for turn in refs if isinstance(turn, str))

    async def run_turn(self, ref: str, turn: TurnInput, options: ThreadOptions) -> AsyncGenerator[ProviderEvent, None]:
        """Send a turn and yield what happens until it has ended."""
        settings = self._settings.get(ref)
        if settings is None:
            raise ProviderError(failure("validation_error", "The conversation is not open."))
        prompt = Prompt(self._connection, self._agent, ref, real_folder(options.workspace), self._grace)

        async def send() -> None:
            if not self.live:
                raise ProviderError(self._connection.failure)
            await settings.apply(options)
            await prompt.send(prompt_blocks(turn, self._agent))

        async with aclosing(self._turns[ref].run(prompt, send)) as events:
            async for event in events:
                yield event

    async def interrupt(self, ref: str) -> None:
        """Ask for the running turn to stop; its `TurnEnded` says when it has."""
        if ref in self._turns:
            self._turns[ref].interrupt()

    async def steer(self, ref: str, text: str) -> SteerOutcome:
        """Give text to the running turn; the agent tells when it takes it."""
        if not self._agent.steer or self._prompt(ref) is None:
            return "refused"
        answered = await self._requests.call("_midstream/steer", {"sessionId": ref, "text": text})
        return "queued" if answered.get("accepted") is True else "refused"

    async def respond(self, ref: str, request_ref: str, reply: Reply) -> None:
        """Answer a request of the running turn."""
        running = self._prompt(ref)
        if running is None or not await running.respond(request_ref, reply):
            raise ProviderError(failure("validation_error", "The agent no longer waits for this answer."))

    async def close_thread(self, ref: str) -> None:
        """Let go of a native conversation; it can be resumed later."""
        self._settings.pop(ref, None)
        if self._agent.close:
            await self._requests.call("session/close", {"sessionId": ref})

    async def delete_thread(self, ref: str) -> None:
        """Delete a native conversation where the agent can."""
        if self._agent.delete:
            await self._requests.call("session/delete", {"sessionId": ref})

    async def aclose(self) -> None:
        """End the process and all its children for certain."""
        await self._connection.aclose()
        await asyncio.gather(*(one.aclose() for one in self._turns.values()))
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _prompt(self, ref: str | None) -> Prompt | None:
        return self._turns[ref].turn if ref in self._turns else None

    async def _opened(self, opened: JsonObject, options: ThreadOptions) -> NativeThread:
        ref = text_of(opened, "sessionId")
        if ref is None:
            raise ProviderError(failure("provider_error", "The agent opened a conversation without an id."))
        settings = Settings(ref, self._requests.call, opened, self._model)
        self._settings[ref] = settings
        self._turns.setdefault(ref, RunningTurn(self._requests.patience.cancel, self._process.end))
        await settings.open(options)
        self._models = settings.models
        return NativeThread(ref=ref, model=settings.model)

    async def _incoming(self, message: Notification | Request) -> None:
        ref = text_of(message.params, "sessionId")
        settings = self._settings.get(ref or "")
        if settings is not None and settings.hear(member(message.params, "update")):
            self._spawn(self._keep_mode(settings))
        running = self._prompt(ref)
        match message:
            case Request(method="session/request_permission") | Notification(method="session/update") if (
                running is not None and running.sent
            ):
                await running.deliver(message)
            case Request(id=request_id, method="session/request_permission"):
                await self._connection.answer(request_id, dict(CANCELLED))
            case Request(id=request_id, method=method):
                await self._connection.refuse(request_id, METHOD_NOT_FOUND, f"No method {method}.")
            case Notification(method="$/cancel_request"):
                for turns in tuple(self._turns.values()):
                    if turns.turn is not None:
                        await turns.turn.deliver(message)
            case Notification(method=method):
                logger.debug("An agent sent %s while no turn runs; it is ignored.", method)

    async def _keep_mode(self, settings: Settings) -> None:
        with suppress(ProviderError):  # asserted again before the next turn
            await settings.reassert_mode()

    def _spawn(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
