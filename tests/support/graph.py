"""A thread driven through the pure graph, command by command, with counted ids and a counted clock."""

from datetime import datetime, timedelta
from itertools import count
from typing import Any, Final, Literal, TypeAlias, TypeVar

from midstream.protocol.base import HandoffId, ItemId, ProviderThreadId, Reason, RunId, TransferId
from midstream.protocol.errors import MidstreamError
from midstream.protocol.records.checkpoint import Checkpoint, CheckpointKind
from midstream.protocol.records.handoff import Channel, ContextHandoff, HandoffTokens
from midstream.protocol.records.item import (
    AgentMessageItem,
    ApprovalItem,
    CommandItem,
    CompactionItem,
    Item,
    ItemBase,
    ItemStatus,
    QuestionItem,
    ReasoningItem,
    UserMessageItem,
)
from midstream.protocol.records.provider import (
    Capabilities,
    HandoffCapability,
    ProviderSession,
    ProviderSessionStatus,
    ProviderThread,
)
from midstream.protocol.records.request import (
    Answer,
    Question,
    RequestDetail,
    RequestOption,
    RuntimeRequest,
)
from midstream.protocol.records.request import Decision as Verdict
from midstream.protocol.records.run import AttemptReason, Failure, Message, Run, SwitchPlan
from midstream.protocol.records.thread import ModelSelection, NextContext, Thread
from midstream.server.graph import commands as c
from midstream.server.graph.changes import IdPrefix, Stamp
from midstream.server.graph.decide import Decision, create, decide
from midstream.server.graph.effects import Effect
from midstream.server.graph.events import Event, ItemPut, RunPut, TextAppended
from midstream.server.graph.state import ThreadState, evolve

Outcome: TypeAlias = Literal["completed", "interrupted", "failed"]
I = TypeVar("I", bound=ItemBase)  # noqa: E741
E = TypeVar("E", bound=Effect)

MIDNIGHT: Final = datetime(2026, 12, 1)
THREAD: Final = "thr_000000"
FAILURE: Final = Failure(class_="provider_error", message="The agent broke.", retryable=True)
REASON: Final = Reason(code="resume_failed", message="The agent does not know it any more.")
CAPABILITIES: Final = Capabilities(
    resume=True,
    fork=False,
    fork_at_turn=False,
    rollback=False,
    steer=True,
    interrupt=True,
    approvals=True,
    questions=True,
    plans=True,
    todos=True,
    subagents=True,
    images=False,
    mcp_servers=False,
    models=False,
    summarize=False,
    handoff=HandoffCapability(channel="embeddedResource", delta=True, full=True, context_window=None),
    native_ids="strong",
)
NO_CONTEXT: Final = SwitchPlan(
    strategy="none",
    provider_thread_id=None,
    covered_thread_id=None,
    covered_run_ordinals=None,
    run_ordinals=(),
    transfer_ids=(),
    channel=None,
    reasons=(),
)


