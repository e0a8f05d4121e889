"""The messages of one turn, and of its subagents, as provider events; pure, it only remembers what it told."""

from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Final, Literal, TypeAlias

from attrs import define, field
from claude_agent_sdk import (
    AssistantMessage,
    ContentBlock,
    Message,
    StreamEvent,
    SystemMessage,
    TaskNotificationMessage,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    UserMessage,
)

from midstream.protocol.records.item import ItemStatus
from midstream.server.providers.claude.todos import Todos
from midstream.server.providers.claude.tools import (
    SUBAGENTS,
    TASKS,
    Call,
    Outcome,
    draft,
    ended_in_background,
    in_background,
    outcome,
    subagent,
)
from midstream.server.providers.drafts import CommandDraft, Draft, MessageDraft, NoticeDraft, SubagentDraft
from midstream.server.providers.events import Events, HistoryCompacted, ItemChanged, OutputAppended, ProviderEvent
from midstream.server.providers.reading import count_of, member, text_of

Said: TypeAlias = Literal["agentMessage", "reasoning"]
End: TypeAlias = Literal["completed", "interrupted", "failed"]
_SAID: Final[Mapping[str, Said]] = {"text": "agentMessage", "thinking": "reasoning"}
_LAUNCHED: Final = "Async agent launched"


@define
class _Speaker:
    """The agent or one of its subagents: the words that it streams now, and what it said last.

    `unkept` ends words of a response that still streams: killed before the response is whole, Claude Code keeps none.
    """

    ref: str | None = None
    type: Said = "agentMessage"
    text: str = ""
    said: str | None = None
    streams: bool = False
    unkept: Events = ()


