"""The notifications of one turn, and of its subagents', as provider events; pure, it only remembers what it told."""

from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Final, Literal

from attrs import define, evolve

from midstream.protocol.base import JsonObject
from midstream.protocol.records.item import ItemStatus, TodoStep
from midstream.server.providers.codex.items import changed_files, draft, status
from midstream.server.providers.codex.protocol import (
    Change,
    Compaction,
    Delegation,
    Item,
    Message,
    Patch,
    parse_changes,
    parse_item,
)
from midstream.server.providers.codex.usage import TokenCount, Tokens, before_first, parse_tokens, usage_since
from midstream.server.providers.connection import Notification
from midstream.server.providers.drafts import (
    Draft,
    FileChangeDraft,
    MessageDraft,
    NoticeDraft,
    SubagentDraft,
    TodoDraft,
)
from midstream.server.providers.events import (
    Events,
    HistoryCompacted,
    ItemChanged,
    OutputAppended,
    ProviderEvent,
    UsageReported,
)
from midstream.server.providers.reading import member, members, text_of

_FIELDS: Final[Mapping[str, Literal["text", "output", "markdown"]]] = {
    "item/agentMessage/delta": "text",
    "item/reasoning/summaryTextDelta": "text",
    "item/reasoning/textDelta": "text",
    "item/plan/delta": "markdown",
    "item/commandExecution/outputDelta": "output",
}
_STEPS: Final[Mapping[str, Literal["pending", "running", "completed"]]] = {
    "inProgress": "running",
    "completed": "completed",
}


@define
class _Open:
    """An item that has not ended."""

    parent: str | None
    draft: Draft
    streamed: bool = False


