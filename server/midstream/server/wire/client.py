"""One connected client, as handlers and the hub speak to it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol
from uuid import uuid4

from lsprotocol import types as lsp

from midstream.protocol.base import ThreadId
from midstream.protocol.notifications import (
    CheckpointCaptured,
    HandoffProgress,
    Notification,
    ProviderChanged,
    RequestClosed,
    RequestOpened,
    RunOutput,
    ThreadChanged,
    ThreadDeleted,
    ThreadEvent,
)
from midstream.server.wire.messages import Told
from midstream.server.wire.outbox import Outbox
from midstream.server.wire.progress import Progress
from midstream.server.wire.subscriptions import Subscriptions


class Speaker(Protocol):
    """LSP's own messages to the client."""

    def tell(self, method: str, params: object) -> None:
        """Send a notification."""

    async def ask(self, method: str, params: object) -> object:
        """Send a request and return its result; raises RpcError where the client answers with an error."""


class RequestFollower(Protocol):
    """Who shows runtime requests to a client that does not know them."""

    def follow(self, change: RequestOpened | RequestClosed) -> None:
        """Take note that a request was opened or closed."""


class Client:
    """One connection. `native` says that it speaks this protocol itself; `name` is what it calls itself."""

    def __init__(self, speaker: Speaker, outbox: Outbox, subscriptions: Subscriptions) -> None:
        self._speaker = speaker
        self._outbox = outbox
        self.id = f"client_{uuid4().hex[:12]}"
        self.name = ""
        self.native = False
        self.subscriptions = subscriptions
        self.follower: RequestFollower | None = None
        self._progress: dict[str | int, Progress] = {}

    def notify(self, params: Notification) -> None:
        """Tell this client alone; see `take`."""
        self.take(Told(params))

    def take(self, told: Told) -> None:
        """Tell the client, without waiting; what streams with a thread reaches only one that follows it.

        A thread's events pass gapless and in order, whoever offers them: one that does not follow the last is
        not taken. So a replay (offer what the log holds after `subscriptions.sequence`, wait for `emptied`, until
        nothing is left) and the live stream need no lock between them.
        """
        match told.params:
            case RunOutput() as output:
                self._stream_output(output)
            case ThreadEvent() as event:
                self._stream_event(event, told)
            case HandoffProgress() | CheckpointCaptured() as params:
                self._stream(params.thread_id, told)
            case ThreadChanged(thread=thread):
                self._outbox.send_latest(("thread/changed", thread.id), told.frame)
            case ProviderChanged(provider=provider):
                self._outbox.send_latest(("provider/changed", provider.kind), told.frame)
            case RequestOpened() | RequestClosed() as change:
                self._outbox.send(told.frame)
                if self.follower is not None:
                    self.follower.follow(change)
            case ThreadDeleted(thread_id=thread_id):
                self.subscriptions.end(thread_id)
                self._outbox.send(told.frame)
            case _:
                self._outbox.send(told.frame)

    async def emptied(self) -> None:
        """Wait until the client took all that it was told: then one thing more goes out, however large it is."""
        await self._outbox.emptied()

    async def ask(self, message: str, choices: Sequence[str]) -> str | None:
        """Show a question with buttons and return the chosen one, or None where the user chose none."""
        actions = [lsp.MessageActionItem(title=choice) for choice in choices]
        params = lsp.ShowMessageRequestParams(type=lsp.MessageType.Info, message=message, actions=actions)
        answer = await self._speaker.ask(lsp.WINDOW_SHOW_MESSAGE_REQUEST, params)
        return answer.title if isinstance(answer, lsp.MessageActionItem) else None

    def show_message(self, message: str, type: lsp.MessageType = lsp.MessageType.Info) -> None:
        """Show the user a message."""
        self._speaker.tell(lsp.WINDOW_SHOW_MESSAGE, lsp.ShowMessageParams(type=type, message=message))

    def log_message(self, message: str, type: lsp.MessageType = lsp.MessageType.Log) -> None:
        """Write a line to the client's log."""
        self._speaker.tell(lsp.WINDOW_LOG_MESSAGE, lsp.LogMessageParams(type=type, message=message))

    @contextmanager
    def progress(self, token: str | int | None, title: str) -> Iterator[Progress]:
        """Report work on a request's `workDoneToken` while the block runs; without a token nothing is sent."""
        progress = Progress(self._speaker.tell, token)
        if token is not None:
            self._progress[token] = progress
        progress.begin(title)
        try:
            yield progress
        finally:
            if token is not None:
                self._progress.pop(token, None)
            progress.end()

    def cancel_progress(self, token: str | int | None) -> None:
        """Let the work that is reported on a token not be waited for."""
        progress = None if token is None else self._progress.get(token)
        if progress is not None:
            progress.cancelled.set()

    def _stream(self, thread_id: ThreadId, told: Told) -> None:
        stream = self.subscriptions.stream(thread_id)
        if stream is not None:
            self._outbox.send_streamed(stream, told.frame)

    def _stream_event(self, event: ThreadEvent, told: Told) -> None:
        stream = self.subscriptions.stream(event.thread_id)
        if stream is not None and event.sequence == stream.queued + 1:
            self._outbox.send_streamed(stream, told.frame, event.sequence)

    def _stream_output(self, output: RunOutput) -> None:
        stream = self.subscriptions.stream(output.thread_id)
        if stream is not None and not stream.replaying:
            self._outbox.send_output(stream, output)