class Story:
    """One thread: `do` decides a command, keeps what came of it, and checks that its events alone make its state."""

    def __init__(self) -> None:
        self._ids = count(1)
        self._now = count()
        command = c.CreateThread(
            thread_id=THREAD,
            workspace="file:///workspace",
            title="",
            selection=selecting("claude"),
            runtime_mode="approvalRequired",
        )
        decision = create(command, self.stamp())
        self.state: ThreadState = decision.state
        self.events: list[Event] = list(decision.events)
        self.effects: list[Effect] = []

    def stamp(self) -> Stamp:
        """The next moment, and ids that sort as they were made."""
        now = MIDNIGHT + timedelta(milliseconds=next(self._now))
        return Stamp(now=now.isoformat(timespec="milliseconds") + "Z", new_id=self.new_id)

    def new_id(self, prefix: IdPrefix) -> str:
        """A fresh id."""
        return f"{prefix}_{next(self._ids):06d}"

    def do(self, command: c.Command) -> Decision:
        """Decide a command."""
        decision = decide(self.state, command, self.stamp())
        replayed = self.state
        for event in decision.events:
            replayed = evolve(replayed, event)
        assert replayed == decision.state
        self.state = decision.state
        self.events += decision.events
        self.effects += decision.effects
        return decision

    def ignores(self, command: c.Command) -> bool:
        """Whether a command changes nothing and asks for nothing."""
        decision = self.do(command)
        return not decision.events and not decision.effects

    # What clients do

    def start(self, text: str = "Do it.", provider: str = "claude", **how: Any) -> Run:
        """Start or queue a run."""
        return run_of(self.do(starting(text, provider, **how)))

    def steer(self, run: Run, text: str) -> UserMessageItem:
        """Give the run more words; return the item that holds them."""
        self.do(c.SteerRun(run_id=run.id, message=message(text)))
        return self.said(text)

    def restart(self, run: Run, text: str, reason: AttemptReason = "steering_restart") -> Run:
        """Go on with other words as a new attempt."""
        return run_of(self.do(c.RestartRun(run_id=run.id, message=message(text), reason=reason)))

    def retry(self, run: Run, provider: str = "claude") -> Run:
        """Try the run again."""
        return run_of(self.do(c.RetryRun(run_id=run.id, selection=selecting(provider), plan=NO_CONTEXT)))

    def respond(
        self,
        request: RuntimeRequest,
        option_id: str | None = None,
        decision: Verdict | None = None,
        answers: tuple[Answer, ...] | None = None,
    ) -> Decision:
        """Answer a request."""
        command = c.RespondRequest(
            request_id=request.id, option_id=option_id, decision=decision, answers=answers, message=None
        )
        return self.do(command)

    # What the runtime does with an attempt, step by step

    def prepare(
        self,
        run: Run,
        *handoffs: ContextHandoff,
        keep: tuple[HandoffId, ...] = (),
        on: ProviderThreadId | None = None,
    ) -> Run:
        """Bring the run's latest attempt up to the moment before sending."""
        run = self.run(run.id)
        self.do(c.AttachBaseline(run_id=run.id, checkpoint=checkpoint(self.new_id("ckp"), run, "baseline")))
        self.do(fixing(run, *handoffs, keep=keep))
        self.do(binding(run, on or f"pth_{run.provider}"))
        return self.run(run.id)

    def send(self, run: Run) -> Run:
        """Note that the latest attempt is on its way, with all handoffs that were not delivered."""
        self.do(sending(self.run(run.id), self.state))
        return self.run(run.id)

    def accept(self, run: Run) -> Run:
        """The provider took the latest attempt."""
        self.do(accepting(self.run(run.id)))
        return self.run(run.id)

    def go(
        self,
        run: Run,
        *handoffs: ContextHandoff,
        keep: tuple[HandoffId, ...] = (),
        on: ProviderThreadId | None = None,
    ) -> Run:
        """Bring the latest attempt all the way to its turn."""
        self.prepare(run, *handoffs, keep=keep, on=on)
        self.send(run)
        return self.accept(run)

    def hear(self, run: Run, *observations: c.Observation, attempt: int | None = None) -> None:
        """The provider says something in the latest attempt, or in an earlier one."""
        ordinal = self.run(run.id).attempts[-1].ordinal if attempt is None else attempt
        self.do(c.Observe(run_id=run.id, attempt=ordinal, observations=observations))

    def end(self, run: Run, status: Outcome = "completed", *, lost: bool = False, attempt: int | None = None) -> Run:
        """The turn of the latest attempt, or of an earlier one, ended."""
        self.do(ending(self.run(run.id), status, lost=lost, attempt=attempt))
        return self.run(run.id)

    def finish(self, run: Run) -> Run:
        """Close the run with a checkpoint of what it left."""
        run = self.run(run.id)
        left = checkpoint(self.new_id("ckp"), run, "run")
        self.do(c.FinishRun(run_id=run.id, attempt=run.attempts[-1].ordinal, checkpoint=left))
        return self.run(run.id)

    def close(self, run: Run, status: Outcome = "completed", *, lost: bool = False) -> Run:
        """The turn ends, and the run with it."""
        self.end(run, status, lost=lost)
        return self.finish(run)

    def whole(self, text: str = "Do it.", provider: str = "claude", status: Outcome = "completed") -> Run:
        """A whole run in which the agent says one thing."""
        run = self.go(self.start(text, provider))
        self.hear(run, c.ObservedItem(item=words(self.new_id("itm"), run, f"Done: {text}")))
        return self.close(run, status)

    # What there is to see

    @property
    def thread(self) -> Thread:
        """The thread as it stands."""
        return self.state.thread

    def run(self, run_id: RunId) -> Run:
        """A run as it stands."""
        return self.state.runs[run_id]

    def request(self, request: RuntimeRequest) -> RuntimeRequest:
        """A request as it stands."""
        return self.state.requests[request.id]

    def provider_thread(self, provider: str = "claude") -> ProviderThread:
        """A provider's conversation as it stands."""
        return self.state.provider_threads[f"pth_{provider}"]

    def items(self) -> dict[ItemId, Item]:
        """Every item's newest version, in the order of ordinals."""
        newest = {event.record.id: event.record for event in self.events if isinstance(event, ItemPut)}
        return dict(sorted(newest.items(), key=lambda entry: entry[1].ordinal))

    def item(self, item: I) -> I:
        """An item as it stands."""
        found = self.items()[item.id]
        assert isinstance(found, type(item))
        return found

    def said(self, text: str) -> UserMessageItem:
        """The user's words as an item."""
        (found,) = [item for item in self.items().values() if isinstance(item, UserMessageItem) and item.text == text]
        return found

    def text(self, item_id: ItemId, field: str, path: str | None = None) -> str:
        """A field's whole text as the log tells it."""
        whole = ""
        for event in self.events:
            if isinstance(event, TextAppended) and (event.item_id, event.field, event.path) == (item_id, field, path):
                assert event.offset == len(whole)
                whole += event.text
        return whole

    def versions_of(self, run: Run) -> list[Run]:
        """All that was ever said of a run, in order."""
        return [event.record for event in self.events if isinstance(event, RunPut) and event.record.id == run.id]

    def asked(self, kind: type[E]) -> list[E]:
        """The effects of a kind, in order."""
        return [effect for effect in self.effects if isinstance(effect, kind)]


