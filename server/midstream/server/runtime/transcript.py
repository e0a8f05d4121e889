"""From what a provider says in a turn to observations of the thread: native refs become app ids."""

from collections.abc import Callable
from typing import Final, TypeAlias

import orjson
from attrs import frozen

from midstream.protocol.base import ItemId, ProviderKind, ProviderThreadId, RequestId, RunId, ThreadId
from midstream.protocol.records.item import (
    AgentMessageItem,
    ApprovalItem,
    CommandItem,
    CompactionItem,
    ErrorItem,
    FileChangeItem,
    Item,
    ItemStatus,
    NoticeItem,
    PlanItem,
    QuestionItem,
    ReasoningItem,
    SubagentItem,
    TodoItem,
    ToolItem,
    WebSearchItem,
)
from midstream.protocol.records.request import RequestOption, RuntimeRequest
from midstream.server.graph.changes import IdPrefix
from midstream.server.graph.commands import (
    Observation,
    ObservedCompaction,
    ObservedItem,
    ObservedRequest,
    ObservedSteer,
    ObservedText,
    ObservedUsage,
    ObservedWithdrawal,
)
from midstream.server.graph.items import ItemFields
from midstream.server.graph.texts import SHOWN
from midstream.server.providers.drafts import (
    CommandDraft,
    Draft,
    FileChangeDraft,
    MessageDraft,
    NoticeDraft,
    PlanDraft,
    SubagentDraft,
    TodoDraft,
    ToolDraft,
    WebSearchDraft,
)
from midstream.server.providers.events import (
    HistoryCompacted,
    ItemChanged,
    OutputAppended,
    RequestAsked,
    RequestWithdrawn,
    SteerTaken,
    UsageReported,
    merged,
)
from midstream.server.providers.weight import weight

ObservableEvent: TypeAlias = (
    ItemChanged | OutputAppended | RequestAsked | RequestWithdrawn | SteerTaken | UsageReported | HistoryCompacted
)
UNSET: Final = ""
"""What stands for the times that the graph gives an item."""


@frozen(kw_only=True)
class Setting:
    """Where a turn happens."""

    thread_id: ThreadId
    run_id: RunId
    provider: ProviderKind
    provider_thread_id: ProviderThreadId


