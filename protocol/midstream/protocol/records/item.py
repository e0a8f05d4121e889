"""Items: what happens in a run. They form a tree, and their ordinals sort a thread."""

from typing import Literal, TypeAlias

from attrs import frozen

from midstream.protocol.base import (
    CheckpointId,
    HandoffId,
    ItemId,
    ProviderKind,
    ProviderThreadId,
    Reason,
    RequestId,
    RunId,
    ThreadId,
    Time,
    TransferId,
    optional,
)
from midstream.protocol.records.checkpoint import FileSummary
from midstream.protocol.records.handoff import HandoffStrategy
from midstream.protocol.records.request import Answer, Decision, Question, RequestKind
from midstream.protocol.records.run import Failure, StoredAttachment

ItemStatus: TypeAlias = Literal["pending", "running", "waiting", "completed", "failed", "cancelled", "interrupted"]
ItemType: TypeAlias = Literal[
    "userMessage",
    "agentMessage",
    "reasoning",
    "plan",
    "todo",
    "command",
    "fileChange",
    "tool",
    "webSearch",
    "approval",
    "question",
    "subagent",
    "checkpoint",
    "handoff",
    "fork",
    "mergeBack",
    "compaction",
    "notice",
    "error",
]


@frozen(kw_only=True)
class Shortened:
    """A field that stands shortened in the record: its first `head_length` code points, then those from
    `tail_offset` of the whole on. `path` names one of several values of the field (a change's path)."""

    field: str
    path: str | None = optional()
    head_length: int
    tail_offset: int


@frozen(kw_only=True)
class ItemBase:
    """What all items share."""

    id: ItemId
    thread_id: ThreadId
    run_id: RunId | None
    parent_item_id: ItemId | None
    ordinal: int
    status: ItemStatus
    provider_thread_id: ProviderThreadId | None
    native_ref: str | None
    shortened: tuple[Shortened, ...] | None = optional()
    started_at: Time
    completed_at: Time | None


@frozen(kw_only=True)
class UserMessageItem(ItemBase):
    """What the user said."""

    type: Literal["userMessage"] = "userMessage"
    text: str
    attachments: tuple[StoredAttachment, ...]
    intent: Literal["start", "queued", "steer"]
    attempt: int | None = optional()


@frozen(kw_only=True)
class AgentMessageItem(ItemBase):
    """What the agent said."""

    type: Literal["agentMessage"] = "agentMessage"
    text: str


@frozen(kw_only=True)
class ReasoningItem(ItemBase):
    """What the agent thought aloud: shown, never handed off."""

    type: Literal["reasoning"] = "reasoning"
    text: str


@frozen(kw_only=True)
class PlanItem(ItemBase):
    """A plan that the agent proposes."""

    type: Literal["plan"] = "plan"
    markdown: str


@frozen(kw_only=True)
class TodoStep:
    """One step of a todo list."""

    text: str
    status: Literal["pending", "running", "completed"]


@frozen(kw_only=True)
class TodoItem(ItemBase):
    """The agent's todo list as it now stands."""

    type: Literal["todo"] = "todo"
    steps: tuple[TodoStep, ...]


@frozen(kw_only=True)
class CommandItem(ItemBase):
    """A command that the agent ran. `exit_code` is null until it ended, or where nobody told."""

    type: Literal["command"] = "command"
    command: str
    cwd: str
    output: str
    exit_code: int | None


@frozen(kw_only=True)
class ChangedFile:
    """One file of a change; `diff` is unified."""

    path: str
    kind: Literal["add", "modify", "delete", "rename"]
    old_path: str | None = optional()
    diff: str | None = optional()


@frozen(kw_only=True)
class FileChangeItem(ItemBase):
    """Files that the agent changed with a tool of its own."""

    type: Literal["fileChange"] = "fileChange"
    changes: tuple[ChangedFile, ...]


@frozen(kw_only=True)
class ToolItem(ItemBase):
    """A call of any other tool."""

    type: Literal["tool"] = "tool"
    name: str
    server: str | None = optional()
    input: object
    output: str | None = optional()


@frozen(kw_only=True)
class WebResult:
    """One hit of a web search."""

    title: str | None = optional()
    url: str


@frozen(kw_only=True)
class WebSearchItem(ItemBase):
    """A search of the web."""

    type: Literal["webSearch"] = "webSearch"
    query: str
    results: tuple[WebResult, ...] | None = optional()


@frozen(kw_only=True)
class ApprovalItem(ItemBase):
    """A permission that the agent asked for."""

    type: Literal["approval"] = "approval"
    request_id: RequestId
    kind: RequestKind
    prompt: str
    decision: Decision | None


@frozen(kw_only=True)
class QuestionItem(ItemBase):
    """Questions that the agent asked the user."""

    type: Literal["question"] = "question"
    request_id: RequestId
    questions: tuple[Question, ...]
    answers: tuple[Answer, ...] | None


@frozen(kw_only=True)
class SubagentItem(ItemBase):
    """Work that the agent gave to a subagent; the subagent's items are its children."""

    type: Literal["subagent"] = "subagent"
    title: str
    prompt: str
    child_thread_id: ThreadId | None
    provider: ProviderKind
    result: str | None


@frozen(kw_only=True)
class CheckpointItem(ItemBase):
    """A checkpoint, with the files that changed since the run's baseline."""

    type: Literal["checkpoint"] = "checkpoint"
    checkpoint_id: CheckpointId
    files: tuple[FileSummary, ...]


@frozen(kw_only=True)
class HandoffItem(ItemBase):
    """A handoff that the run consumed."""

    type: Literal["handoff"] = "handoff"
    handoff_id: HandoffId
    transfer_id: TransferId
    strategy: HandoffStrategy
    from_providers: tuple[ProviderKind, ...]
    to_provider: ProviderKind
    reasons: tuple[Reason, ...]


@frozen(kw_only=True)
class ForkItem(ItemBase):
    """The point where this thread left another, or another left it."""

    type: Literal["fork"] = "fork"
    transfer_id: TransferId
    other_thread_id: ThreadId


@frozen(kw_only=True)
class MergeBackItem(ItemBase):
    """A fork's work that waits for this thread's next run."""

    type: Literal["mergeBack"] = "mergeBack"
    transfer_id: TransferId
    other_thread_id: ThreadId


@frozen(kw_only=True)
class CompactionItem(ItemBase):
    """The provider compacted its own history."""

    type: Literal["compaction"] = "compaction"
    summary: str | None = optional()


@frozen(kw_only=True)
class NoticeItem(ItemBase):
    """Something the user should know."""

    type: Literal["notice"] = "notice"
    message: str
    failure: Failure | None = optional()


@frozen(kw_only=True)
class ErrorItem(ItemBase):
    """Something that went wrong."""

    type: Literal["error"] = "error"
    message: str
    failure: Failure | None = optional()


Item: TypeAlias = (
    UserMessageItem
    | AgentMessageItem
    | ReasoningItem
    | PlanItem
    | TodoItem
    | CommandItem
    | FileChangeItem
    | ToolItem
    | WebSearchItem
    | ApprovalItem
    | QuestionItem
    | SubagentItem
    | CheckpointItem
    | HandoffItem
    | ForkItem
    | MergeBackItem
    | CompactionItem
    | NoticeItem
    | ErrorItem
)
