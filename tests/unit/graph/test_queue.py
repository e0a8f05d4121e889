"""Starting runs, and those that wait for their turn."""

import pytest

from midstream.protocol.methods.run import ReplacedHandoff
from midstream.protocol.records.run import Run
from midstream.server.graph import commands as c
from midstream.server.graph.effects import ExecuteAttempt
from support.graph import Story, handoff, message, refusal, starting


def queued(story: Story) -> list[str]:
    return [run.message.text for run in story.state.queued_runs]


def held(story: Story) -> list[Run]:
    """Two runs that a failed one holds back."""
    failing = story.go(story.start("first"))
    waiting = [story.start("second"), story.start("third")]
    story.close(failing, "failed")
    assert story.thread.queue_held
    return waiting


def test_a_run_begins_at_once_where_none_is_active(story: Story) -> None:
    run = story.start("Fix it.")
    assert (run.status, run.ordinal, story.state.active_run_id) == ("starting", 1, run.id)
    assert story.thread.status == "starting"
    said = story.said("Fix it.")
    assert (said.run_id, said.status, said.intent) == (run.id, "completed", "start")
    assert story.effects == [ExecuteAttempt(run_id=run.id, attempt=1, message_item_ids=(said.id,))]


def test_the_answer_is_the_run_as_it_then_stands(story: Story) -> None:
    decision = story.do(starting())
    assert isinstance(decision.answer, Run)
    assert decision.answer == story.run(decision.answer.id)


def test_only_one_run_is_active_and_the_next_waits_without_an_ordinal(story: Story) -> None:
    first = story.start()
    second = story.start()
    assert (second.status, second.ordinal, second.queue_position) == ("queued", None, 1)
    assert story.state.active_run_id == first.id
    assert len(story.effects) == 1


def test_a_queued_message_is_no_item_until_its_run_begins(story: Story) -> None:
    first = story.go(story.start("first"))
    story.start("second")
    assert [item.text for item in story.items().values() if item.type == "userMessage"] == ["first"]
    story.close(first)
    assert story.said("second").intent == "queued"


def test_queued_runs_begin_one_after_another_in_their_order(story: Story) -> None:
    first = story.go(story.start("first"))
    second, third = story.start("second"), story.start("third")
    story.close(first)
    assert (story.run(second.id).status, story.run(second.id).ordinal) == ("starting", 2)
    assert story.run(third.id).status == "queued"
    story.close(story.go(second))
    assert (story.run(third.id).status, story.run(third.id).ordinal) == ("starting", 3)
    assert [effect.run_id for effect in story.asked(ExecuteAttempt)] == [first.id, second.id, third.id]


def test_an_interrupted_run_lets_the_next_one_begin(story: Story) -> None:
    first = story.go(story.start())
    second = story.start()
    story.close(first, "interrupted")
    assert story.run(second.id).status == "starting"


def test_a_failed_run_holds_the_queue_until_the_user_resumes_it(story: Story) -> None:
    second, _ = held(story)
    assert (story.thread.status, story.state.active_run_id) == ("queued", None)
    story.do(c.ResumeQueue())
    assert not story.thread.queue_held
    assert story.run(second.id).status == "starting"


def test_a_failed_run_with_nothing_behind_it_holds_nothing(story: Story) -> None:
    story.close(story.go(story.start()), "failed")
    assert not story.thread.queue_held
    assert story.start().status == "starting"


def test_resuming_twice_begins_one_run(story: Story) -> None:
    _, third = held(story)
    story.do(c.ResumeQueue())
    assert story.ignores(c.ResumeQueue())
    assert story.run(third.id).status == "queued"


def test_a_new_run_goes_ahead_of_held_ones(story: Story) -> None:
    held(story)
    run = story.start("ahead")
    assert (run.status, run.ordinal) == ("starting", 2)
    assert queued(story) == ["second", "third"]
    story.close(story.go(run))
    assert story.thread.queue_held
    assert story.state.active_run_id is None


def test_a_run_that_asks_for_the_queue_waits_behind_held_ones(story: Story) -> None:
    held(story)
    assert story.start("fourth", queue=True).status == "queued"
    assert queued(story) == ["second", "third", "fourth"]


def test_a_queue_that_is_empty_is_not_held(story: Story) -> None:
    for run in held(story):
        story.do(c.CancelRun(run_id=run.id))
    assert not story.thread.queue_held
    assert story.thread.status == "idle"
    assert story.start(queue=True).status == "starting"


def test_a_queued_run_can_be_edited_and_sends_the_new_words(story: Story) -> None:
    first = story.go(story.start("first"))
    second = story.start("second")
    story.do(c.EditRun(run_id=second.id, text="better"))
    story.close(first)
    assert story.run(second.id).message == message("better")
    assert story.said("better").run_id == second.id


