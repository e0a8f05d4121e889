"""Providers, their live sessions, and their native conversations."""

from typing import Literal, TypeAlias

from attrs import frozen

from midstream.protocol.base import (
    HandoffId,
    ItemId,
    ProviderKind,
    ProviderSessionId,
    ProviderThreadId,
    Reason,
    ThreadId,
    optional,
)
from midstream.protocol.records.handoff import Channel
from midstream.protocol.records.thread import ModelSelection, RuntimeMode

ProviderThreadStatus: TypeAlias = Literal["idle", "active", "not_loaded", "closed", "error", "divergent"]
ProviderSessionStatus: TypeAlias = Literal["starting", "ready", "running", "stopped", "error"]


@frozen(kw_only=True)
class HandoffCapability:
    """How a provider takes handoffs; `context_window` in tokens."""

    channel: Channel | None
    delta: bool
    full: bool
    context_window: int | None


@frozen(kw_only=True)
class Capabilities:
    """What a provider can do. Capability, not name, decides."""

    resume: bool
    fork: bool
    fork_at_turn: bool
    rollback: bool
    steer: bool
    interrupt: bool
    approvals: bool
    questions: bool
    plans: bool
    todos: bool
    subagents: bool
    images: bool
    mcp_servers: bool
    models: bool
    summarize: bool
    handoff: HandoffCapability
    native_ids: Literal["strong", "weak"]


@frozen(kw_only=True)
class ProviderModel:
    """A model that a provider offers; `context_window` in tokens, `efforts` what its option `effort` may be."""

    id: str
    label: str
    context_window: int | None = optional()
    efforts: tuple[str, ...] | None = optional()


@frozen(kw_only=True)
class ProviderProblem:
    """Why a provider cannot be used, and what the user can do."""

    message: str
    action: str | None = optional()


@frozen(kw_only=True)
class Provider:
    """A configured agent and the state it is in."""

    kind: ProviderKind
    driver: str
    label: str
    installed: bool
    version: str | None
    authenticated: bool | None
    models: tuple[ProviderModel, ...]
    capabilities: Capabilities
    problem: ProviderProblem | None


@frozen(kw_only=True)
class ProviderSession:
    """A live agent process, or the record of one."""

    id: ProviderSessionId
    provider: ProviderKind
    status: ProviderSessionStatus
    workspace: str
    pid: int | None
    capabilities: Capabilities
    last_error: str | None


@frozen(kw_only=True)
class ProviderThread:
    """One native conversation of one provider, with its coverage: what it lived and what it was told.

    `selection` and `runtime_mode` are those that it last ran with; `compacted` is true from the provider's own
    compaction on until the standing constraints were repeated to it. `subagent_item_id` is the item of the subagent
    whose conversation it is: the daemon speaks to none of those, so they cover nothing.
    """

    id: ProviderThreadId
    thread_id: ThreadId
    provider: ProviderKind
    session_id: ProviderSessionId | None
    native_ref: str | None
    model: str | None
    status: ProviderThreadStatus
    first_run_ordinal: int | None
    last_run_ordinal: int | None
    native_run_ordinals: tuple[int, ...]
    handoff_ids: tuple[HandoffId, ...]
    missing_item_ids: tuple[ItemId, ...]
    forked_from: ProviderThreadId | None
    stale_reasons: tuple[Reason, ...]
    selection: ModelSelection | None = optional()
    runtime_mode: RuntimeMode | None = optional()
    compacted: bool | None = optional()
    subagent_item_id: ItemId | None = optional()