def run_of(decision: Decision) -> Run:
    """The run that a command was answered with."""
    assert isinstance(decision.answer, Run)
    return decision.answer


def refusal(story: Story, command: c.Command) -> MidstreamError:
    """The error that a command is refused with; the thread is as it was."""
    before = story.state
    try:
        story.do(command)
    except MidstreamError as error:
        assert story.state == before
        return error
    raise AssertionError(f"{command} was not refused")


# Commands


def starting(
    text: str = "Do it.",
    provider: str = "claude",
    *,
    queue: bool = False,
    context: NextContext = "auto",
    handoff_ids: tuple[HandoffId, ...] = (),
    handoffs: tuple[ContextHandoff, ...] = (),
    replaced: tuple[Any, ...] = (),
) -> c.StartRun:
    """The command that starts a run."""
    return c.StartRun(
        message=message(text),
        selection=selecting(provider),
        context=context,
        queue=queue,
        plan=NO_CONTEXT,
        handoff_ids=handoff_ids,
        handoffs=handoffs,
        replaced=replaced,
    )


def fixing(run: Run, *handoffs: ContextHandoff, keep: tuple[HandoffId, ...] = ()) -> c.FixPlan:
    """The command that fixes the latest attempt's plan: `keep` names handoffs there are, sent before new ones."""
    return c.FixPlan(
        run_id=run.id,
        attempt=run.attempts[-1].ordinal,
        plan=NO_CONTEXT,
        handoff_ids=(*keep, *(handoff.id for handoff in handoffs)),
        handoffs=handoffs,
    )


def binding(run: Run, on: ProviderThreadId) -> c.BindProviderThread:
    """The command that gives the latest attempt its conversation."""
    return c.BindProviderThread(
        run_id=run.id,
        attempt=run.attempts[-1].ordinal,
        provider_thread_id=on,
        native_ref=f"native-{on}",
        model=None,
        session=session(run.provider),
    )


def sending(run: Run, state: ThreadState, channel: Channel = "embeddedResource") -> c.MarkDelivering:
    """The command that notes the latest attempt's sending, with all its handoffs that were not delivered."""
    deliveries = ((handoff_id, state.handoffs[handoff_id].delivery) for handoff_id in run.handoff_ids)
    return c.MarkDelivering(
        run_id=run.id,
        attempt=run.attempts[-1].ordinal,
        channel=channel,
        sha256={
            handoff_id: f"sha-{handoff_id}"
            for handoff_id, delivery in deliveries
            if delivery is None or delivery.status != "delivered"
        },
    )


def accepting(run: Run) -> c.AcceptTurn:
    """The command that notes the latest attempt's acceptance."""
    attempt = run.attempts[-1].ordinal
    return c.AcceptTurn(run_id=run.id, attempt=attempt, turn_ref=f"turn-{run.ordinal}-{attempt}")


def ending(run: Run, status: Outcome = "completed", *, lost: bool = False, attempt: int | None = None) -> c.EndTurn:
    """The command that notes the end of the latest attempt's turn, or of an earlier one's."""
    return c.EndTurn(
        run_id=run.id,
        attempt=run.attempts[-1].ordinal if attempt is None else attempt,
        status=status,
        failure=FAILURE if status == "failed" else None,
        lost=lost,
    )


# Records


def selecting(provider: str) -> ModelSelection:
    """A provider with its own model."""
    return ModelSelection(provider=provider, model=None)


def message(text: str) -> Message:
    """The user's words."""
    return Message(text=text, attachments=())


def session(provider: str, status: ProviderSessionStatus = "ready") -> ProviderSession:
    """A provider's process."""
    return ProviderSession(
        id=f"pss_{provider}",
        provider=provider,
        status=status,
        workspace="file:///workspace",
        pid=None if status == "stopped" else 4711,
        capabilities=CAPABILITIES,
        last_error=None,
    )


