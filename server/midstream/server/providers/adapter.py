"""The contract between the runtime and a provider's driver.

A `Driver` makes `Session`s, each a live agent process in one workspace; a session starts, resumes or forks
native conversations and runs turns in them. What happens in a turn comes back as `ProviderEvent`s, in order.
A driver knows nothing of threads, runs or handoffs' meaning: it is given blocks to send.
"""

from collections.abc import AsyncGenerator, Mapping
from pathlib import Path
from typing import Final, Literal, Protocol, TypeAlias

from attrs import frozen

from midstream.protocol.base import JsonObject, Reason
from midstream.protocol.records.handoff import Channel
from midstream.protocol.records.provider import Capabilities, HandoffCapability, Provider
from midstream.protocol.records.request import Answer, Decision
from midstream.protocol.records.run import Failure
from midstream.protocol.records.thread import RuntimeMode
from midstream.server.providers.events import ProviderEvent

NO_CAPABILITIES: Final = Capabilities(
    resume=False,
    fork=False,
    fork_at_turn=False,
    rollback=False,
    steer=False,
    interrupt=False,
    approvals=False,
    questions=False,
    plans=False,
    todos=False,
    subagents=False,
    images=False,
    mcp_servers=False,
    models=False,
    summarize=False,
    handoff=HandoffCapability(channel=None, delta=False, full=False, context_window=None),
    native_ids="weak",
)
"""The capabilities of an agent that could not be asked."""


class ProviderError(Exception):
    """A provider did not do what it was asked; `failure` says why, for the user."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


class TurnRefused(ProviderError):
    """The provider answered that it will not take the turn: it has nothing of it."""


class ResumeFailed(ProviderError):
    """The native conversation could not be resumed: it is stale, the session itself may be well."""


@frozen(kw_only=True)
class McpServer:
    """An MCP server over stdio that the agent is to start; `call_seconds` is how long a call may take, where known."""

    name: str
    command: str
    args: tuple[str, ...]
    env: Mapping[str, str]
    call_seconds: float | None = None


@frozen(kw_only=True)
class ThreadOptions:
    """What a native conversation runs with; asserted anew at each start, resume and fork.

    One that is `throw_away` runs no tool, touches no file, and is in no list of the provider: only a driver with the
    capability `summarize` can start such.
    """

    workspace: Path
    model: str | None
    options: JsonObject | None
    runtime_mode: RuntimeMode
    mcp_servers: tuple[McpServer, ...] = ()
    throw_away: bool = False


@frozen(kw_only=True)
class NativeThread:
    """A native conversation that is open; `model` is the one that the provider reports."""

    ref: str
    model: str | None


@frozen(kw_only=True)
class NativeTurn:
    """A turn as the provider's own history has it."""

    ref: str
    completed: bool


@frozen(kw_only=True)
class ContextBlock:
    """A handoff to deliver before the user's text: exactly `text`, on `channel`. `handoff_id` names the resource."""

    handoff_id: str
    channel: Channel
    text: str


@frozen(kw_only=True)
class ImageBlock:
    """An image of the user's message, in base64."""

    mime_type: str
    base64: str


@frozen(kw_only=True)
class AttachmentBlock:
    """Context that the user attached (a file, a selection, diagnostics), already put in words."""

    uri: str
    text: str


@frozen(kw_only=True)
class TurnInput:
    """A turn to send: handoffs first, then what the user attached, the user's own text last and unchanged."""

    context: tuple[ContextBlock, ...]
    attachments: tuple[AttachmentBlock | ImageBlock, ...]
    text: str


SteerOutcome: TypeAlias = Literal["taken", "queued", "refused"]


@frozen(kw_only=True)
class Reply:
    """The user's answer to a request. `option_id` is one of the options that were offered."""

    decision: Decision
    option_id: str | None
    answers: tuple[Answer, ...] | None
    message: str | None


class Session(Protocol):
    """A live agent process in one workspace.

    Every method raises `ProviderError` when the provider answers with an error, and when its process is gone.
    """

    @property
    def pid(self) -> int | None:
        """The process id, None once it has ended."""

    @property
    def capabilities(self) -> Capabilities:
        """What this agent said it can do."""

    @property
    def live(self) -> bool:
        """Whether the process can still be spoken to."""

    async def start_thread(self, options: ThreadOptions) -> NativeThread:
        """Start a native conversation."""

    async def resume_thread(self, ref: str, options: ThreadOptions) -> NativeThread:
        """Open a native conversation of an earlier day; nothing that it replays comes back as an event.

        Raises:
            ResumeFailed: the provider does not have it, or answers that it cannot.
        """

    async def fork_thread(self, ref: str, turn_ref: str | None, options: ThreadOptions) -> NativeThread:
        """Fork a native conversation after a turn, or at its head where `turn_ref` is None."""

    async def revert_thread(self, ref: str, turn_ref: str) -> None:
        """Drop a turn and all after it from an open conversation (`Capabilities.rollback`); files stay as they are."""

    async def read_turns(self, ref: str) -> tuple[NativeTurn, ...]:
        """Return the turns of an open conversation as the provider has them now, oldest first (`rollback`)."""

    def run_turn(self, ref: str, turn: TurnInput, options: ThreadOptions) -> AsyncGenerator[ProviderEvent, None]:
        """Send a turn and yield what happens until it has ended.

        The last event is `TurnEnded`, also when the process dies: then `failed` with `transport_error`.
        A provider that refuses the turn before taking it raises `TurnRefused` instead.
        Closing the iterator early abandons the turn: the session interrupts it and may end the process.
        """

    async def interrupt(self, ref: str) -> None:
        """Ask for the running turn to stop; its `TurnEnded` says when it has."""

    async def steer(self, ref: str, text: str) -> SteerOutcome:
        """Give text to the running turn.

        `taken`: it is in the native conversation; `queued`: not yet, a `SteerTaken` says when; `refused`: it never is.
        """

    async def respond(self, ref: str, request_ref: str, reply: Reply) -> None:
        """Answer a request of the running turn."""

    async def close_thread(self, ref: str) -> None:
        """Let go of a native conversation; it can be resumed later."""

    async def aclose(self) -> None:
        """End the process and all its children for certain."""


class Driver(Protocol):
    """What the runtime knows of one configured provider."""

    async def probe(self) -> Provider:
        """Say whether the provider can be used, its version, its models, and what it can do."""

    async def open(self, workspace: Path) -> Session:
        """Start an agent process.

        Raises:
            ProviderError: it cannot be started, or does not answer in time.
        """

    def incompatible(self, before: ThreadOptions, now: ThreadOptions) -> Reason | None:
        """Say why a conversation that ran with `before` cannot be resumed with `now`, or None where it can."""
