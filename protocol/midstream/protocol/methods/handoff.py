"""`handoff/*` and `transfer/*`: params and results."""

from attrs import frozen

from midstream.protocol.base import HandoffId, ThreadId, TransferId, optional
from midstream.protocol.methods.params import ChangeParams, Params
from midstream.protocol.records.handoff import ContextHandoff, ContextTransfer, HandoffInfo, HandoffStrategy
from midstream.protocol.records.run import SwitchPlan
from midstream.protocol.records.thread import ModelSelection, NextContext


@frozen(kw_only=True)
class HandoffPreviewParams(ChangeParams):
    """Build what the next run would be told, and store it."""

    thread_id: ThreadId
    selection: ModelSelection | None = optional()
    context: NextContext | None = optional()
    strategy: HandoffStrategy | None = optional()
    budget_tokens: int | None = optional()
    summarizer: str | None = optional()


@frozen(kw_only=True)
class HandoffPreviewResult:
    """The plan, and the handoffs in the order they would be sent."""

    plan: SwitchPlan
    handoffs: tuple[ContextHandoff, ...]


@frozen(kw_only=True)
class HandoffIdParams(Params):
    """A handoff to read."""

    handoff_id: HandoffId


@frozen(kw_only=True)
class HandoffChangeParams(ChangeParams):
    """A handoff to change."""

    handoff_id: HandoffId


@frozen(kw_only=True)
class HandoffResult:
    """The whole handoff."""

    handoff: ContextHandoff


@frozen(kw_only=True)
class HandoffListResult:
    """A thread's handoffs, oldest first, without their texts."""

    handoffs: tuple[HandoffInfo, ...]


@frozen(kw_only=True)
class HandoffEditParams(HandoffChangeParams):
    """Replace what a handoff says by the user's own words."""

    summary_text: str


@frozen(kw_only=True)
class HandoffRegenerateParams(HandoffChangeParams):
    """Build a handoff anew, otherwise."""

    strategy: HandoffStrategy | None = optional()
    budget_tokens: int | None = optional()
    summarizer: str | None = optional()


@frozen(kw_only=True)
class TransferListResult:
    """A thread's transfers, oldest first."""

    transfers: tuple[ContextTransfer, ...]


@frozen(kw_only=True)
class TransferListParams(Params):
    """A thread whose transfers to list."""

    thread_id: ThreadId


@frozen(kw_only=True)
class TransferCancelParams(ChangeParams):
    """A pending transfer to take back."""

    transfer_id: TransferId