def handoff(handoff_id: HandoffId, *ordinals: int, transfer_id: TransferId | None = None) -> ContextHandoff:
    """A handoff that tells of these runs and was not given to a run yet."""
    return ContextHandoff(
        id=handoff_id,
        transfer_id=transfer_id,
        thread_id=THREAD,
        target_run_id=None,
        from_provider_thread_ids=("pth_claude",),
        to_provider_thread_id=None,
        covered_thread_id=THREAD,
        covered_run_ordinals=None,
        run_ordinals=ordinals,
        strategy="full_thread_summary",
        tokens=HandoffTokens(budget=1000, estimated=10),
        redactions=0,
        status="ready",
        superseded_by=None,
        created_by="deterministic",
        created_by_provider=None,
        fallback_reason=None,
        delivery=None,
        created_at="",
        updated_at="",
        summary_text=f"What happened in {ordinals}.",
        sent_text=f"<{ordinals}>",
        sections=(),
    )


def checkpoint(
    checkpoint_id: str, run: Run, kind: CheckpointKind, status: Literal["ready", "missing", "error"] = "ready"
) -> Checkpoint:
    """The files of a workspace in which nothing changed."""
    return Checkpoint(
        id=checkpoint_id,
        thread_id=THREAD,
        scope_id="scope",
        run_id=run.id,
        run_ordinal=run.ordinal,
        parent_checkpoint_id=None,
        label=None,
        kind=kind,
        ref=f"refs/{checkpoint_id}",
        status=status,
        mixed=False,
        files=(),
        skipped=(),
        problem=None,
        captured_at="",
    )


def base(item_id: ItemId, run: Run, status: ItemStatus) -> dict[str, Any]:
    """What all items of an agent share, as its driver makes them: place and times are the graph's to give."""
    return {
        "id": item_id,
        "thread_id": THREAD,
        "run_id": run.id,
        "parent_item_id": None,
        "ordinal": 0,
        "status": status,
        "provider_thread_id": run.provider_thread_id,
        "native_ref": None,
        "started_at": "",
        "completed_at": None,
    }


def words(item_id: ItemId, run: Run, text: str = "", status: ItemStatus = "completed") -> AgentMessageItem:
    """What the agent says."""
    return AgentMessageItem(**base(item_id, run, status), text=text)


def thought(item_id: ItemId, run: Run, status: ItemStatus = "completed") -> ReasoningItem:
    """What the agent thinks."""
    return ReasoningItem(**base(item_id, run, status), text="Hm.")


def command(item_id: ItemId, run: Run, output: str = "", status: ItemStatus = "running") -> CommandItem:
    """A command that the agent runs."""
    return CommandItem(**base(item_id, run, status), command="make", cwd="/workspace", output=output, exit_code=None)


def compaction(item_id: ItemId, run: Run) -> c.ObservedCompaction:
    """The agent forgets the details."""
    return c.ObservedCompaction(item=CompactionItem(**base(item_id, run, "completed"), summary=None))


def permission(story: Story, run: Run, *options: RequestOption) -> c.ObservedRequest:
    """The agent asks whether it may run a command."""
    request_id, item_id = story.new_id("req"), story.new_id("itm")
    item = ApprovalItem(
        **base(item_id, run, "waiting"), request_id=request_id, kind="command", prompt="make?", decision=None
    )
    return c.ObservedRequest(request=_request(request_id, item_id, run, options, None), item=item)


def question(story: Story, run: Run) -> c.ObservedRequest:
    """The agent asks the user something."""
    request_id, item_id = story.new_id("req"), story.new_id("itm")
    questions = (Question(id="q", text="Which?", options=(), multiple=False, free_text=True),)
    item = QuestionItem(**base(item_id, run, "waiting"), request_id=request_id, questions=questions, answers=None)
    return c.ObservedRequest(request=_request(request_id, item_id, run, (), questions), item=item)


def _request(
    request_id: str,
    item_id: ItemId,
    run: Run,
    options: tuple[RequestOption, ...],
    questions: tuple[Question, ...] | None,
) -> RuntimeRequest:
    return RuntimeRequest(
        id=request_id,
        thread_id=THREAD,
        run_id=run.id,
        item_id=item_id,
        target_item_id=None,
        kind="command" if questions is None else "userInput",
        prompt="make?",
        detail=RequestDetail(),
        options=options,
        accepts_message=True,
        questions=questions,
        status="pending",
        decision=None,
        message=None,
        answers=None,
        created_at="",
        resolved_at=None,
    )


YES: Final = RequestOption(option_id="yes", decision="accept", label="Yes")
ALWAYS: Final = RequestOption(option_id="always", decision="acceptForSession", label="Always")
NO: Final = RequestOption(option_id="no", decision="decline", label="No")
