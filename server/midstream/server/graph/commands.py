"""What can be asked of a thread: by clients, and by the runtime that carries runs out."""

from collections.abc import Mapping
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
    TransferId,
)
from midstream.protocol.methods.run import ReplacedHandoff
from midstream.protocol.records.checkpoint import Checkpoint
from midstream.protocol.records.handoff import Channel, ContextHandoff
from midstream.protocol.records.item import Item
from midstream.protocol.records.provider import ProviderSession
from midstream.protocol.records.request import Answer, Decision, RuntimeRequest
from midstream.protocol.records.run import (
    AttemptReason,
    Failure,
    Message,
    SwitchPlan,
    Usage,
)
from midstream.protocol.records.thread import ModelSelection, NextContext, RuntimeMode, SourcePoint, Thread

# Commands of clients


@frozen(kw_only=True)
class CreateThread:
    """Make a thread."""

    thread_id: ThreadId
    workspace: str
    title: str
    selection: ModelSelection
    runtime_mode: RuntimeMode


@frozen(kw_only=True)
class ForkThread:
    """Make a thread that goes on from a point of another; `last_item_ordinal` is that of the point's last item."""

    thread_id: ThreadId
    point: SourcePoint
    last_item_ordinal: int
    title: str | None


@frozen(kw_only=True)
class SpawnChild:
    """Make the thread in which another provider does what a run's agent gave it to do, and start its run."""

    thread: Thread
    message: Message
    plan: SwitchPlan
    source_point: SourcePoint
    source_provider: ProviderKind


@frozen(kw_only=True)
class TakeMergeBack:
    """Have a fork's work wait for this thread's next run: what is told of it is fixed now.

    `base` is the point of the fork from which on it is new to this thread, `source_point` the one up to which.
    """

    source_point: SourcePoint
    base: SourcePoint
    source_provider: ProviderKind | None
    handoff: ContextHandoff


@frozen(kw_only=True)
class CancelTransfer:
    """Take a pending transfer back."""

    transfer_id: TransferId


@frozen(kw_only=True)
class RollBack:
    """Take every run after an ordinal back; `standing` are the threads whose merge-backs can be given again."""

    to_run_ordinal: int
    standing: frozenset[ThreadId]


@frozen(kw_only=True)
class UpdateThread:
    """Set a thread's title or runtime mode; None leaves it."""

    title: str | None = None
    runtime_mode: RuntimeMode | None = None


@frozen(kw_only=True)
class ArchiveThread:
    """Put a thread away, or take it out again."""

    archived: bool


@frozen(kw_only=True)
class DeleteThread:
    """Remove a thread, all that is its own, and what it left outside."""


@frozen(kw_only=True)
class SwitchProvider:
    """Choose who answers the next run, and with how much context."""

    selection: ModelSelection
    context: NextContext


@frozen(kw_only=True)
class StartRun:
    """Start a run, or queue it where one is active or `queue` says so.

    `handoffs` were made just now for this run; `handoff_ids` names them and earlier ones, in the order to send;
    `replaced` says which earlier ones they stand for.
    """

    message: Message
    selection: ModelSelection
    context: NextContext
    queue: bool
    plan: SwitchPlan
    handoff_ids: tuple[HandoffId, ...] = ()
    handoffs: tuple[ContextHandoff, ...] = ()
    replaced: tuple[ReplacedHandoff, ...] = ()


@frozen(kw_only=True)
class SteerRun:
    """Give the active run more words of the user."""

    run_id: RunId
    message: Message


@frozen(kw_only=True)
class RestartRun:
    """Interrupt the active attempt and go on with these words as a new attempt of the same run."""

    run_id: RunId
    message: Message
    reason: AttemptReason


@frozen(kw_only=True)
class InterruptRun:
    """Ask that the active run stops."""

    run_id: RunId


@frozen(kw_only=True)
class RetryRun:
    """Try the last started run again."""

    run_id: RunId
    selection: ModelSelection
    plan: SwitchPlan