@define
class Translator:
    """Turns messages into events. `todos` are those of the conversation; `declined` are calls that we refused."""

    turn_ref: str
    workspace: Path
    todos: Todos
    declined: set[str] = field(factory=set)
    _numbers: Iterator[int] = field(factory=lambda: count(1))
    _speakers: dict[str | None, _Speaker] = field(factory=dict)
    _calls: dict[str, Call] = field(factory=dict)
    _background: set[str] = field(factory=set)
    _open: dict[str, tuple[str | None, Draft]] = field(factory=dict)

    def translate(self, told: Message) -> Events:
        """Return the events of a message, in order."""
        match told:
            case StreamEvent(event=event, parent_tool_use_id=parent):
                return self._streamed(parent, event)
            case AssistantMessage(error=None, content=blocks, parent_tool_use_id=parent):
                return tuple(event for block in blocks for event in self._block(parent, block))
            case UserMessage(content=list(blocks), tool_use_result=detail):
                results = (block for block in blocks if isinstance(block, ToolResultBlock))
                return tuple(event for one in results for event in self._returned(one, detail))
            case TaskNotificationMessage(tool_use_id=str(ref), status=status, summary=summary):
                return self._task_ended(ref, "completed" if status == "completed" else "failed", summary)
            case SystemMessage(subtype="compact_boundary"):
                return (HistoryCompacted(summary=None),)
            case SystemMessage(subtype="api_retry", data=data):
                return self._notice(_retry(data))
            case _:
                return ()

    def announce(self, call: Call, parent: str | None = None) -> Events:
        """Return the beginning of a call, unless it was told before: what asks about it may overtake it."""
        if call.id in self._calls:
            return ()
        self._calls[call.id] = call
        said = draft(call, self.workspace)
        return () if said is None else self._begin(call.id, parent, said)

    def waiting(self, ref: str) -> Events:
        """Return the event of a call about which the user is asked, none where it shows no item."""
        if ref not in self._open:
            return ()
        parent, said = self._open[ref]
        return (ItemChanged(ref=ref, parent_ref=parent, draft=said, status="waiting"),)

    def shows(self, ref: str) -> bool:
        """Return whether a call has an item."""
        return ref in self._open

    def finish(self, ended: End) -> Events:
        """Return what ends the items that are still open; a call that nobody ended was interrupted."""
        events: list[ProviderEvent] = []
        for parent, speaker in self._speakers.items():
            events += (*speaker.unkept, *self._close(parent, speaker, None, ended))
        for ref, (parent, said) in self._open.items():
            events.append(ItemChanged(ref=ref, parent_ref=parent, draft=said, status="interrupted"))
        self._open.clear()
        if (todo := self.todos.shown(self.turn_ref)) is not None:
            events.append(ItemChanged(ref=self._todo_ref, parent_ref=None, draft=todo, status=ended))
        return tuple(events)

    @property
    def _todo_ref(self) -> str:
        return f"{self.turn_ref}/todo"

    def _begin(self, ref: str, parent: str | None, said: Draft) -> Events:
        self._open[ref] = (parent, said)
        return (ItemChanged(ref=ref, parent_ref=parent, draft=said, status="running"),)

    def _end(self, ref: str, said: Draft, status: ItemStatus) -> Events:
        parent, _ = self._open.pop(ref)
        return (ItemChanged(ref=ref, parent_ref=parent, draft=said, status=status),)

    def _speaker(self, parent: str | None) -> _Speaker:
        return self._speakers.setdefault(parent, _Speaker())

    def _streamed(self, parent: str | None, event: dict[str, object]) -> Events:
        speaker = self._speaker(parent)
        match event.get("type"):
            case "message_start":
                speaker.streams = True
                return ()
            case "message_stop":
                speaker.streams = False
                kept, speaker.unkept = speaker.unkept, ()
                return kept
            case "content_block_start" if said := _SAID.get(text_of(member(event, "content_block"), "type") or ""):
                return (*self._close(parent, speaker, None, "completed"), *self._open_words(parent, speaker, said))
            case "content_block_delta" if speaker.ref is not None:
                text = text_of(member(event, "delta"), "text", "thinking")
                if not text:
                    return ()
                speaker.text += text
                return (OutputAppended(ref=speaker.ref, field="text", text=text),)
            case _:
                return ()

    def _open_words(self, parent: str | None, speaker: _Speaker, said: Said) -> Events:
        speaker.ref, speaker.type, speaker.text = f"{self.turn_ref}/{next(self._numbers)}", said, ""
        return (ItemChanged(ref=speaker.ref, parent_ref=parent, draft=MessageDraft(type=said), status="running"),)

    def _close(
        self,
        parent: str | None,
        speaker: _Speaker,
        text: str | None,
        status: Literal["completed", "interrupted", "failed"],
    ) -> Events:
        """End the words that a speaker streams, if it does; `text` is all of them, as they are told at their end."""
        if speaker.ref is None:
            return ()
        ref, speaker.ref = speaker.ref, None
        said = MessageDraft(type=speaker.type, text=speaker.text if text is None else text)
        return (ItemChanged(ref=ref, parent_ref=parent, draft=said, status=status),)

    def _block(self, parent: str | None, block: ContentBlock) -> Events:
        match block:
            case TextBlock(text=text):
                return self._spoken(parent, "agentMessage", text)
            case ThinkingBlock(thinking=text):
                return self._spoken(parent, "reasoning", text)
            case ToolUseBlock(id=call_id, name=name, input=given):
                return self.announce(Call(id=call_id, name=name, input=given), parent)
            case _:
                return ()

    def _spoken(self, parent: str | None, said: Said, text: str) -> Events:
        speaker = self._speaker(parent)
        if said == "agentMessage":
            speaker.said = text
        opened = () if speaker.ref is not None else self._open_words(parent, speaker, said)
        closed = self._close(parent, speaker, text, "completed")
        if not speaker.streams:
            return *opened, *closed
        speaker.unkept = (*speaker.unkept, *closed)
        return opened

    def _returned(self, block: ToolResultBlock, detail: object) -> Events:
        call_id = block.tool_use_id
        call = self._calls.get(call_id)
        if call is None:
            return ()
        done = outcome(block.content, block.is_error is True, detail)
        if call.name in TASKS:
            return self._todo(call, done)
        if call_id not in self._open or (call.name in SUBAGENTS and done.text.startswith(_LAUNCHED)):
            return ()  # a subagent in the background ends when it is told
        said = draft(call, self.workspace, done)
        if isinstance(said, CommandDraft) and in_background(done):
            return self._goes_on(call_id, said)
        status: ItemStatus = "cancelled" if call_id in self.declined else "failed" if done.failed else "completed"
        return () if said is None else self._end(call_id, said, status)

    def _todo(self, call: Call, done: Outcome) -> Events:
        todo = None if done.failed else self.todos.changed(call, done, self.turn_ref)
        if todo is None:
            return ()
        return (ItemChanged(ref=self._todo_ref, parent_ref=None, draft=todo, status="running"),)

    def _goes_on(self, ref: str, said: CommandDraft) -> Events:
        """Return the event of a command in the background: it ends when it is told."""
        parent, _ = self._open[ref]
        self._open[ref] = (parent, said)
        self._background.add(ref)
        return (ItemChanged(ref=ref, parent_ref=parent, draft=said, status="running"),)

    def _task_ended(self, ref: str, status: ItemStatus, summary: str) -> Events:
        match self._open.get(ref):
            case (_, SubagentDraft()):
                said = self._speakers[ref].said if ref in self._speakers else None
                return self._end(ref, subagent(self._calls[ref], said), status)
            case (_, CommandDraft() as command) if ref in self._background:
                return self._end(ref, ended_in_background(command, summary), status)
            case _:
                return ()

    def _notice(self, message: str) -> Events:
        ref = f"{self.turn_ref}/{next(self._numbers)}"
        said = NoticeDraft(type="notice", message=message)
        return (ItemChanged(ref=ref, parent_ref=None, draft=said, status="completed"),)


def _retry(data: dict[str, object]) -> str:
    status = count_of(data, "error_status")
    answered = "The model did not answer" if status is None else f"The model answered with status {status}"
    return f"{answered}; Claude Code tries again (attempt {count_of(data, 'attempt') or 1})."
