"""What a turn tells: every ``session/update`` is written to the native history before it is sent."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import uuid4

from midstream.server.rehearsal import messages
from midstream.server.rehearsal.conversation import Conversation
from midstream.server.rehearsal.directives import JsonObject
from midstream.server.rehearsal.history import AgentUpdate
from midstream.server.rehearsal.rpc import Peer, RpcError


class TurnCancelledError(Exception):
    """The client answered a request of this turn with ``cancelled``."""


class ToolFailedError(Exception):
    """A tool could not do its work; the turn goes on."""


class Updates:
    """The updates of one turn, or of one subagent in it (``parent`` is its tool call's id)."""

    def __init__(self, peer: Peer, conversation: Conversation, turn_id: str, parent: str | None = None) -> None:
        self._peer = peer
        self._conversation = conversation
        self._turn_id = turn_id
        self._parent = parent
        self.said: list[str] = []

    def under(self, tool_call_id: str) -> "Updates":
        """The updates of a subagent that runs inside a tool call."""
        return Updates(self._peer, self._conversation, self._turn_id, tool_call_id)

    async def say(self, text: str) -> None:
        await self.stream([text])

    async def stream(self, texts: Iterable[str]) -> None:
        """One message, a chunk for each text."""
        message_id = str(uuid4())
        for text in texts:
            self.said.append(text)
            await self.tell(messages.chunk("agent_message_chunk", message_id, messages.text_block(text)))

    async def think(self, text: str) -> None:
        await self.tell(messages.chunk("agent_thought_chunk", str(uuid4()), messages.text_block(text)))

    async def tell(self, update: JsonObject) -> None:
        """Send an update that belongs to the history."""
        marked = self.marked(update)
        self._conversation.append(AgentUpdate(self._turn_id, marked))
        await self.notify(marked)

    async def notify(self, update: JsonObject) -> None:
        """Send an update that is news only."""
        session_id = self._conversation.session_id
        await self._peer.notify("session/update", {"sessionId": session_id, "update": update})

    async def request_permission(
        self, tool_call: JsonObject, options: list[JsonObject], meta: JsonObject | None = None
    ) -> tuple[str, JsonObject]:
        """The option that was chosen and the answer's ``_meta``; raises ``TurnCancelledError``."""
        params: JsonObject = {
            "sessionId": self._conversation.session_id,
            "toolCall": self.marked(tool_call),
            "options": options,
        }
        answer = await self._peer.request(
            "session/request_permission", params if meta is None else {**params, "_meta": meta}
        )
        match answer:
            case {"outcome": {"outcome": "selected", "optionId": str(option_id)}}:
                answer_meta = answer.get("_meta")
                return option_id, answer_meta if isinstance(answer_meta, dict) else {}
            case _:
                raise TurnCancelledError

    @asynccontextmanager
    async def tool_call(
        self,
        title: str,
        kind: str,
        raw_input: JsonObject,
        content: Iterable[JsonObject] = (),
        path: Path | None = None,
        meta: JsonObject | None = None,
    ) -> AsyncIterator["ToolCall"]:
        """A tool call around a piece of work; it ends failed when the work does, or is cancelled."""
        call = ToolCall(self, title, kind)
        start: JsonObject = {
            "sessionUpdate": "tool_call",
            "toolCallId": call.id,
            "title": title,
            "kind": kind,
            "status": "pending",
            "rawInput": raw_input,
            "content": list(content),
            "locations": [] if path is None else [{"path": str(path)}],
        }
        await self.tell(start if meta is None else {**start, "_meta": meta})
        try:
            yield call
        except (ToolFailedError, OSError) as problem:
            await call.finish("failed", [messages.text_content(str(problem))])
        except RpcError as error:
            await call.finish("failed", [messages.text_content(str(error))])
            raise
        except (asyncio.CancelledError, TurnCancelledError):
            await call.finish("failed", [messages.text_content("Cancelled.")])
            raise

    def marked(self, update: JsonObject) -> JsonObject:
        if self._parent is None:
            return update
        meta = update.get("_meta")
        return {**update, "_meta": {**(meta if isinstance(meta, dict) else {}), messages.PARENT: self._parent}}


class ToolCall:
    """A tool call that was announced; it is finished once."""

    def __init__(self, updates: Updates, title: str, kind: str) -> None:
        self.id = f"call-{uuid4().hex[:12]}"
        self.title = title
        self.kind = kind
        self.updates = updates
        self._finished = False

    async def progress(self, content: Iterable[JsonObject]) -> None:
        """News while it runs; not part of the history, which keeps the end."""
        await self.updates.notify(self.updates.marked(self._update("in_progress", content)))

    async def finish(
        self, status: str, content: Iterable[JsonObject] | None = None, raw_output: JsonObject | None = None
    ) -> None:
        """End as ``completed`` or ``failed``; without content what it had stays."""
        if self._finished:
            return
        self._finished = True
        update = self._update(status, content)
        await self.updates.tell(update if raw_output is None else {**update, "rawOutput": raw_output})

    def _update(self, status: str, content: Iterable[JsonObject] | None) -> JsonObject:
        update: JsonObject = {
            "sessionUpdate": "tool_call_update",
            "toolCallId": self.id,
            "status": status,
        }
        return update if content is None else {**update, "content": list(content)}
