"""A live Codex app-server: its native conversations, and the turns that run in them."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from midstream.protocol.records.provider import Capabilities, ProviderModel
from midstream.server.providers.adapter import (
    NativeThread,
    NativeTurn,
    Reply,
    SteerOutcome,
    ThreadOptions,
    TurnInput,
)
from midstream.server.providers.codex.catalog import list_models, logged_in
from midstream.server.providers.codex.conversations import Conversations
from midstream.server.providers.codex.failures import rpc_failure
from midstream.server.providers.codex.requirements import INTRODUCTION, UNKNOWN, capabilities, probe
from midstream.server.providers.codex.turns import Turns
from midstream.server.providers.connection import Connection, Notification, Request
from midstream.server.providers.events import ProviderEvent
from midstream.server.providers.process import ChildProcess
from midstream.server.providers.requests import Patience, Requests


class CodexSession:
    """A running app-server; made by `start`."""

    def __init__(self, process: ChildProcess, model: str | None, patience: Patience) -> None:
        self._process = process
        self._connection = Connection(process, self._incoming)
        self._requests = Requests(self._connection, patience, rpc_failure)
        self._abilities = UNKNOWN
        self._conversations = Conversations(self._requests, self._abilities, model)
        self._turns = Turns(self._connection, self._requests, process.end)

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
    def capabilities(self) -> Capabilities:
        """What this Codex can do."""
        return capabilities(self._abilities)

    @property
    def live(self) -> bool:
        """Whether the process can still be spoken to."""
        return self._connection.live

    async def models(self) -> tuple[ProviderModel, ...]:
        """Return the models that Codex offers."""
        return await list_models(self._requests)

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
        thread = self._conversations.get(ref)
        params = self._conversations.turn_params(ref, turn, options)
        async with aclosing(self._turns.run(ref, thread, params, options)) as events:
            async for event in events:
                yield event

    async def interrupt(self, ref: str) -> None:
        """Ask for the running turn to stop; its `TurnEnded` says when it has."""
        await self._turns.interrupt(ref)

    async def steer(self, ref: str, text: str) -> SteerOutcome:
        """Give text to the running turn."""
        return await self._turns.steer(ref, text) if self.capabilities.steer else "refused"

    async def respond(self, ref: str, request_ref: str, reply: Reply) -> None:
        """Answer a request of the running turn."""
        await self._turns.respond(ref, request_ref, reply)

    async def close_thread(self, ref: str) -> None:
        """Let go of a native conversation; it can be resumed later."""
        await self._conversations.close(ref)

    async def aclose(self) -> None:
        """End the process and all its children for certain."""
        await self._connection.aclose()
        await self._turns.aclose()

    async def _incoming(self, message: Notification | Request) -> None:
        await self._turns.hear(message)
