"""`run/*` and `queue/*`: params and results."""

from typing import Literal

from attrs import frozen

from midstream.protocol.base import HandoffId, RunId, ThreadId, optional
from midstream.protocol.methods.params import ChangeParams, Params
from midstream.protocol.records.run import Attachment, Run, SwitchPlan
from midstream.protocol.records.thread import ModelSelection, NextContext


@frozen(kw_only=True)
class MessageInput:
    """A message as a client sends it."""

    text: str
    attachments: tuple[Attachment, ...] | None = optional()


@frozen(kw_only=True)
class RunStartParams(ChangeParams):
    """Start, queue, steer or restart a run with a message."""

    thread_id: ThreadId
    message: MessageInput
    selection: ModelSelection | None = optional()
    delivery: Literal["auto", "queue", "steer", "restart"] | None = optional()
    context: NextContext | None = optional()
    handoff_ids: tuple[HandoffId, ...] | None = optional()
    allow_stale_handoff: bool | None = optional()


@frozen(kw_only=True)
class ReplacedHandoff:
    """A named handoff that was rebuilt because the thread had moved on."""

    from_: HandoffId
    to: HandoffId


@frozen(kw_only=True)
class RunStartResult:
    """The run that took the message; its plan is provisional until it starts."""

    run: Run
    plan: SwitchPlan | None
    replaced_handoffs: tuple[ReplacedHandoff, ...]


@frozen(kw_only=True)
class RunIdParams(Params):
    """A run to read of."""

    run_id: RunId


@frozen(kw_only=True)
class RunChangeParams(ChangeParams):
    """A run to change."""

    run_id: RunId


@frozen(kw_only=True)
class RunResult:
    """The run as it now stands."""

    run: Run


@frozen(kw_only=True)
class RunSteerParams(RunChangeParams):
    """Give text to the active run."""

    text: str
    attachments: tuple[Attachment, ...] | None = optional()


@frozen(kw_only=True)
class RunRetryParams(RunChangeParams):
    """Try a failed or interrupted run again, here or on another provider."""

    selection: ModelSelection | None = optional()


@frozen(kw_only=True)
class RunRetryResult:
    """The run and how its new attempt catches up."""

    run: Run
    plan: SwitchPlan


@frozen(kw_only=True)
class RunEditParams(RunChangeParams):
    """Change the text of a queued run."""

    text: str


@frozen(kw_only=True)
class RunReorderParams(RunChangeParams):
    """Move a queued run before another; null moves it to the end."""

    before_run_id: RunId | None


@frozen(kw_only=True)
class QueueResumeParams(ChangeParams):
    """Let held queued runs go on."""

    thread_id: ThreadId
