"""Side effects that a commit asks for: stored with it, carried out after it."""

from typing import Literal, TypeAlias

from attrs import frozen

from midstream.protocol.base import ItemId, ProviderThreadId, RequestId, RunId, ThreadId


@frozen(kw_only=True)
class ExecuteAttempt:
    """Carry out an attempt of a run: the user's words in `message_item_ids` are sent, or the run's own message."""

    type: Literal["executeAttempt"] = "executeAttempt"
    run_id: RunId
    attempt: int
    message_item_ids: tuple[ItemId, ...]


@frozen(kw_only=True)
class InterruptTurn:
    """Ask the provider to stop an attempt's turn."""

    type: Literal["interruptTurn"] = "interruptTurn"
    run_id: RunId
    attempt: int


@frozen(kw_only=True)
class SteerTurn:
    """Give the provider more words of the user in the middle of an attempt's turn."""

    type: Literal["steerTurn"] = "steerTurn"
    run_id: RunId
    attempt: int
    message_item_id: ItemId


@frozen(kw_only=True)
class AnswerRequest:
    """Tell the provider what the user answered."""

    type: Literal["answerRequest"] = "answerRequest"
    run_id: RunId
    request_id: RequestId
    option_id: str | None


@frozen(kw_only=True)
class EraseTraces:
    """Remove what a deleted thread left outside the log; agents let go of its native conversations, `native_refs`."""

    type: Literal["eraseTraces"] = "eraseTraces"
    native_refs: tuple[str, ...]


@frozen(kw_only=True)
class RevertConversation:
    """Have a provider drop rolled-back runs from its own conversation, from `turn_ref` on, and see that it did."""

    type: Literal["revertConversation"] = "revertConversation"
    provider_thread_id: ProviderThreadId
    turn_ref: str
    run_ids: tuple[RunId, ...]


@frozen(kw_only=True)
class RecallMergeBacks:
    """Tell the parent that the fork's runs after an ordinal were rolled back: what waits of them is not to be told."""

    type: Literal["recallMergeBacks"] = "recallMergeBacks"
    parent_thread_id: ThreadId
    after_ordinal: int


Effect: TypeAlias = (
    ExecuteAttempt | InterruptTurn | SteerTurn | AnswerRequest | EraseTraces | RevertConversation | RecallMergeBacks
)