@frozen(kw_only=True)
class EditRun:
    """Change the words of a queued run."""

    run_id: RunId
    text: str


@frozen(kw_only=True)
class ReorderRun:
    """Move a queued run before another, or to the end."""

    run_id: RunId
    before_run_id: RunId | None


@frozen(kw_only=True)
class CancelRun:
    """Take a queued run back."""

    run_id: RunId


@frozen(kw_only=True)
class ResumeQueue:
    """Let held queued runs go on."""


@frozen(kw_only=True)
class StoreHandoffs:
    """Keep handoffs that were made for a preview."""

    handoffs: tuple[ContextHandoff, ...]


@frozen(kw_only=True)
class KeepCheckpoint:
    """Record a checkpoint that no run took, or what became of one; None where there is nothing to record."""

    checkpoint: Checkpoint | None


@frozen(kw_only=True)
class ReplaceHandoff:
    """Put a handoff that was edited or made anew in the place of one that was not sent yet."""

    handoff_id: HandoffId
    handoff: ContextHandoff


@frozen(kw_only=True)
class DiscardHandoff:
    """Give up a handoff that was not sent yet."""

    handoff_id: HandoffId


@frozen(kw_only=True)
class RespondRequest:
    """Answer a request, by one of its options or by a decision."""

    request_id: RequestId
    option_id: str | None
    decision: Decision | None
    answers: tuple[Answer, ...] | None
    message: str | None


# Commands of the runtime


@frozen(kw_only=True)
class AttachBaseline:
    """Say what the files were when a run began: an earlier checkpoint, or this new one."""

    run_id: RunId
    checkpoint: Checkpoint


@frozen(kw_only=True)
class FixPlan:
    """Settle how an attempt catches up, with the handoffs made for it, in the order to send.

    `handoff_ids` names all that are sent, new ones and those that an earlier try left unsent.
    """

    run_id: RunId
    attempt: int
    plan: SwitchPlan
    handoff_ids: tuple[HandoffId, ...]
    handoffs: tuple[ContextHandoff, ...]


@frozen(kw_only=True)
class BindProviderThread:
    """An attempt has its native conversation: an earlier one resumed, or a new one."""

    run_id: RunId
    attempt: int
    provider_thread_id: ProviderThreadId
    native_ref: str
    model: str | None
    session: ProviderSession
    forked_from: ProviderThreadId | None = None


@frozen(kw_only=True)
class FailResume:
    """A provider thread could not be resumed."""

    provider_thread_id: ProviderThreadId
    reason: Reason


@frozen(kw_only=True)
class MarkDelivering:
    """An attempt's turn is about to be sent; `sha256` is that of each handoff's sent text, `channel` theirs."""

    run_id: RunId
    attempt: int
    channel: Channel | None
    sha256: Mapping[HandoffId, str]


@frozen(kw_only=True)
class AcceptTurn:
    """The provider took the turn: the run and its handoffs count as covered from here on."""

    run_id: RunId
    attempt: int
    turn_ref: str | None


@frozen(kw_only=True)
class ObservedItem:
    """An item began, changed or ended. Its ordinal and times are set when it is put.

    `conversation_ref` is the provider's own id of a subagent's conversation, where it has one.
    """

    item: Item
    conversation_ref: str | None = None


@frozen(kw_only=True)
class ObservedText:
    """Text was added to a field of a live item."""

    item_id: ItemId
    field: Literal["text", "output", "markdown"]
    text: str


@frozen(kw_only=True)
class ObservedRequest:
    """The provider asks; `item` is the approval or question that stands for it."""

    request: RuntimeRequest
    item: Item


@frozen(kw_only=True)
class ObservedWithdrawal:
    """The provider no longer waits for an answer."""

    request_id: RequestId


@frozen(kw_only=True)
class ObservedSteer:
    """The provider took the earliest of the steered words that wait."""


@frozen(kw_only=True)
class ObservedUsage:
    """What the turn used so far."""

    usage: Usage


