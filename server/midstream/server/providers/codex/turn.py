"""One turn in flight: what comes for it, in order, as provider events.

Codex took a turn once the user's message, known by the id that we gave it, stands in its history: killed between
the start of a turn and that moment, it has nothing of it.
"""

import asyncio
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Final, TypeAlias
from uuid import uuid4

from midstream.protocol.base import JsonObject
from midstream.protocol.records.run import Failure
from midstream.server.providers.adapter import Reply, TurnRefused
from midstream.server.providers.codex.approvals import Approval, answer, parse_approval, refusal, request_asked
from midstream.server.providers.codex.conversations import OpenThread
from midstream.server.providers.codex.failures import rpc_failure, turn_failure
from midstream.server.providers.codex.protocol import UserMessage, parse_item
from midstream.server.providers.codex.updates import Translator
from midstream.server.providers.codex.usage import parse_tokens
from midstream.server.providers.connection import Answer, AnswerError, Closed, Notification, Request
from midstream.server.providers.events import (
    Events,
    RequestWithdrawn,
    SteerTaken,
    TurnEnded,
)
from midstream.server.providers.reading import member, text_of
from midstream.server.providers.requests import Requests
from midstream.server.providers.running import HoldingTurn, Status

Message: TypeAlias = Notification | Request | Answer | Closed


class CodexTurn(HoldingTurn[Message]):
    """A turn from its request to its end; `limits` are the rate limits as they are told at any time."""

    def __init__(
        self, requests: Requests, thread_id: str, thread: OpenThread, workspace: Path, limits: JsonObject
    ) -> None:
        super().__init__()
        self.thread_id: Final = thread_id
        self.id = None
        self._begun: Final = asyncio.Event()
        self._requests = requests
        self._connection = requests.connection
        self._thread = thread
        self._workspace = workspace
        self._limits = limits
        self._client_id = uuid4().hex
        self._translator = Translator(thread_id, self._client_id, workspace, thread.used)
        self._steers: set[str] = set()
        self._numbers = count(1)
        self._asked: dict[str, Approval] = {}

    async def send(self, params: JsonObject) -> None:
        """Send the turn, unless it was cancelled before."""
        if self.cancelled:
            return
        self.sent = True
        await self._connection.ask("turn/start", {**params, "clientUserMessageId": self._client_id}, self.deliver)

    async def deliver(self, message: Message) -> None:
        """Take a message from the reader, which waits here while the mailbox is full."""
        match message:
            case Notification(method="turn/started", params=params) if self._is_ours(params):
                self.id = text_of(member(params, "turn"), "id")
                self._begun.set()
            case Notification(method="turn/completed", params=params) if self._is_ours(params):
                self._set_ended()
            case Answer(error=dict()):
                self._set_ended()
            case Closed():
                self._set_ended()
                self._mailbox.put_at_once(message)
                return
            case _:
                pass
        await self._mailbox.put(message, message.size)

    def _is_ours(self, params: JsonObject) -> bool:
        """Whether a notification speaks of this turn, and not of a subagent's or an earlier one."""
        turn_id = text_of(member(params, "turn"), "id")
        return text_of(params, "threadId") == self.thread_id and (self.id is None or turn_id == self.id)

    def _set_ended(self) -> None:
        self._begun.set()
        self.ended.set()

    async def stop(self) -> None:
        """Interrupt it, once it can be."""
        await self._begun.wait()
        if not self.ended.is_set():
            with suppress(AnswerError):  # it ends by itself just now
                await self._requests.attempt("turn/interrupt", {"threadId": self.thread_id, "turnId": self.id})

    async def _drop(self, message: Message) -> None:
        if isinstance(message, Request):
            await self._refuse(message)

    async def _refuse(self, request: Request) -> None:
        asked = parse_approval(request)
        if asked is not None:
            await self._connection.answer(request.id, refusal(asked))

    def new_steer(self) -> str:
        """Return the id to give to steered words, by which we see them taken."""
        client_id = uuid4().hex
        self._steers.add(client_id)
        return client_id

    async def respond(self, request_ref: str, reply: Reply) -> bool:
        """Answer a request; False where Codex does not wait for it."""
        asked = self._asked.pop(request_ref, None)
        if asked is None:
            return False
        await self._connection.answer(asked.request.id, answer(asked, reply))
        return True

    async def _handle(self, message: Message) -> Events:
        match message:
            case Notification(method="turn/completed", params=params) if self._is_ours(params):
                return self._complete(member(params, "turn"))
            case Notification(method="serverRequest/resolved", params=params):
                return self._withdraw(params.get("requestId"))
            case Notification(method="item/completed", params=params):
                return self._item_completed(message)
            case Notification(method="thread/tokenUsage/updated", params=params):
                if params.get("threadId") == self.thread_id:
                    self._thread.used = parse_tokens(params).whole
                return self._after_acceptance(self._translator.translate(message))
            case Notification():
                return self._after_acceptance(self._translator.translate(message))
            case Request():
                return await self._ask(message)
            case Answer(error=dict(error)):
                return self._refused(rpc_failure(error))
            case Answer():
                return ()
            case Closed():
                return self._finish("failed", self._connection.failure)

    def _item_completed(self, told: Notification) -> Events:
        item = parse_item(member(told.params, "item"))
        if isinstance(item, UserMessage) and told.params.get("threadId") != self.thread_id:
            return ()  # what a subagent was told
        match item:
            case UserMessage(client_id=client_id) if client_id in (self._client_id, None):
                return self._accept()
            case UserMessage(client_id=str(client_id)) if client_id in self._steers:
                self._steers.remove(client_id)
                return (SteerTaken(),)
            case _:
                return self._after_acceptance(self._translator.translate(told))

    async def _ask(self, request: Request) -> Events:
        asked = parse_approval(request)
        if asked is None:
            return ()
        if not self._accepted:  # nothing is told of a turn that is not taken, so nobody could answer
            await self._refuse(request)
            return ()
        ref = f"{self._client_id}/request-{next(self._numbers)}"
        self._asked[ref] = asked
        target, changes = self._translator.target(request.params)
        waiting = () if target is None else self._translator.waiting(target)
        return *waiting, request_asked(ref, asked, target, changes, self._workspace)

    def _withdraw(self, request_id: object) -> Events:
        for ref, asked in tuple(self._asked.items()):
            if asked.request.id == request_id:
                del self._asked[ref]
                return (RequestWithdrawn(ref=ref),)
        return ()

    def _complete(self, turn: JsonObject) -> Events:
        match turn.get("status"):
            case "completed":
                return *self._accept(), *self._finish("completed")
            case "interrupted":
                return self._finish("interrupted")
            case _:
                why = turn_failure(member(turn, "error"), self._limits)
                return self._finish("failed", why) if self._accepted else self._refused(why)

    def _refused(self, why: Failure) -> Events:
        self.over = True
        if self.cancelled:
            return self._finish("interrupted")
        raise TurnRefused(why)

    def _finish(self, status: Status, why: Failure | None = None) -> Events:
        """Return the end of the turn; one that failed as we stopped it was interrupted."""
        self.over = True
        if self.cancelled and status == "failed":
            status, why = "interrupted", None
        withdrawn = [RequestWithdrawn(ref=ref) for ref in self._asked]
        self._asked.clear()
        last = (*withdrawn, *self._translator.finish(status)) if self._accepted else ()
        return *last, TurnEnded(status=status, failure=why)