@pytest.mark.parametrize(
    ("moved", "before", "order"),
    [
        ("c", "a", ["c", "a", "b"]),
        ("a", "c", ["b", "a", "c"]),
        ("a", None, ["b", "c", "a"]),
        ("b", "b", ["a", "b", "c"]),
    ],
)
def test_a_queued_run_moves_before_another_or_to_the_end(
    story: Story, moved: str, before: str | None, order: list[str]
) -> None:
    story.start()
    runs = {text: story.start(text) for text in "abc"}
    story.do(c.ReorderRun(run_id=runs[moved].id, before_run_id=runs[before].id if before else None))
    assert queued(story) == order
    assert [run.queue_position for run in story.state.queued_runs] == [1, 2, 3]


def test_only_the_runs_that_a_moved_one_passes_are_put_anew(story: Story) -> None:
    story.start()
    first, *_, fifth, last = [story.start(text) for text in "abcdef"]
    known = len(story.events)
    story.do(c.ReorderRun(run_id=last.id, before_run_id=fifth.id))
    assert len(story.events) - known == 2
    story.do(c.ReorderRun(run_id=first.id, before_run_id=None))
    assert queued(story) == ["b", "c", "d", "f", "e", "a"]


def test_a_run_queued_after_a_reorder_is_the_last(story: Story) -> None:
    story.start()
    first, _ = story.start("a"), story.start("b")
    story.do(c.ReorderRun(run_id=first.id, before_run_id=None))
    story.start("c")
    assert queued(story) == ["b", "a", "c"]


def test_a_cancelled_run_never_gets_an_ordinal(story: Story) -> None:
    first = story.go(story.start())
    second, third = story.start(), story.start()
    story.do(c.CancelRun(run_id=second.id))
    cancelled = story.run(second.id)
    assert (cancelled.status, cancelled.ordinal, cancelled.queue_position) == ("cancelled", None, None)
    assert cancelled.completed_at is not None
    story.close(first)
    assert story.run(third.id).ordinal == 2


@pytest.mark.parametrize(
    "change",
    [
        lambda run_id: c.EditRun(run_id=run_id, text="other"),
        lambda run_id: c.ReorderRun(run_id=run_id, before_run_id=None),
        lambda run_id: c.CancelRun(run_id=run_id),
    ],
)
def test_only_a_queued_run_can_be_edited_moved_or_cancelled(story: Story, change) -> None:  # type: ignore[no-untyped-def]
    run = story.start()
    error = refusal(story, change(run.id))
    assert (error.kind, error.code, error.data) == ("invalidState", 4004, {"runId": run.id, "status": "starting"})


def test_a_run_is_moved_only_before_a_queued_one(story: Story) -> None:
    active, waiting = story.start(), story.start()
    error = refusal(story, c.ReorderRun(run_id=waiting.id, before_run_id=active.id))
    assert (error.kind, error.data["runId"]) == ("invalidState", active.id)


def test_a_run_that_is_not_there_is_not_found(story: Story) -> None:
    error = refusal(story, c.CancelRun(run_id="run_999999"))
    assert (error.kind, error.code, error.data) == ("runNotFound", 4001, {"runId": "run_999999"})


def test_a_handoff_that_is_not_there_is_not_found(story: Story) -> None:
    error = refusal(story, starting(handoff_ids=("hof_999999",)))
    assert (error.kind, error.code, error.data) == ("handoffNotFound", 4001, {"handoffId": "hof_999999"})


def test_a_handoff_that_was_given_to_a_run_is_not_given_to_another(story: Story) -> None:
    story.close(story.go(story.start(), handoff("hof_1", 1)))
    error = refusal(story, starting(handoff_ids=("hof_1",)))
    assert (error.kind, error.code, error.data) == ("invalidState", 4004, {"handoffId": "hof_1", "status": "ready"})


def test_a_handoff_that_was_rebuilt_is_superseded_by_the_new_one(story: Story) -> None:
    story.do(c.StoreHandoffs(handoffs=(handoff("hof_1", 1),)))
    rebuilt = ReplacedHandoff(from_="hof_1", to="hof_2")
    run = story.start(handoffs=(handoff("hof_2", 1, 2),), handoff_ids=("hof_2",), replaced=(rebuilt,))
    old = story.state.handoffs["hof_1"]
    assert (old.status, old.superseded_by, run.handoff_ids) == ("superseded", "hof_2", ("hof_2",))
    assert refusal(story, starting(handoff_ids=("hof_1",))).data["status"] == "superseded"
