"""One prompt in flight: what comes for it, in order, as provider events."""

import asyncio
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Final, TypeAlias
from uuid import uuid4

from midstream.protocol.base import JsonObject
from midstream.protocol.records.run import Failure
from midstream.server.providers.acp.capabilities import Agent
from midstream.server.providers.acp.failures import REQUEST_CANCELLED
from midstream.server.providers.acp.messages import Chunk, PlanNews, ToolCallNews, TurnStartedNews, parse_update
from midstream.server.providers.acp.permissions import CANCELLED, Permission, answer, parse_permission, request_asked
from midstream.server.providers.acp.stops import notice_of, usage_of, why_failed
from midstream.server.providers.acp.updates import Translator
from midstream.server.providers.adapter import Reply, TurnRefused
from midstream.server.providers.connection import Answer, Closed, Connection, Notification, Request, RequestId
from midstream.server.providers.events import Events, ProviderEvent, RequestWithdrawn, TurnAccepted, TurnEnded
from midstream.server.providers.reading import member, text_of
from midstream.server.providers.running import Status, Turn

GRACE_LIMIT: Final = 2.0

Message: TypeAlias = Notification | Request | Answer | Closed


class Prompt(Turn[Message]):
    """A prompt in flight, from its sending to its end: the answer to it."""

    def __init__(self, connection: Connection, agent: Agent, ref: str, workspace: Path, grace: float) -> None:
        super().__init__()
        self.ref: Final = ref
        self._id = uuid4().hex
        self._connection = connection
        self._agent = agent
        self._grace = grace
        self._workspace = workspace
        self._translator = Translator(self._id, workspace)
        self._accepted = False
        self._numbers = count(1)
        self._asked: dict[str, tuple[RequestId, Permission]] = {}
        self._unanswered: list[str] = []

    async def send(self, blocks: list[JsonObject]) -> None:
        """Send the prompt, unless it was cancelled before."""
        if self.cancelled:
            return
        self.sent = True
        await self._connection.ask("session/prompt", {"sessionId": self.ref, "prompt": blocks}, self.deliver)

    async def deliver(self, message: Message) -> None:
        """Take a message from the reader, which waits here while the mailbox is full."""
        if isinstance(message, Answer | Closed):
            self.ended.set()
        if isinstance(message, Closed):
            self._mailbox.put_at_once(message)
        else:
            await self._mailbox.put(message, message.size)

    async def _drop(self, message: Message) -> None:
        if isinstance(message, Request):
            await self._connection.answer(message.id, dict(CANCELLED))

    async def stop(self) -> None:
        """Tell the agent to stop, and answer what it waits for: some hang until that is done."""
        await self._connection.notify("session/cancel", {"sessionId": self.ref})
        for ref, (request_id, _) in tuple(self._asked.items()):
            del self._asked[ref]
            self._unanswered.append(ref)
            await self._connection.answer(request_id, dict(CANCELLED))

    async def respond(self, request_ref: str, reply: Reply) -> bool:
        """Answer a permission request; False where the agent does not wait for it."""
        asked = self._asked.pop(request_ref, None)
        if asked is None:
            return False
        request_id, permission = asked
        await self._connection.answer(request_id, answer(permission, reply))
        return True

    async def _handle(self, message: Message) -> Events:
        match message:
            case Notification(method="session/update", params=params):
                return self._update(params)
            case Notification(method="$/cancel_request", params=params):
                return await self._withdraw(params.get("requestId"))
            case Request():
                return await self._ask(message)
            case Answer():
                return await self._end(message)
            case Closed():
                return self._finish("failed", self._connection.failure)
            case Notification():
                return ()

    def _update(self, params: JsonObject) -> Events:
        update = parse_update(params)
        match update:
            case None:
                return ()
            case TurnStartedNews(turn_id=turn_id):
                return self._accept(turn_id)
            case Chunk() | ToolCallNews() | PlanNews() if not self._agent.turn_started:
                return *self._accept(None), *self._translator.translate(update)
            case _ if self._accepted:
                return self._translator.translate(update)
            case _:
                return ()  # of what came before this turn

    def _accept(self, turn_id: str | None) -> Events:
        if self._accepted:
            return ()
        self._accepted = True
        return (TurnAccepted(turn_ref=turn_id),)

    async def _ask(self, request: Request) -> Events:
        if self.cancelled or self.over:
            await self._connection.answer(request.id, dict(CANCELLED))
            return ()
        permission = parse_permission(request.params)
        ref = f"{self._id}/request-{next(self._numbers)}"
        self._asked[ref] = (request.id, permission)
        news = permission.call if permission.question is None else None
        told = () if news is None else self._translator.tool_call(news, waiting=True)
        call = None if news is None else self._translator.call(news.id)
        return *self._accept(None), *told, request_asked(ref, permission, call, self._workspace)

    async def _withdraw(self, request_id: object) -> Events:
        for ref, (asked_id, _) in tuple(self._asked.items()):
            if asked_id == request_id:
                del self._asked[ref]
                await self._connection.refuse(asked_id, REQUEST_CANCELLED, "Cancelled.")
                return (RequestWithdrawn(ref=ref),)
        return ()

    async def _end(self, message: Answer) -> Events:
        self.over = True
        stop_reason = text_of(message.result, "stopReason")
        why = why_failed(message, stop_reason)
        if why is not None and not self._accepted:
            if self.cancelled:
                return self._finish("interrupted")
            raise TurnRefused(why)
        accepted = self._accept(text_of(member(message.result, "_meta"), "midstream/turnId"))
        late = await self._late()
        usage = usage_of(message)
        if why is not None:
            return *accepted, *late, *usage, *self._finish("failed", why)
        said = notice_of(stop_reason)
        notices = () if said is None else (self._translator.notice(said),)
        status: Status = "interrupted" if stop_reason == "cancelled" else "completed"
        return *accepted, *late, *usage, *notices, *self._finish(status)

    async def _late(self) -> Events:
        """Return the events of what the agent still had to say: it may answer before it has said all."""
        events: list[ProviderEvent] = []
        with suppress(TimeoutError):
            async with asyncio.timeout(GRACE_LIMIT):
                while message := await self._next_within(self._grace):
                    events += await self._handle(message)
        return tuple(events)

    async def _next_within(self, seconds: float) -> Notification | Request | None:
        try:
            async with asyncio.timeout(seconds):
                message = await self._mailbox.take()
        except TimeoutError:
            return None
        return None if isinstance(message, Answer | Closed) else message

    def _finish(self, status: Status, why: Failure | None = None) -> Events:
        """Return the end of the turn; one that we cancelled was interrupted, whatever the agent says of it."""
        self.over = True
        if self.cancelled:
            status, why = "interrupted", None
        withdrawn = [RequestWithdrawn(ref=ref) for ref in (*self._unanswered, *self._asked)]
        self._asked.clear()
        return *withdrawn, *self._translator.finish(status), TurnEnded(status=status, failure=why)