@frozen(kw_only=True)
class ObservedCompaction:
    """The provider compacted its own history."""

    item: Item


Observation: TypeAlias = (
    ObservedItem
    | ObservedText
    | ObservedRequest
    | ObservedWithdrawal
    | ObservedSteer
    | ObservedUsage
    | ObservedCompaction
)


@frozen(kw_only=True)
class Observe:
    """What a provider said and did, in order."""

    run_id: RunId
    attempt: int
    observations: tuple[Observation, ...]


@frozen(kw_only=True)
class SettleSteer:
    """Steered words were taken by the provider, or were not."""

    run_id: RunId
    item_id: ItemId
    taken: bool


@frozen(kw_only=True)
class EndTurn:
    """The provider's root turn ended; `lost` where its process went with it."""

    run_id: RunId
    attempt: int
    status: Literal["completed", "interrupted", "failed"]
    failure: Failure | None
    lost: bool


@frozen(kw_only=True)
class FinishRun:
    """Close a run whose turn ended, with the files as it left them."""

    run_id: RunId
    attempt: int
    checkpoint: Checkpoint | None


@frozen(kw_only=True)
class ExpireRequests:
    """Nobody is there to answer: interrupt the waiting run."""

    run_id: RunId


@frozen(kw_only=True)
class UpdateSession:
    """An agent process changed its state; one that stopped leaves its provider threads not loaded."""

    session: ProviderSession


@frozen(kw_only=True)
class LoseCheckpoints:
    """Note that checkpoints are kept no longer."""

    checkpoint_ids: tuple[CheckpointId, ...]


@frozen(kw_only=True)
class FailFork:
    """A provider could not fork its conversation: the fork's context has to be told instead."""

    run_id: RunId
    attempt: int
    error: str


@frozen(kw_only=True)
class SettleRevert:
    """A provider's own history shows that it dropped what was rolled back."""

    provider_thread_id: ProviderThreadId
    run_ids: tuple[RunId, ...]
    missing_item_ids: tuple[ItemId, ...]
    loaded: bool


@frozen(kw_only=True)
class WithdrawMergeBacks:
    """A fork rolled back runs whose work still waits here."""

    source_thread_id: ThreadId
    after_ordinal: int


@frozen(kw_only=True)
class BeginDelegation:
    """A run's agent gave work to another provider: `item_id` shows it as long as the child's run goes on."""

    run_id: RunId
    item_id: ItemId
    child: Thread
    prompt: str


@frozen(kw_only=True)
class EndDelegation:
    """The child's run ended, at `source_point`; `result` is what it said last."""

    item_id: ItemId
    source_point: SourcePoint
    status: Literal["completed", "failed", "interrupted"]
    result: str


@frozen(kw_only=True)
class RecoverThread:
    """Put right what a crash left: nothing goes on by itself."""


ClientCommand: TypeAlias = (
    CreateThread
    | ForkThread
    | SpawnChild
    | TakeMergeBack
    | CancelTransfer
    | RollBack
    | UpdateThread
    | ArchiveThread
    | DeleteThread
    | SwitchProvider
    | StartRun
    | SteerRun
    | RestartRun
    | InterruptRun
    | RetryRun
    | EditRun
    | ReorderRun
    | CancelRun
    | ResumeQueue
    | StoreHandoffs
    | KeepCheckpoint
    | ReplaceHandoff
    | DiscardHandoff
    | RespondRequest
)
RuntimeCommand: TypeAlias = (
    AttachBaseline
    | FixPlan
    | BindProviderThread
    | FailResume
    | MarkDelivering
    | AcceptTurn
    | Observe
    | SettleSteer
    | EndTurn
    | FinishRun
    | ExpireRequests
    | UpdateSession
    | LoseCheckpoints
    | FailFork
    | SettleRevert
    | WithdrawMergeBacks
    | BeginDelegation
    | EndDelegation
    | RecoverThread
)
Command: TypeAlias = ClientCommand | RuntimeCommand