class Transcript:
    """Takes down one turn."""

    def __init__(self, setting: Setting, new_id: Callable[[IdPrefix], str]) -> None:
        self._setting = setting
        self._new_id = new_id
        self._items: dict[str, ItemId] = {}
        self._requests: dict[str, RequestId] = {}
        self._refs: dict[RequestId, str] = {}

    def native_request(self, request_id: RequestId) -> str | None:
        """Return the provider's own name of a request."""
        return self._refs.get(request_id)

    def take(self, events: list[ObservableEvent]) -> tuple[Observation, ...]:
        """Return what a batch of events comes to, in order, adjoining text merged."""
        observations = map(self._observe, merged(events))
        return tuple(observation for observation in observations if observation is not None)

    def _observe(self, event: ObservableEvent) -> Observation | None:
        match event:
            case ItemChanged():
                return self._observe_item(event)
            case OutputAppended(ref=ref, field=field, text=text):
                item_id = self._items.get(ref)
                if item_id is None or not text:
                    return None
                return ObservedText(item_id=item_id, field=field, text=text)
            case RequestAsked():
                return self._observe_request(event)
            case RequestWithdrawn(ref=ref):
                request_id = self._requests.get(ref)
                return None if request_id is None else ObservedWithdrawal(request_id=request_id)
            case SteerTaken():
                return ObservedSteer()
            case UsageReported(usage=usage):
                return ObservedUsage(usage=usage)
            case HistoryCompacted(summary=summary):
                item = CompactionItem(**self._base(self._new_id("itm"), None, None, "completed"), summary=summary)
                return ObservedCompaction(item=item)

    def _observe_item(self, event: ItemChanged) -> ObservedItem:
        item_id = self._items.setdefault(event.ref, self._new_id("itm"))
        parent = self._items.get(event.parent_ref) if event.parent_ref is not None else None
        base = self._base(item_id, parent, event.ref, event.status)
        native = event.draft.native_ref if isinstance(event.draft, SubagentDraft) else None
        return ObservedItem(item=_item_of(event.draft, base, self._setting.provider), conversation_ref=native)

    def _observe_request(self, event: RequestAsked) -> ObservedRequest:
        request_id, item_id = self._new_id("req"), self._new_id("itm")
        self._requests[event.ref] = request_id
        self._refs[request_id] = event.ref
        request = RuntimeRequest(
            id=request_id,
            thread_id=self._setting.thread_id,
            run_id=self._setting.run_id,
            item_id=item_id,
            target_item_id=self._items.get(event.target_ref) if event.target_ref is not None else None,
            kind=event.kind,
            prompt=event.prompt,
            detail=event.detail,
            options=tuple(
                RequestOption(option_id=option.option_id, decision=option.decision, label=option.label)
                for option in event.options
            ),
            accepts_message=event.accepts_message,
            questions=event.questions,
            status="pending",
            decision=None,
            message=None,
            answers=None,
            created_at=UNSET,
            resolved_at=None,
        )
        base = self._base(item_id, request.target_item_id, None, "waiting")
        item: Item
        if event.questions:
            item = QuestionItem(**base, request_id=request_id, questions=event.questions, answers=None)
        else:
            item = ApprovalItem(**base, request_id=request_id, kind=event.kind, prompt=event.prompt, decision=None)
        return ObservedRequest(request=request, item=item)

    def _base(self, item_id: ItemId, parent: ItemId | None, ref: str | None, status: ItemStatus) -> ItemFields:
        return {
            "id": item_id,
            "thread_id": self._setting.thread_id,
            "run_id": self._setting.run_id,
            "parent_item_id": parent,
            "ordinal": 0,
            "status": status,
            "provider_thread_id": self._setting.provider_thread_id,
            "native_ref": ref,
            "started_at": UNSET,
            "completed_at": None,
        }


def _shortenable(value: object) -> object:
    """Return a tool's input as a record can hold it: a large one as JSON text, whose middle is left out there."""
    if isinstance(value, str) or weight(value) <= SHOWN:
        return value
    return orjson.dumps(value).decode()


def _item_of(draft: Draft, base: ItemFields, provider: ProviderKind) -> Item:
    match draft:
        case MessageDraft(type="agentMessage", text=text):
            return AgentMessageItem(**base, text=text)
        case MessageDraft(text=text):
            return ReasoningItem(**base, text=text)
        case PlanDraft(markdown=markdown):
            return PlanItem(**base, markdown=markdown)
        case TodoDraft(steps=steps):
            return TodoItem(**base, steps=steps)
        case CommandDraft():
            return CommandItem(
                **base,
                command=draft.command,
                cwd=draft.cwd,
                output=draft.output,
                exit_code=draft.exit_code,
            )
        case FileChangeDraft(changes=changes):
            return FileChangeItem(**base, changes=changes)
        case ToolDraft():
            given = _shortenable(draft.input)
            return ToolItem(**base, name=draft.name, server=draft.server, input=given, output=draft.output)
        case WebSearchDraft(query=query, results=results):
            return WebSearchItem(**base, query=query, results=results)
        case SubagentDraft():
            return SubagentItem(
                **base,
                title=draft.title,
                prompt=draft.prompt,
                child_thread_id=None,
                provider=provider,
                result=draft.result,
            )
        case NoticeDraft(type="notice", message=message, failure=failure):
            return NoticeItem(**base, message=message, failure=failure)
        case NoticeDraft(message=message, failure=failure):
            return ErrorItem(**base, message=message, failure=failure)