class Translator:
    """Turns notifications into events. `before` is what the conversation had used when the turn began, if known."""

    def __init__(self, thread_id: str, turn_ref: str, workspace: Path, before: Tokens | None) -> None:
        self._thread_id = thread_id
        self._turn_ref = turn_ref
        self._workspace = workspace
        self._before = before
        self._numbers = count(1)
        self._open: dict[str, _Open] = {}
        self._parents: dict[str, str] = {}
        self._changes: dict[str, tuple[Change, ...]] = {}
        self._said: dict[str, str] = {}
        self._todos: dict[str, TodoDraft] = {}

    def translate(self, told: Notification) -> Events:
        """Return the events of a notification, in order; none for one of a thread that we cannot place."""
        thread_id = text_of(told.params, "threadId") or self._thread_id
        parent = self._parents.get(thread_id)
        if thread_id != self._thread_id and parent is None:
            return ()
        match told.method:
            case "item/started" | "item/completed":
                item = parse_item(member(told.params, "item"))
                ended = told.method == "item/completed"
                return () if item is None else self._item(thread_id, parent, item, ended)
            case method if method in _FIELDS:
                return self._delta(thread_id, told)
            case "item/reasoning/summaryPartAdded":
                return self._append(self._ref(thread_id, told.params), "text", "\n\n", between=True)
            case "item/fileChange/patchUpdated":
                return self._patched(thread_id, told.params)
            case "turn/plan/updated":
                return self._plan(thread_id, parent, told.params)
            case "thread/tokenUsage/updated" if parent is None:
                return self._usage(parse_tokens(told.params))
            case "turn/completed" if parent is not None:
                return self._child_ended(thread_id, parent, member(told.params, "turn"))
            case _:
                return self._notice(told)

    def target(self, params: JsonObject) -> tuple[str | None, tuple[Change, ...]]:
        """Return the item that a request is about, if it was told of, and the changes of its patch."""
        ref = self._ref(text_of(params, "threadId") or self._thread_id, params)
        return (ref if ref in self._open else None), self._changes.get(ref, ())

    def waiting(self, ref: str) -> Events:
        """Return the event of an item about which the user is asked."""
        opened = self._open[ref]
        return (ItemChanged(ref=ref, parent_ref=opened.parent, draft=opened.draft, status="waiting"),)

    def finish(self, ended: Literal["completed", "interrupted", "failed"]) -> Events:
        """Return what ends the items that are still open; a call that nobody ended was interrupted."""
        events: list[ProviderEvent] = []
        for ref, opened in self._open.items():
            how: ItemStatus = ended if isinstance(opened.draft, MessageDraft) else "interrupted"
            events.append(ItemChanged(ref=ref, parent_ref=opened.parent, draft=opened.draft, status=how))
        for ref, todo in self._todos.items():
            parent = self._parents.get(ref.split("/")[0])
            events.append(ItemChanged(ref=ref, parent_ref=parent, draft=todo, status=ended))
        self._open.clear()
        return tuple(events)

    def _ref(self, thread_id: str, params: JsonObject) -> str:
        return self._place(thread_id, text_of(params, "itemId") or "")

    def _place(self, thread_id: str, item_id: str) -> str:
        return item_id if thread_id == self._thread_id else f"{thread_id}/{item_id}"

    def _item(self, thread_id: str, parent: str | None, item: Item, ended: bool) -> Events:
        ref = self._place(thread_id, item.id)
        if isinstance(item, Compaction):
            return (HistoryCompacted(summary=None),) if ended and parent is None else ()
        if isinstance(item, Delegation):
            return self._delegation(ref, parent, item)
        if isinstance(item, Patch):
            self._changes[ref] = item.changes
        said = draft(item, self._workspace)
        if said is None:
            return ()
        if not ended:
            said = evolve(said, text="") if isinstance(said, MessageDraft) else said
            self._open[ref] = _Open(parent, said)
            return (ItemChanged(ref=ref, parent_ref=parent, draft=said, status="running"),)
        self._open.pop(ref, None)
        self._changes.pop(ref, None)
        if isinstance(item, Message) and item.role == "agentMessage":
            self._said[thread_id] = item.text
        return (ItemChanged(ref=ref, parent_ref=parent, draft=said, status=status(item)),)

    def _delegation(self, ref: str, parent: str | None, item: Delegation) -> Events:
        """A delegation ends with its child's turn, not with the call that only began it."""
        said = draft(item, self._workspace)
        assert said is not None
        failed = item.status in ("failed", "interrupted")
        for child in item.child_threads:
            self._parents[child] = ref
        if failed:
            self._open.pop(ref, None)
        else:
            self._open[ref] = _Open(parent, said)
        return (ItemChanged(ref=ref, parent_ref=parent, draft=said, status=status(item) if failed else "running"),)

    def _child_ended(self, thread_id: str, ref: str, turn: JsonObject) -> Events:
        opened = self._open.pop(ref, None)
        if opened is None or not isinstance(opened.draft, SubagentDraft):
            return ()
        said = evolve(opened.draft, result=self._said.get(thread_id))
        how: ItemStatus = "completed"
        match turn.get("status"):
            case "failed" | "interrupted" as ended:
                how = ended
            case _:
                pass
        return (ItemChanged(ref=ref, parent_ref=opened.parent, draft=said, status=how),)

    def _delta(self, thread_id: str, told: Notification) -> Events:
        text = text_of(told.params, "delta") or ""
        return self._append(self._ref(thread_id, told.params), _FIELDS[told.method], text)

    def _append(
        self, ref: str, field: Literal["text", "output", "markdown"], text: str, between: bool = False
    ) -> Events:
        opened = self._open.get(ref)
        if opened is None or not text or (between and not opened.streamed):
            return ()
        opened.streamed = True
        return (OutputAppended(ref=ref, field=field, text=text),)

    def _patched(self, thread_id: str, params: JsonObject) -> Events:
        ref = self._ref(thread_id, params)
        opened = self._open.get(ref)
        if opened is None:
            return ()
        self._changes[ref] = parse_changes(params)
        opened.draft = FileChangeDraft(changes=changed_files(self._changes[ref], self._workspace))
        return (ItemChanged(ref=ref, parent_ref=opened.parent, draft=opened.draft, status="running"),)

    def _plan(self, thread_id: str, parent: str | None, params: JsonObject) -> Events:
        steps = tuple(
            TodoStep(text=text_of(step, "step") or "", status=_STEPS.get(text_of(step, "status") or "", "pending"))
            for step in members(params, "plan")
        )
        ref = f"{thread_id}/{self._turn_ref}/todo"
        self._todos[ref] = TodoDraft(steps=steps)
        return (ItemChanged(ref=ref, parent_ref=parent, draft=self._todos[ref], status="running"),)

    def _usage(self, counted: TokenCount) -> Events:
        if self._before is None:
            self._before = before_first(counted)
        return (UsageReported(usage=usage_since(self._before, counted)),)

    def _notice(self, told: Notification) -> Events:
        message = notice_of(told)
        if message is None:
            return ()
        said = NoticeDraft(type="notice", message=message)
        ref = f"{self._turn_ref}/notice-{next(self._numbers)}"
        return (ItemChanged(ref=ref, parent_ref=None, draft=said, status="completed"),)


def notice_of(told: Notification) -> str | None:
    """Return what a notification wants the user to know, None where it wants nothing."""
    params = told.params
    match told.method:
        case "warning" | "guardianWarning":
            return text_of(params, "message")
        case "error" if params.get("willRetry") is True:
            error = member(params, "error")
            return ": ".join(filter(None, (text_of(error, "message"), text_of(error, "additionalDetails"))))
        case "model/rerouted":
            return f"Codex went on with {text_of(params, 'toModel')} in place of {text_of(params, 'fromModel')}."
        case _:
            return None
