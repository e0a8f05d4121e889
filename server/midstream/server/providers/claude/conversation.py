"""One native conversation: the Claude Code that it runs in, and its turns, one at a time.

The process is started anew, and the conversation resumed in it, where it is gone or was started with other settings.
"""

import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from itertools import pairwise
from typing import Any, Final, TypeAlias

from claude_agent_sdk import Message, PermissionResult, ToolPermissionContext

from midstream.server.providers.adapter import ProviderError, Reply, SteerOutcome, ThreadOptions, TurnInput
from midstream.server.providers.claude.approvals import NOBODY, ask_of, deny
from midstream.server.providers.claude.archive import Archive
from midstream.server.providers.claude.claim import Claim
from midstream.server.providers.claude.input import steer_message, turn_message
from midstream.server.providers.claude.launch import planning
from midstream.server.providers.claude.process import ClaudeProcess, Gone
from midstream.server.providers.claude.todos import Todos
from midstream.server.providers.claude.transport import ProcessTransport
from midstream.server.providers.claude.turn import ClaudeTurn
from midstream.server.providers.claude.usage import Spent
from midstream.server.providers.events import ProviderEvent
from midstream.server.providers.failures import failure
from midstream.server.providers.requests import Patience, real_folder
from midstream.server.providers.running import RunningTurn

logger: Final = logging.getLogger(__name__)

Words: TypeAlias = tuple[str, ...]
Launch: TypeAlias = Callable[[ThreadOptions, Words], ProcessTransport]
"""Makes the transport of a Claude Code; the words say which conversation it begins or resumes."""


class Conversation:
    """A conversation that is open and claimed; `begins` says where it does, until Claude Code has a turn of it."""

    def __init__(
        self, ref: str, begins: Words, archive: Archive, claim: Claim, launch: Launch, patience: Patience
    ) -> None:
        self.ref: Final = ref
        self._begins = begins
        self._archive = archive
        self._claim = claim
        self._launch = launch
        self._patience = patience
        self._todos = Todos()
        self._spent = Spent()
        self._process: ClaudeProcess | None = None
        self._options: ThreadOptions | None = None
        self._outdated = False
        self._running: RunningTurn[ClaudeTurn] = RunningTurn(patience.cancel, self._end)

    async def open(self, options: ThreadOptions) -> ClaudeProcess:
        """Return its process, and start it unless one runs that was started with these options.

        Raises:
            ProviderError: the process ended at once, or did not answer in time.
        """
        if self._process is not None and self._process.live and options == self._options and not self._outdated:
            return self._process
        await self._end()
        transport = self._launch(options, await self._beginning())
        self._process = await ClaudeProcess.start(self.ref, transport, self._hear, self._permit, self._patience)
        self._options, self._outdated, self._spent = options, False, Spent()
        return self._process

    async def _beginning(self) -> Words:
        """Return the words that say where it begins; one that was rewound goes on after what it was rewound to."""
        if self._begins != resuming(self.ref):
            return self._begins
        head = await self._archive.rewound_to(self.ref)
        return self._begins if head is None else (*self._begins, resuming_at(head))

    async def run(self, turn: TurnInput, options: ThreadOptions) -> AsyncGenerator[ProviderEvent, None]:
        """Send a turn and yield what happens until it has ended."""
        plans = planning(options)
        running = ClaudeTurn(real_folder(options.workspace), options.runtime_mode, self._todos, planning=plans)

        async def send() -> None:
            process = await self.open(options)
            await running.send(process, turn_message(turn, running.id), self._spent)

        try:
            async with aclosing(self._running.run(running, send)) as events:
                async for event in events:
                    yield event
        finally:
            if running.taken:
                self._begins = resuming(self.ref)
            if running.planning != plans:
                self._outdated = True  # Claude Code left the mode that it was started in

    async def interrupt(self) -> None:
        """Ask for the running turn to stop; its `TurnEnded` says when it has."""
        self._running.interrupt()

    async def steer(self, text: str) -> SteerOutcome:
        """Give text to the running turn; its message told back says when it is taken."""
        running = self._running.turn
        if running is None or self._process is None or not running.steerable:
            return "refused"
        await self._process.send(steer_message(text, running.new_steer()))
        return "queued"

    def respond(self, request_ref: str, reply: Reply) -> bool:
        """Answer a question of the running turn; False where Claude Code does not wait for it."""
        running = self._running.turn
        return running is not None and running.respond(request_ref, reply)

    async def revert(self, turn_ref: str) -> None:
        """Rewind it to before a turn, and start the process anew there.

        Raises:
            ProviderError: it runs a turn, or nothing comes before that one, or Claude Code does not go back there.
        """
        if self._running.turn is not None or self._options is None:
            raise ProviderError(failure("validation_error", "The conversation runs a turn, or is not open."))
        kept = await self._archive.turns(self.ref)
        before = [turn.last_id for turn, after in pairwise(kept) if after.ref == turn_ref]
        if not before:
            raise ProviderError(failure("validation_error", "Claude Code cannot go back to before that turn."))
        await self._archive.rewind(self.ref, before[0])
        self._outdated = True
        try:
            await self.open(self._options)
        except ProviderError:
            self._archive.forget_rewind(self.ref)
            raise

    async def aclose(self) -> None:
        """End the process and all its children for certain, and let go of the conversation."""
        await self._end()
        await self._running.aclose()
        self._claim.release()

    async def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            await process.aclose()

    async def _permit(self, name: str, given: dict[str, Any], context: ToolPermissionContext) -> PermissionResult:
        running = self._running.turn
        if running is None or not running.sent:
            return deny(NOBODY)
        return await running.permit(ask_of(name, given, context))

    async def _hear(self, message: Message | Gone) -> None:
        running = self._running.turn
        if running is not None and running.sent:
            await running.deliver(message)
        else:
            logger.debug("Claude Code speaks while no turn runs; it is ignored.")


def resuming(ref: str) -> Words:
    """Return the words that resume a conversation."""
    return (f"--resume={ref}",)


def resuming_at(entry_id: str) -> str:
    """Return the word that has a resumed conversation go on after an entry of it."""
    return f"--resume-session-at={entry_id}"
