"""The updates of one turn as provider events; pure, it only remembers what it told."""

from itertools import count
from pathlib import Path
from typing import Final, Literal

from attrs import define

from midstream.protocol.records.item import ItemStatus, TodoStep
from midstream.protocol.records.run import Usage
from midstream.server.providers.acp.messages import (
    Chunk,
    CompactionNews,
    ModeNews,
    PlanNews,
    SteerTakenNews,
    ToolCallNews,
    TurnStartedNews,
    Update,
    UsageNews,
)
from midstream.server.providers.acp.tools import ToolCall, apply, begin, draft
from midstream.server.providers.drafts import MessageDraft, NoticeDraft, TodoDraft
from midstream.server.providers.events import (
    HistoryCompacted,
    ItemChanged,
    OutputAppended,
    ProviderEvent,
    SteerTaken,
    UsageReported,
)
from midstream.server.providers.weight import weight

KEPT: Final = 1 << 20
"""Code points of ended tool calls that are kept for news that come late."""


@define
class _Message:
    """A run of chunks that follow each other: one item."""

    ref: str
    role: Literal["agentMessage", "reasoning"]
    message_id: str | None
    parent: str | None


class Translator:
    """Turns updates into events. `turn_id` makes the refs of what has no id of its own unique.

    It remembers tool calls, whose news are partial, but of those that ended only so much as `KEPT` holds: news that
    come later still change nothing.
    """

    def __init__(self, turn_id: str, workspace: Path) -> None:
        self._turn_id = turn_id
        self._workspace = workspace
        self._numbers = count(1)
        self._message_ids: set[str] = set()
        self._messages: dict[str | None, _Message] = {}
        self._calls: dict[str, ToolCall] = {}
        self._ended: dict[str, int] = {}
        self._forgotten: set[str] = set()
        self._todo: TodoDraft | None = None

    def translate(self, update: Update) -> tuple[ProviderEvent, ...]:
        """Return the events of an update, in order."""
        match update:
            case Chunk():
                return self._chunk(update)
            case ToolCallNews():
                return self.tool_call(update)
            case PlanNews():
                return self._plan(update)
            case UsageNews(used=used, size=size):
                usage = Usage(input_tokens=0, output_tokens=0, context_tokens=used, context_window=size)
                return (UsageReported(usage=usage),)
            case CompactionNews(summary=summary):
                return (HistoryCompacted(summary=summary),)
            case SteerTakenNews():
                return (SteerTaken(),)
            case ModeNews() | TurnStartedNews():
                return ()

    def tool_call(self, news: ToolCallNews, waiting: bool = False) -> tuple[ProviderEvent, ...]:
        """Return the events of a tool call's news; `waiting` while the user is asked for it."""
        if news.id in self._forgotten:
            return ()
        known = self._calls.get(news.id)
        call = begin(news, self._workspace) if known is None else apply(known, news, self._workspace)
        self._calls[call.id] = call
        closed = self._close_message(call.parent) if known is None else ()
        changed = self._call_changed(call, "waiting" if waiting and call.open else call.item_status)
        if not call.open:
            self._ended[call.id] = weight(call)
            self._forget()
        return *closed, changed

    def _forget(self) -> None:
        """Let go of the calls that ended first, until what is kept of ended ones is little."""
        while sum(self._ended.values()) > KEPT:
            oldest = next(iter(self._ended))
            del self._ended[oldest], self._calls[oldest]
            self._forgotten.add(oldest)

    def call(self, call_id: str) -> ToolCall | None:
        """Return a tool call that was told of, unless it ended long ago."""
        return self._calls.get(call_id)

    def notice(self, message: str) -> ProviderEvent:
        """Return a notice to the user as an item."""
        said = NoticeDraft(type="notice", message=message)
        return ItemChanged(ref=self._fresh_ref(), parent_ref=None, draft=said, status="completed")

    def finish(self, status: Literal["completed", "interrupted", "failed"]) -> tuple[ProviderEvent, ...]:
        """Return what ends the items that are still open, as the turn ended with `status`.

        A tool call that nobody ended was interrupted, however well the turn went.
        """
        events: list[ProviderEvent] = []
        for parent in tuple(self._messages):
            events += self._close_message(parent, status)
        events += [self._call_changed(call, "interrupted") for call in self._calls.values() if call.open]
        if self._todo is not None:
            events.append(self._todo_changed(self._todo, status))
        return tuple(events)

    def _chunk(self, chunk: Chunk) -> tuple[ProviderEvent, ...]:
        events: list[ProviderEvent] = []
        message = self._messages.get(chunk.parent)
        if message is None or (message.role, message.message_id) != (chunk.role, chunk.message_id):
            events += self._close_message(chunk.parent)
            message = _Message(self._message_ref(chunk.message_id), chunk.role, chunk.message_id, chunk.parent)
            self._messages[chunk.parent] = message
            events.append(_message_changed(message, "running"))
        if chunk.text:
            events.append(OutputAppended(ref=message.ref, field="text", text=chunk.text))
        return tuple(events)

    def _close_message(self, parent: str | None, status: ItemStatus = "completed") -> tuple[ProviderEvent, ...]:
        message = self._messages.pop(parent, None)
        return () if message is None else (_message_changed(message, status),)

    def _plan(self, plan: PlanNews) -> tuple[ProviderEvent, ...]:
        closed = () if self._todo is not None else self._close_message(None)
        self._todo = TodoDraft(steps=tuple(_todo_step(text, status) for text, status in plan.steps))
        return *closed, self._todo_changed(self._todo, "running")

    def _todo_changed(self, todo: TodoDraft, status: ItemStatus) -> ItemChanged:
        return ItemChanged(ref=f"{self._turn_id}/todo", parent_ref=None, draft=todo, status=status)

    def _call_changed(self, call: ToolCall, status: ItemStatus) -> ItemChanged:
        said = draft(call, self._workspace)
        return ItemChanged(ref=call.id, parent_ref=call.parent, draft=said, status=status)

    def _message_ref(self, message_id: str | None) -> str:
        if message_id is None or message_id in self._message_ids:
            return self._fresh_ref()
        self._message_ids.add(message_id)
        return message_id

    def _fresh_ref(self) -> str:
        return f"{self._turn_id}/{next(self._numbers)}"


def _message_changed(message: _Message, status: ItemStatus) -> ItemChanged:
    said = MessageDraft(type=message.role)
    return ItemChanged(ref=message.ref, parent_ref=message.parent, draft=said, status=status)


def _todo_step(text: str, status: str | None) -> TodoStep:
    match status:
        case "completed":
            return TodoStep(text=text, status="completed")
        case "in_progress":
            return TodoStep(text=text, status="running")
        case _:
            return TodoStep(text=text, status="pending")
