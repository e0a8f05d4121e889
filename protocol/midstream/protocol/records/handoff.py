"""Context transfers and handoffs: how context moves, and the text that a provider receives."""

from typing import Literal, TypeAlias

from attrs import frozen

from midstream.protocol.base import (
    HandoffId,
    ItemId,
    ProviderKind,
    ProviderThreadId,
    RunId,
    RunRange,
    ThreadId,
    Time,
    TransferId,
    optional,
)
from midstream.protocol.records.thread import ModelSelection, NextContext, SourcePoint

Channel: TypeAlias = Literal["nativeData", "embeddedResource", "separateBlock", "inlinePreamble"]
TransferType: TypeAlias = Literal["fork", "provider_handoff", "merge_back", "subagent_spawn", "subagent_result"]
TransferStatus: TypeAlias = Literal[
    "pending", "resolved_native", "resolved_portable", "consumed", "failed", "superseded"
]
HandoffStrategy: TypeAlias = Literal[
    "delta_since_target_last_seen", "full_thread_summary", "checkpoint_summary", "manual_context"
]
HandoffStatus: TypeAlias = Literal["pending", "ready", "failed", "superseded"]
DeliveryStatus: TypeAlias = Literal["pending", "delivered", "uncertain"]
Author: TypeAlias = Literal["user", "agent", "system"]
Summarizer: TypeAlias = Literal["deterministic", "provider", "user"]
SectionKind: TypeAlias = Literal[
    "goals",
    "constraints",
    "decisions",
    "files",
    "commands",
    "plan",
    "open",
    "checkpoint",
    "failures",
    "subagents",
    "conversation",
]


@frozen(kw_only=True)
class NativeForkResolution:
    """A fork that the provider made itself."""

    strategy: Literal["native_fork"] = "native_fork"
    native_thread_ref: str


@frozen(kw_only=True)
class HandoffResolution:
    """A transfer that a stored handoff carries."""

    strategy: Literal["portable_context", "delta_context", "checkpoint_context"]
    handoff_id: HandoffId


Resolution: TypeAlias = NativeForkResolution | HandoffResolution


@frozen(kw_only=True)
class ContextTransfer:
    """The cheap record that context has to move from a source point to a target; pending until a run needs it."""

    id: TransferId
    type: TransferType
    source_thread_id: ThreadId
    target_thread_id: ThreadId
    source_point: SourcePoint
    base_point: SourcePoint | None
    source_provider: ProviderKind | None
    target_provider: ProviderKind | None
    target_run_id: RunId | None
    status: TransferStatus
    resolution: Resolution | None
    created_by: Author
    error: str | None
    created_at: Time
    consumed_at: Time | None


@frozen(kw_only=True)
class HandoffEntry:
    """One statement of a section, with the run and the items that it was taken from."""

    text: str
    run_ordinal: int | None
    item_ids: tuple[ItemId, ...]


@frozen(kw_only=True)
class HandoffSection:
    """The entries of one kind; `omitted` counts those that the budget left out, `shortened` those told in part."""

    kind: SectionKind
    title: str
    entries: tuple[HandoffEntry, ...]
    omitted: int
    shortened: int | None = optional()


@frozen(kw_only=True)
class HandoffTokens:
    """Sizes in tokens."""

    budget: int
    estimated: int


@frozen(kw_only=True)
class Delivery:
    """How far the bytes came; `sha256` is that of the sent text in UTF-8, in hexadecimal."""

    native_thread_ref: str | None
    channel: Channel
    status: DeliveryStatus
    sha256: str


@frozen(kw_only=True)
class HandoffPurpose:
    """Whom a handoff was made for, and a digest of all that it was made from."""

    selection: ModelSelection
    context: NextContext
    basis: str


@frozen(kw_only=True)
class HandoffInfo:
    """A handoff without its text."""

    id: HandoffId
    transfer_id: TransferId | None
    thread_id: ThreadId
    target_run_id: RunId | None
    from_provider_thread_ids: tuple[ProviderThreadId, ...]
    to_provider_thread_id: ProviderThreadId | None
    covered_thread_id: ThreadId | None
    covered_run_ordinals: RunRange | None
    run_ordinals: tuple[int, ...]
    strategy: HandoffStrategy
    tokens: HandoffTokens
    redactions: int
    status: HandoffStatus
    superseded_by: HandoffId | None
    created_by: Summarizer
    created_by_provider: ProviderKind | None
    fallback_reason: str | None
    made_for: HandoffPurpose | None = optional()
    delivery: Delivery | None
    created_at: Time
    updated_at: Time


@frozen(kw_only=True)
class ContextHandoff(HandoffInfo):
    """The materialised text that a provider receives: superseded, never edited in place."""

    summary_text: str
    sent_text: str
    sections: tuple[HandoffSection, ...]
