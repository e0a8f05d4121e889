"""Whatever clients and the runtime say, in whatever order: what must hold of a thread holds."""

from collections import Counter
from collections.abc import Callable
from typing import TypeVar

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from midstream.protocol.errors import InvalidParams, MidstreamError
from midstream.protocol.records.handoff import ContextHandoff
from midstream.protocol.records.run import Run
from midstream.server.graph import commands as c
from midstream.server.graph.effects import ExecuteAttempt
from midstream.server.graph.events import Event, HandoffPut, ItemPut, RunPut, TextAppended
from midstream.server.graph.state import ACTIVE, LIVE_ITEM, TERMINAL, ThreadState, evolve
from support.graph import (
    NO,
    NO_CONTEXT,
    REASON,
    YES,
    Outcome,
    Story,
    accepting,
    binding,
    checkpoint,
    command,
    compaction,
    ending,
    fixing,
    handoff,
    message,
    permission,
    selecting,
    sending,
    session,
    starting,
    words,
)

T = TypeVar("T")

NOWHERE = "run_999999"
OUTCOMES: tuple[Outcome, ...] = ("completed", "interrupted", "failed")


class Dice:
    """Choices that one number makes."""

    def __init__(self, number: int) -> None:
        self._number = number

    def one_of(self, *choices: T) -> T:
        self._number, choice = divmod(self._number, len(choices))
        return choices[choice]


def check_terminal(before: ThreadState, events: tuple[Event, ...]) -> None:
    """A terminal run changes by the user's retry only, and that adds an attempt."""
    runs = before.runs
    for event in events:
        if isinstance(event, RunPut):
            old, new = runs.get(event.record.id), event.record
            if old is not None and old.status in TERMINAL:
                assert old.status in ("failed", "interrupted")
                assert (new.status, new.attempts[:-1], new.ordinal) == ("starting", old.attempts, old.ordinal)
                assert new.attempts[-1].reason == "retry"
            runs = runs.set(new.id, new)


