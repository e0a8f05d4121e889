"""Runtime requests: what an agent asks of the user while a run waits."""

from typing import Literal, TypeAlias

from attrs import frozen

from midstream.protocol.base import ItemId, RequestId, RunId, ThreadId, Time, optional

RequestKind: TypeAlias = Literal["command", "fileRead", "fileChange", "tool", "userInput", "permission"]
RequestStatus: TypeAlias = Literal["pending", "resolved", "expired", "cancelled"]
Decision: TypeAlias = Literal["accept", "acceptForSession", "decline", "cancel"]


@frozen(kw_only=True)
class QuestionOption:
    """One answer that the agent offers."""

    label: str
    description: str | None = optional()


@frozen(kw_only=True)
class Question:
    """A question to the user."""

    id: str
    header: str | None = optional()
    text: str
    options: tuple[QuestionOption, ...]
    multiple: bool
    free_text: bool


@frozen(kw_only=True)
class Answer:
    """The user's answer to one question."""

    question_id: str
    values: tuple[str, ...]


@frozen(kw_only=True)
class RequestOption:
    """A way to decide that the agent offers, with its own label."""

    option_id: str
    decision: Decision
    label: str


@frozen(kw_only=True)
class ToolCall:
    """The tool call that a permission is asked for."""

    name: str
    server: str | None = optional()
    input: object


@frozen(kw_only=True)
class ProposedChange:
    """A file change that a permission is asked for; `diff` is unified."""

    path: str
    kind: Literal["add", "modify", "delete", "rename"]
    old_path: str | None = optional()
    diff: str | None = optional()


@frozen(kw_only=True)
class RequestDetail:
    """All that is asked for."""

    command: str | None = optional()
    cwd: str | None = optional()
    changes: tuple[ProposedChange, ...] | None = optional()
    tool: ToolCall | None = optional()
    reason: str | None = optional()


@frozen(kw_only=True)
class RuntimeRequest:
    """A permission or a question that waits for the user."""

    id: RequestId
    thread_id: ThreadId
    run_id: RunId
    item_id: ItemId
    target_item_id: ItemId | None
    kind: RequestKind
    prompt: str
    detail: RequestDetail
    options: tuple[RequestOption, ...]
    accepts_message: bool
    questions: tuple[Question, ...] | None = optional()
    status: RequestStatus
    decision: Decision | None
    message: str | None
    answers: tuple[Answer, ...] | None
    created_at: Time
    resolved_at: Time | None
