"""One native conversation: the Claude Code that it runs in, and its turns, one at a time.

The process is started anew, and the conversation resumed in it, where it is gone or was started with other settings.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import suppress
from typing import Any, Final, TypeAlias

from claude_agent_sdk import (
    ClaudeAgentOptions,
    ClaudeSDKClient,
    ClaudeSDKError,
    CLIConnectionError,
    CLINotFoundError,
    Message,
    PermissionResult,
    ResultError,
    ToolPermissionContext,
)

from midstream.protocol.records.run import Failure
from midstream.server.providers.adapter import ProviderError, Reply, SteerOutcome, ThreadOptions, TurnInput
from midstream.server.providers.claude.approvals import NOBODY, ask_of, deny
from midstream.server.providers.claude.input import steer_message, streamed, turn_message
from midstream.server.providers.claude.launch import planning
from midstream.server.providers.claude.todos import Todos
from midstream.server.providers.claude.transport import ProcessTransport
from midstream.server.providers.claude.turn import Gone, Turn
from midstream.server.providers.claude.usage import Spent
from midstream.server.providers.events import ProviderEvent
from midstream.server.providers.failures import failure
from midstream.server.providers.requests import Patience, real_folder
from midstream.server.quoting import Quoted

logger: Final = logging.getLogger(__name__)

Words: TypeAlias = tuple[str, ...]
Launch: TypeAlias = Callable[[ThreadOptions, Words], ProcessTransport]
"""Makes the transport of a Claude Code; the words say which conversation it begins or resumes."""


class Conversation:
    """A conversation that is open; `begins` says where it does: anew, at an earlier day's end, or as a fork."""

    def __init__(self, ref: str, begins: Words, launch: Launch, patience: Patience) -> None:
        self.ref: Final = ref
        self._launch = launch
        self._patience = patience
        self._begins = begins
        self._todos = Todos()
        self._spent = Spent()
        self._client: ClaudeSDKClient | None = None
        self._transport: ProcessTransport | None = None
        self._options: ThreadOptions | None = None
        self._reading: asyncio.Task[None] | None = None
        self._turn: Turn | None = None
        self._abandoned: asyncio.Event | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def open(self, options: ThreadOptions) -> None:
        """Start its process, unless one runs that was started with these options.

        Raises:
            ProviderError: the process ended at once, or did not answer in time.
        """
        if self._transport is not None and self._transport.is_ready() and options == self._options:
            return
        await self._end()
        transport = self._launch(options, self._begins)
        client = ClaudeSDKClient(
            ClaudeAgentOptions(can_use_tool=self._permit, verbatim_prompts=True, forward_subagent_text=True), transport
        )
        await connect(client, transport, self._patience)
        self._client, self._transport, self._options = client, transport, options
        self._spent = Spent()
        self._reading = asyncio.create_task(self._read(client, transport))

    async def run(self, turn: TurnInput, options: ThreadOptions) -> AsyncGenerator[ProviderEvent, None]:
        """Send a turn and yield what happens until it has ended."""
        if self._abandoned is not None:
            await self._abandoned.wait()
        if self._turn is not None:
            raise ProviderError(failure("validation_error", "The conversation runs a turn."))
        plans = planning(options)
        running = Turn(real_folder(options.workspace), options.runtime_mode, self._todos, planning=plans)
        self._turn = running
        try:
            await self.open(options)
            running.spent = self._spent
            if not running.cancelled:
                running.sent = True
                await self._send(turn_message(turn, running.id))
            while not running.over:
                for event in await running.step():
                    yield event
        finally:
            if running.taken:
                self._begins = (f"--resume={self.ref}",)
            if running.planning != plans:
                self._options = None  # Claude Code left the mode that it was started in
            if running.sent and not running.ended.is_set():
                self._abandoned = asyncio.Event()
                self._spawn(self._abandon(running))
            else:
                await running.abandon()
                self._turn = None

    async def interrupt(self) -> None:
        """Ask for the running turn to stop; its `TurnEnded` says when it has."""
        running = self._turn
        if running is not None and not running.cancelled:
            running.cancelled = True
            if running.sent:  # otherwise it never will be
                self._spawn(self._cancel(running))

    async def _cancel(self, running: Turn) -> None:
        """Interrupt a turn, and end the Claude Code that does not end it, or would go on with steered words."""
        running.cancelled = True
        assert self._client is not None
        assert self._transport is not None
        try:
            async with asyncio.timeout(self._patience.cancel):
                await running.begun.wait()
                if not running.ended.is_set():
                    await self._client.interrupt()
                await running.resulted.wait()
                if running.steered:
                    await self._transport.kill()
                await running.ended.wait()
        except TimeoutError:
            logger.warning("Claude Code did not end an interrupted turn; its process is ended.")
            await self._transport.close()
        except Exception as error:  # as in `open`
            logger.info("Claude Code is gone while a turn is interrupted: %s", Quoted(error))

    async def _abandon(self, running: Turn) -> None:
        assert self._abandoned is not None
        await running.abandon()
        await self._cancel(running)
        self._turn = None
        self._abandoned.set()
        self._abandoned = None

    async def steer(self, text: str) -> SteerOutcome:
        """Give text to the running turn; its message told back says when it is taken."""
        running = self._turn
        if running is None or not running.taken or running.ended.is_set() or running.cancelled:
            return "refused"
        await self._send(steer_message(text, running.new_steer()))
        return "queued"

    def respond(self, request_ref: str, reply: Reply) -> bool:
        """Answer a question of the running turn; False where Claude Code does not wait for it."""
        return self._turn is not None and self._turn.respond(request_ref, reply)

    async def aclose(self) -> None:
        """End the process and all its children for certain."""
        await self._end()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _end(self) -> None:
        if self._client is None or self._reading is None or self._transport is None:
            return
        await self._transport.close()
        await self._reading
        await asyncio.shield(self._client.disconnect())
        self._client = self._transport = self._reading = None

    async def _send(self, message: dict[str, Any]) -> None:
        assert self._client is not None
        with suppress(CLIConnectionError):  # the reader sees that it is gone
            await self._client.query(streamed(message), self.ref)

    async def _permit(self, name: str, given: dict[str, Any], context: ToolPermissionContext) -> PermissionResult:
        running = self._turn
        if running is None or not running.sent:
            return deny(NOBODY)
        return await running.permit(ask_of(name, given, context))

    async def _read(self, client: ClaudeSDKClient, transport: ProcessTransport) -> None:
        """Hand on what comes until the process has ended, and then that it has."""
        while transport.is_ready():
            try:
                async for message in client.receive_messages():
                    await self._hear(message)
            except ClaudeSDKError as error:  # its end, or a message that the SDK cannot read
                logger.info("Claude Code ended, or sent what Midstream does not know: %s", Quoted(error))
        await transport.close()
        if self._turn is not None and self._turn.sent:
            await self._turn.deliver(Gone(transport.gone))

    async def _hear(self, message: Message) -> None:
        if self._turn is not None and self._turn.sent:
            await self._turn.deliver(message)
        else:
            logger.debug("Claude Code speaks while no turn runs; it is ignored.")

    def _spawn(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def connect(client: ClaudeSDKClient, transport: ProcessTransport, patience: Patience) -> None:
    """Start a Claude Code and introduce ourselves.

    Raises:
        ProviderError: it cannot be started, ended at once, or did not answer in time.
    """
    try:
        async with asyncio.timeout(patience.answer):
            await client.connect()
    except TimeoutError as error:
        late = f"Claude Code did not answer within {patience.answer:g} s."
        raise ProviderError(failure("transport_error", late)) from error
    except Exception as error:  # the SDK raises errors of its own, and plain ones for what the other side answers
        raise ProviderError(_why(transport, error)) from error


def _why(transport: ProcessTransport, error: Exception) -> Failure:
    """Return the failure of a Claude Code that did not start."""
    if isinstance(error, CLINotFoundError):
        return failure("validation_error", f"Claude Code is not installed: {error}.")
    if isinstance(error, ResultError):
        return failure("validation_error", str(error))
    return transport.gone
