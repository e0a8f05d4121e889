"""The thread: the user's conversation and its place in the thread graph."""

from typing import Literal, TypeAlias

from attrs import frozen

from midstream.protocol.base import (
    CheckpointId,
    ItemId,
    JsonObject,
    ProviderKind,
    ProviderThreadId,
    RunId,
    ThreadId,
    Time,
    TransferId,
    optional,
)

RuntimeMode: TypeAlias = Literal["approvalRequired", "autoAcceptEdits", "fullAccess", "readOnly"]
NextContext: TypeAlias = Literal["auto", "clean"]
ThreadStatus: TypeAlias = Literal["idle", "queued", "starting", "running", "waiting"]
ThreadOrigin: TypeAlias = Literal["native", "imported"]
Relationship: TypeAlias = Literal["fork", "subagent"]


@frozen(kw_only=True)
class ModelSelection:
    """Which provider answers, with which of its models and options; a null model is the provider's default."""

    provider: ProviderKind
    model: str | None
    options: JsonObject | None = optional()


@frozen(kw_only=True)
class Lineage:
    """Where a thread stands in the thread graph."""

    parent_thread_id: ThreadId | None
    relationship_to_parent: Relationship | None
    root_thread_id: ThreadId


@frozen(kw_only=True)
class SourcePoint:
    """The point of a thread that a transfer or a fork starts from.

    `sequence` is the thread's own when the point was taken, `item_id` the last item up to it.
    """

    thread_id: ThreadId
    run_id: RunId | None = optional()
    checkpoint_id: CheckpointId | None = optional()
    item_id: ItemId | None = optional()
    provider_thread_id: ProviderThreadId | None = optional()
    native_thread_ref: str | None = optional()
    native_turn_ref: str | None = optional()
    sequence: int | None = optional()


@frozen(kw_only=True)
class Thread:
    """The user's conversation; the source of truth for its whole history."""

    id: ThreadId
    title: str
    workspace: str
    selection: ModelSelection
    next_context: NextContext
    runtime_mode: RuntimeMode
    active_provider_thread_id: ProviderThreadId | None
    lineage: Lineage
    forked_from: SourcePoint | None
    origin: ThreadOrigin
    queue_held: bool
    pending_transfer_ids: tuple[TransferId, ...]
    status: ThreadStatus
    created_at: Time
    updated_at: Time
    archived_at: Time | None