class AnyThread:
    """A thread, and everyone who speaks to it: in order (`advance`) and out of order (all else)."""

    def __init__(self) -> None:
        self.story = Story()

    @property
    def state(self) -> ThreadState:
        return self.story.state

    def do(self, command: c.Command, *, refusable: bool = True) -> None:
        before = self.state
        try:
            decision = self.story.do(command)
        except (MidstreamError, InvalidParams):
            assert refusable
            assert self.state is before
            return
        check_terminal(before, decision.events)
        for effect in decision.effects:
            assert effect.run_id == self.state.active_run_id
            if isinstance(effect, ExecuteAttempt):
                assert effect.attempt == self.state.runs[effect.run_id].attempts[-1].ordinal

    def runtime(self, command: c.RuntimeCommand) -> None:
        """The runtime is never refused: what does not fit changes nothing."""
        self.do(command, refusable=False)

    def any_run(self, dice: Dice) -> str:
        """The active run more often than not, any other, or one that is not there."""
        usual = self.state.active_run_id or self.state.last_started_run_id or NOWHERE
        return dice.one_of(usual, dice.one_of(usual, NOWHERE, *sorted(self.state.runs)))

    def started(self, dice: Dice) -> Run | None:
        """Any run that has attempts, if there is one."""
        run = self.state.runs.get(self.any_run(dice))
        return run if run is not None and run.attempts else None

    def handoffs(self, count: int) -> tuple[ContextHandoff, ...]:
        return tuple(handoff(self.story.new_id("hof"), self.state.last_run_ordinal) for _ in range(count))

    def delivered(self, handoff_id: str) -> bool:
        delivery = self.state.handoffs[handoff_id].delivery
        return delivery is not None and delivery.status == "delivered"

    # What clients do

    def start(self, dice: Dice) -> None:
        made = self.handoffs(dice.one_of(0, 0, 1, 2))
        names = dice.one_of(tuple(one.id for one in made), tuple(sorted(self.state.handoffs))[:1], ("hof_999999",))
        text, provider = f"words {self.story.new_id('itm')}", dice.one_of("claude", "codex")
        self.do(starting(text, provider, queue=dice.one_of(False, True), handoffs=made, handoff_ids=names))

    def speak(self, dice: Dice) -> None:
        word = dice.one_of("steer", "restart", "interrupt", "retry", "retry", "switch", "resume")
        run_id, text = self.any_run(dice), f"words {self.story.new_id('itm')}"
        selection = selecting(dice.one_of("claude", "codex"))
        match word:
            case "steer":
                self.do(c.SteerRun(run_id=run_id, message=message(text)))
            case "restart":
                self.do(c.RestartRun(run_id=run_id, message=message(text), reason="steering_restart"))
            case "interrupt":
                self.do(c.InterruptRun(run_id=run_id))
            case "retry":
                self.do(c.RetryRun(run_id=run_id, selection=selection, plan=NO_CONTEXT))
            case "switch":
                self.do(c.SwitchProvider(selection=selection, context="clean"))
            case _:
                self.do(c.ResumeQueue())

    def arrange(self, dice: Dice) -> None:
        run_id = dice.one_of(*(self.state.queue or (NOWHERE,)), self.any_run(dice))
        match dice.one_of("edit", "cancel", "last", "before"):
            case "edit":
                self.do(c.EditRun(run_id=run_id, text=f"words {self.story.new_id('itm')}"))
            case "cancel":
                self.do(c.CancelRun(run_id=run_id))
            case "last":
                self.do(c.ReorderRun(run_id=run_id, before_run_id=None))
            case _:
                before = dice.one_of(*(self.state.queue or (NOWHERE,)), self.any_run(dice))
                self.do(c.ReorderRun(run_id=run_id, before_run_id=before))

    def respond(self, dice: Dice) -> None:
        request_id = dice.one_of(*sorted(self.state.requests, reverse=True), "req_999999")
        option = dice.one_of("yes", "no", "maybe", None)
        self.do(c.RespondRequest(request_id=request_id, option_id=option, decision=None, answers=None, message=None))

    # What the runtime does in order

    def advance(self, dice: Dice) -> None:
        """Bring the active run's latest attempt one step on: prepared and sent, accepted, ended, finished."""
        run = self.state.active_run
        if run is None:
            self.start(dice)
            return
        attempt = run.attempts[-1]
        if attempt.status == "pending" and attempt.provider_thread_id is None:
            unsent = [one for one in run.handoff_ids if not self.delivered(one)]
            keep, made = unsent[: dice.one_of(0, 1, 2)], self.handoffs(dice.one_of(0, 1, 2))
            on = dice.one_of(f"pth_{run.provider}", self.story.new_id("pth"))
            self.story.send(self.story.prepare(run, *made, keep=tuple(keep), on=on))
        elif attempt.status == "pending":
            self.runtime(accepting(run))
        elif attempt.status == "running":
            self.runtime(ending(run, dice.one_of(*OUTCOMES)))
        else:
            self.story.finish(run)

    def observe(self, dice: Dice) -> None:
        run = self.started(dice)
        if run is None:
            return
        seen = self.anything_seen(dice, run)
        attempt = dice.one_of(run.attempts[-1].ordinal, 1, 2)
        self.runtime(c.Observe(run_id=run.id, attempt=attempt, observations=(seen,)))

    def anything_seen(self, dice: Dice, run: Run) -> c.Observation:
        own = [item for item in self.state.live_items.values() if item.type in ("agentMessage", "command")]
        live = dice.one_of(*sorted((item.id for item in own), reverse=True), "itm_999999")
        new = self.story.new_id("itm")
        match dice.one_of("words", "command", "text", "text", "request", "withdrawal", "compaction", "end"):
            case "words":
                return c.ObservedItem(item=words(new, run, "Yes.", dice.one_of("running", "completed")))
            case "command":
                return c.ObservedItem(item=command(new, run))
            case "text":
                runs = any(item.id == live and item.type == "command" for item in own)
                return c.ObservedText(item_id=live, field="output" if runs else "text", text=f"more {new} ")
            case "request":
                return permission(self.story, run, YES, NO)
            case "withdrawal":
                requests = dice.one_of(*sorted(self.state.requests, reverse=True), "req_999999")
                return c.ObservedWithdrawal(request_id=requests)
            case "compaction":
                return compaction(new, run)
            case _:
                known = self.state.live_items.get(live)
                done = command(live, run, "Done.", "completed")
                return c.ObservedItem(item=done if known and known.type == "command" else words(new, run))

    # What comes early, late, twice, or for another run

    def mistime(self, dice: Dice) -> None:
        run = self.started(dice)
        if run is None:
            return
        match dice.one_of("baseline", "plan", "bind", "send", "accept", "end", "finish"):
            case "baseline":
                taken = checkpoint(self.story.new_id("ckp"), run, "baseline")
                self.runtime(c.AttachBaseline(run_id=run.id, checkpoint=taken))
            case "plan":
                self.runtime(fixing(run, *self.handoffs(1)))
            case "bind":
                self.runtime(binding(run, f"pth_{run.provider}"))
            case "send" if all(self.state.handoffs[one].transfer_id for one in run.handoff_ids):
                self.runtime(sending(run, self.state))
            case "end":
                attempt, lost = dice.one_of(*(one.ordinal for one in run.attempts), 9), dice.one_of(True, False)
                self.runtime(ending(run, dice.one_of(*OUTCOMES), lost=lost, attempt=attempt))
            case "finish":
                left = checkpoint(self.story.new_id("ckp"), run, "run")
                self.runtime(c.FinishRun(run_id=run.id, attempt=run.attempts[-1].ordinal, checkpoint=left))
            case _:
                self.runtime(accepting(run))

    def happen(self, dice: Dice) -> None:
        """What befalls a thread from outside."""
        provider = dice.one_of("claude", "codex")
        match dice.one_of("settle", "settle", "expire", "stop", "go", "unresumable", "crash"):
            case "settle":
                said = [item.id for item in self.state.live_items.values() if item.type == "userMessage"]
                item_id, taken = dice.one_of("itm_999999", *sorted(said)), dice.one_of(True, False)
                self.runtime(c.SettleSteer(run_id=self.any_run(dice), item_id=item_id, taken=taken))
            case "expire":
                self.runtime(c.ExpireRequests(run_id=self.any_run(dice)))
            case "stop":
                self.runtime(c.UpdateSession(session=session(provider, "stopped")))
            case "go":
                self.runtime(c.UpdateSession(session=session(provider, "ready")))
            case "unresumable":
                self.runtime(c.FailResume(provider_thread_id=f"pth_{provider}", reason=REASON))
            case _:
                self.crash()

    def crash(self) -> None:
        self.runtime(c.RecoverThread())
        assert self.state.active_run_id is None
        assert not self.state.pending_requests
        assert bool(self.state.queue) == self.state.thread.queue_held
        assert not any(known.status == "active" for known in self.state.provider_threads.values())

    # What holds

    def check(self) -> None:
        self.one_run_is_active_and_the_thread_says_so()
        self.run_ordinals_have_no_gaps()
        self.the_queue_is_in_order_and_held_only_where_there_is_one()
        self.what_is_open_belongs_to_the_active_run()
        self.a_provider_thread_was_told_only_what_was_delivered_and_once()
        self.nothing_is_missing_twice_or_where_its_run_is_not_covered()

    def one_run_is_active_and_the_thread_says_so(self) -> None:
        active = [run for run in self.state.runs.values() if run.status in ACTIVE]
        assert [run.id for run in active] == ([self.state.active_run_id] if self.state.active_run_id else [])
        expected = active[0].status if active else "queued" if self.state.queue else "idle"
        assert self.state.thread.status == expected

    def run_ordinals_have_no_gaps(self) -> None:
        ordinals = sorted(run.ordinal for run in self.state.runs.values() if run.ordinal is not None)
        assert ordinals == list(range(1, self.state.last_run_ordinal + 1))
        for run in self.state.runs.values():
            assert (run.ordinal is None) == (not run.attempts) == (run.status in ("queued", "cancelled"))

    def the_queue_is_in_order_and_held_only_where_there_is_one(self) -> None:
        assert set(self.state.queue) == {run.id for run in self.state.runs.values() if run.status == "queued"}
        positions = [run.queue_position or 0 for run in self.state.queued_runs]
        assert positions == sorted(set(positions))
        assert not self.state.thread.queue_held or self.state.queue
        assert not self.state.queue or self.state.thread.queue_held or self.state.active_run_id

    def what_is_open_belongs_to_the_active_run(self) -> None:
        active = self.state.active_run
        for request in self.state.pending_requests:
            assert request.run_id == self.state.active_run_id
        for item in self.state.live_items.values():
            assert item.run_id == self.state.active_run_id
            assert item.status in LIVE_ITEM
        assert bool(self.state.pending_requests) == (active is not None and active.status == "waiting")
        assert {key[0] for key in self.state.texts} <= set(self.state.live_items)

    def a_provider_thread_was_told_only_what_was_delivered_and_once(self) -> None:
        told = [one for known in self.state.provider_threads.values() for one in known.handoff_ids]
        assert len(told) == len(set(told))
        for handoff_id in told:
            given = self.state.handoffs[handoff_id]
            assert given.delivery is not None
            assert given.delivery.status == "delivered"
            assert given.status == "ready"
            assert given.to_provider_thread_id is not None
            assert handoff_id in self.state.provider_threads[given.to_provider_thread_id].handoff_ids
            assert self.state.transfers[given.transfer_id or ""].status == "consumed"
        for known in self.state.provider_threads.values():
            assert len(known.native_run_ordinals) == len(set(known.native_run_ordinals))
            assert set(known.native_run_ordinals) <= set(range(1, self.state.last_run_ordinal + 1))

    def nothing_is_missing_twice_or_where_its_run_is_not_covered(self) -> None:
        if not any(known.missing_item_ids for known in self.state.provider_threads.values()):
            return
        items = self.story.items()
        for known in self.state.provider_threads.values():
            assert len(known.missing_item_ids) == len(set(known.missing_item_ids))
            for item_id in known.missing_item_ids:
                run = self.state.runs[items[item_id].run_id or ""]
                assert run.ordinal in known.native_run_ordinals

    def its_log_alone_makes_it(self) -> None:
        """The whole log, once the story is told."""
        replayed: ThreadState | None = None
        records = 0
        ordinals: dict[str, int] = {}
        lengths: Counter[tuple[str, str, str | None]] = Counter()
        contents: Counter[str] = Counter()
        for event in self.story.events:
            replayed = evolve(replayed, event)
            match event:
                case TextAppended(item_id, field, path, offset, text):
                    assert offset == lengths[item_id, field, path]
                    lengths[item_id, field, path] += len(text)
                    continue
                case ItemPut(record):
                    fresh = max(ordinals.values(), default=0) + 1 if record.id not in ordinals else None
                    assert record.ordinal == ordinals.setdefault(record.id, fresh or record.ordinal)
                case HandoffPut(record, content):
                    contents[record.id] += content is not None
                case _:
                    pass
            records += 1
            assert replayed.sequence == records
        assert replayed == self.state
        assert set(contents.values()) <= {1}


STEPS = st.sampled_from(
    [
        *[AnyThread.advance] * 6,
        *[AnyThread.observe] * 3,
        *[AnyThread.speak] * 3,
        AnyThread.start,
        AnyThread.arrange,
        AnyThread.respond,
        AnyThread.mistime,
        AnyThread.happen,
    ]
)


# Without shrinking, which takes minutes here: to debug, add Phase.shrink and raise the timeout.
@settings(max_examples=80, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(st.lists(st.tuples(STEPS, st.integers(min_value=0, max_value=100_000)), min_size=20, max_size=60))
def test_whatever_is_said_in_whatever_order_a_thread_stays_whole(
    steps: list[tuple[Callable[[AnyThread, Dice], None], int]],
) -> None:
    thread = AnyThread()
    for step, number in steps:
        step(thread, Dice(number))
        thread.check()
    thread.its_log_alone_makes_it()
