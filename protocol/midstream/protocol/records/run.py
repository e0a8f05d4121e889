"""The run: one counted turn of a thread, its attempts and what became of it."""

from typing import Literal, TypeAlias

from attrs import frozen

from midstream.protocol.base import (
    CheckpointId,
    HandoffId,
    ItemId,
    JsonObject,
    ProviderKind,
    ProviderThreadId,
    Range,
    Reason,
    RunId,
    RunRange,
    ThreadId,
    Time,
    TransferId,
    optional,
)
from midstream.protocol.records.handoff import Channel
from midstream.protocol.records.thread import ModelSelection

RunStatus: TypeAlias = Literal[
    "queued",
    "starting",
    "running",
    "waiting",
    "completed",
    "interrupted",
    "failed",
    "cancelled",
    "rolled_back",
]
AttemptReason: TypeAlias = Literal["initial", "steering_restart", "retry", "provider_recovery"]
AttemptStatus: TypeAlias = Literal["pending", "running", "completed", "interrupted", "failed", "superseded"]
FailureClass: TypeAlias = Literal[
    "usage_limit",
    "provider_error",
    "transport_error",
    "permission_error",
    "authentication",
    "context_overflow",
    "validation_error",
    "unknown",
]
PlanStrategy: TypeAlias = Literal[
    "none",
    "delta_since_target_last_seen",
    "full_thread_summary",
    "checkpoint_summary",
    "manual_context",
    "native_fork",
    "unsupported",
]


@frozen(kw_only=True)
class FileAttachment:
    """A file, or a stretch of it, that the user points at."""

    type: Literal["file"] = "file"
    uri: str
    range: Range | None = optional()


@frozen(kw_only=True)
class SelectionAttachment:
    """Text that the user had selected in an editor."""

    type: Literal["selection"] = "selection"
    uri: str
    range: Range
    text: str


@frozen(kw_only=True)
class DiagnosticsAttachment:
    """LSP diagnostics of a document, as the editor showed them."""

    type: Literal["diagnostics"] = "diagnostics"
    uri: str
    items: tuple[JsonObject, ...]


@frozen(kw_only=True)
class ImageAttachment:
    """An image as a client sends it: its bytes in base64, or where they are."""

    type: Literal["image"] = "image"
    mime_type: str
    base64: str | None = optional()
    uri: str | None = optional()


@frozen(kw_only=True)
class StoredImage:
    """An image as it is kept and returned: described, never repeated in full. `bytes` is its size."""

    type: Literal["image"] = "image"
    mime_type: str
    bytes: int
    sha256: str
    uri: str | None


Attachment: TypeAlias = FileAttachment | SelectionAttachment | DiagnosticsAttachment | ImageAttachment
StoredAttachment: TypeAlias = FileAttachment | SelectionAttachment | DiagnosticsAttachment | StoredImage


@frozen(kw_only=True)
class Message:
    """The user's message of a run, unchanged."""

    text: str
    attachments: tuple[StoredAttachment, ...]


@frozen(kw_only=True)
class Failure:
    """Why a run or a provider failed. `retryable` is null where nobody knows."""

    class_: FailureClass
    message: str
    retryable: bool | None
    reset_at: Time | None = optional()


@frozen(kw_only=True)
class Usage:
    """Tokens as the provider counted them; `cost_usd` in US dollars."""

    input_tokens: int
    output_tokens: int
    cached_input_tokens: int | None = optional()
    context_tokens: int | None = optional()
    context_window: int | None = optional()
    cost_usd: float | None = optional()


@frozen(kw_only=True)
class RunAttempt:
    """One try at a run on one provider thread."""

    ordinal: int
    provider_thread_id: ProviderThreadId | None
    provider_turn_id: str | None
    reason: AttemptReason
    status: AttemptStatus


@frozen(kw_only=True)
class SwitchPlan:
    """How the next provider catches up; all but the last three fields speak of the run's own switch or fork."""

    strategy: PlanStrategy
    provider_thread_id: ProviderThreadId | None
    covered_thread_id: ThreadId | None
    covered_run_ordinals: RunRange | None
    run_ordinals: tuple[int, ...]
    transfer_ids: tuple[TransferId, ...]
    channel: Channel | None
    reasons: tuple[Reason, ...]


@frozen(kw_only=True)
class Run:
    """One counted turn of a thread: a user message and all that answers it."""

    id: RunId
    thread_id: ThreadId
    ordinal: int | None
    selection: ModelSelection
    provider: ProviderKind
    provider_thread_id: ProviderThreadId | None
    context_handoff_id: HandoffId | None
    handoff_ids: tuple[HandoffId, ...]
    transfer_ids: tuple[TransferId, ...]
    plan: SwitchPlan | None
    status: RunStatus
    message: Message
    attempts: tuple[RunAttempt, ...]
    baseline_checkpoint_id: CheckpointId | None
    checkpoint_id: CheckpointId | None
    failure: Failure | None
    usage: Usage | None
    queue_position: int | None
    requested_at: Time
    started_at: Time | None
    interrupt_requested_at: Time | None
    completed_at: Time | None
    unsent_item_ids: tuple[ItemId, ...] | None = optional()
    rolled_back_sequence: int | None = optional()
