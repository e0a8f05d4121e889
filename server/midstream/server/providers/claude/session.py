"""A live Claude Code in one workspace: its conversations, each a process of its own."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from uuid import uuid4

from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient

from midstream.protocol.base import JsonObject
from midstream.protocol.records.config import ProviderConfig
from midstream.protocol.records.provider import Capabilities
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
from midstream.server.providers.claude.abilities import CAPABILITIES
from midstream.server.providers.claude.archive import Archive
from midstream.server.providers.claude.claim import Claim
from midstream.server.providers.claude.conversation import Conversation, Words, resuming, resuming_at
from midstream.server.providers.claude.launch import SOURCES, arguments, config_folder, environment
from midstream.server.providers.claude.process import connect
from midstream.server.providers.claude.transport import ProcessTransport
from midstream.server.providers.events import ProviderEvent
from midstream.server.providers.failures import failure
from midstream.server.providers.reading import text_of
from midstream.server.providers.requests import Patience, real_folder


class ClaudeSession:
    """The conversations of one workspace; a process begins with each conversation that is opened.

    `notes` is the folder in which we note which ones are open, and what they were rewound to.
    """

    def __init__(
        self, command: Sequence[str], config: ProviderConfig, workspace: Path, notes: Path, patience: Patience
    ) -> None:
        self._command = tuple(command)
        self._config = config
        self._workspace = workspace
        self._notes = notes
        self._patience = patience
        self._archive = Archive(config_folder(environment(config.env or {})), notes)
        self._conversations: dict[str, Conversation] = {}
        self._closed = False

    @property
    def pid(self) -> int | None:
        """None: there is no process that all conversations share."""
        return None

    @property
    def capabilities(self) -> Capabilities:
        """What Claude Code can do."""
        return CAPABILITIES

    @property
    def live(self) -> bool:
        """Whether conversations can be opened: one whose process is gone is resumed with its next turn."""
        return not self._closed

    async def describe(self) -> JsonObject:
        """Return what a Claude Code says of itself as it starts: its account and its models."""
        transport = self._launch(_asking(self._workspace), ())
        client = ClaudeSDKClient(ClaudeAgentOptions(), transport)
        await connect(client, transport, self._patience)
        try:
            return await client.get_server_info() or {}
        finally:
            await client.disconnect()

    async def start_thread(self, options: ThreadOptions) -> NativeThread:
        """Start a native conversation, under an id of ours."""
        ref = str(uuid4())
        return await self._opened(ref, (f"--session-id={ref}",), options)

    async def resume_thread(self, ref: str, options: ThreadOptions) -> NativeThread:
        """Open a native conversation of an earlier day."""
        try:
            return await self._opened(ref, resuming(ref), options)
        except ProviderError as error:
            raise ResumeFailed(error.failure) from error

    async def fork_thread(self, ref: str, turn_ref: str | None, options: ThreadOptions) -> NativeThread:
        """Fork a native conversation after a turn, or at its head where `turn_ref` is None."""
        forked = str(uuid4())
        begins: Words = (*resuming(ref), "--fork-session", f"--session-id={forked}")
        end = await self._archive.rewound_to(ref)
        if turn_ref is not None:
            kept = {turn.ref: turn.last_id for turn in await self._archive.turns(ref)}
            if turn_ref not in kept:
                raise ProviderError(failure("validation_error", "Claude Code does not have that turn."))
            end = kept[turn_ref]
        return await self._opened(forked, begins if end is None else (*begins, resuming_at(end)), options)

    async def revert_thread(self, ref: str, turn_ref: str) -> None:
        """Drop a turn, but the first, and all after it from an open conversation."""
        await self._conversation(ref).revert(turn_ref)

    async def read_turns(self, ref: str) -> tuple[NativeTurn, ...]:
        """Return the turns of an open conversation as Claude Code goes on with it, oldest first."""
        kept = await self._archive.turns(self._conversation(ref).ref)
        return tuple(NativeTurn(ref=turn.ref, completed=turn.answered) for turn in kept)

    async def run_turn(self, ref: str, turn: TurnInput, options: ThreadOptions) -> AsyncGenerator[ProviderEvent, None]:
        """Send a turn and yield what happens until it has ended."""
        async with aclosing(self._conversation(ref).run(turn, options)) as events:
            async for event in events:
                yield event

    async def interrupt(self, ref: str) -> None:
        """Ask for the running turn to stop; its `TurnEnded` says when it has."""
        if ref in self._conversations:
            await self._conversations[ref].interrupt()

    async def steer(self, ref: str, text: str) -> SteerOutcome:
        """Give text to the running turn."""
        return await self._conversation(ref).steer(text)

    async def respond(self, ref: str, request_ref: str, reply: Reply) -> None:
        """Answer a question of the running turn."""
        if not self._conversation(ref).respond(request_ref, reply):
            raise ProviderError(failure("validation_error", "Claude Code no longer waits for this answer."))

    async def close_thread(self, ref: str) -> None:
        """Let go of a native conversation and end its process; it can be resumed later."""
        conversation = self._conversations.pop(ref, None)
        if conversation is not None:
            await conversation.aclose()

    async def aclose(self) -> None:
        """End the processes and all their children for certain."""
        self._closed = True
        for ref in tuple(self._conversations):
            await self.close_thread(ref)

    def _conversation(self, ref: str) -> Conversation:
        conversation = self._conversations.get(ref)
        if conversation is None:
            raise ProviderError(failure("validation_error", "The conversation is not open."))
        return conversation

    async def _opened(self, ref: str, begins: Words, options: ThreadOptions) -> NativeThread:
        await self.close_thread(ref)
        claim = Claim.take(self._notes, ref)
        conversation = Conversation(ref, begins, self._archive, claim, self._launch, self._patience)
        try:
            await conversation.open(options)
        except BaseException:  # a cancel included
            await conversation.aclose()
            raise
        self._conversations[ref] = conversation
        return NativeThread(ref=ref, model=options.model or self._config.model)

    def _launch(self, options: ThreadOptions, words: Words) -> ProcessTransport:
        env: Mapping[str, str] = self._config.env or {}
        sources = text_of(self._config.settings or {}, "settingSources") or SOURCES
        command = (*self._command, *arguments(options, self._config.model, sources), *words)
        return ProcessTransport(command, real_folder(options.workspace), environment(env))


def _asking(workspace: Path) -> ThreadOptions:
    """Return options of a conversation that is never begun."""
    return ThreadOptions(workspace=workspace, model=None, options=None, runtime_mode="readOnly")
