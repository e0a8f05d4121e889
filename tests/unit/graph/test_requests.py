"""What agents ask, and what the user answers."""

from typing import Any

import attrs
import pytest

from midstream.protocol.errors import InvalidParams
from midstream.protocol.records.request import Answer, RuntimeRequest
from midstream.protocol.records.run import Run
from midstream.server.graph import commands as c
from midstream.server.graph.effects import AnswerRequest, InterruptTurn
from support.graph import ALWAYS, NO, YES, Story, command, permission, question, refusal


@pytest.fixture
def run(story: Story) -> Run:
    return story.go(story.start())


def ask(story: Story, run: Run, *options: Any) -> c.ObservedRequest:
    asked = permission(story, run, *options)
    story.hear(run, asked)
    return asked


def responding(request_id: str, **answer: Any) -> c.RespondRequest:
    fields: dict[str, Any] = {"option_id": None, "decision": None, "answers": None, "message": None}
    return c.RespondRequest(request_id=request_id, **fields | answer)


def test_a_run_waits_while_its_agent_asks(story: Story, run: Run) -> None:
    asked = ask(story, run, YES, NO)
    assert (story.run(run.id).status, story.thread.status) == ("waiting", "waiting")
    assert [request.id for request in story.state.pending_requests] == [asked.request.id]
    assert story.request(asked.request).created_at != ""
    assert story.item(asked.item).status == "waiting"


def test_an_answer_by_an_option_lets_the_run_go_on(story: Story, run: Run) -> None:
    asked = ask(story, run, YES, NO)
    decision = story.respond(asked.request, option_id="no")
    request = story.request(asked.request)
    assert (request.status, request.decision, decision.answer) == ("resolved", "decline", request)
    assert (story.item(asked.item).status, story.item(asked.item).decision) == ("completed", "decline")  # type: ignore[union-attr]
    assert decision.effects == (AnswerRequest(run_id=run.id, request_id=request.id, option_id="no"),)
    assert (story.run(run.id).status, story.thread.status) == ("running", "running")


def test_an_answer_by_a_decision_finds_its_option(story: Story, run: Run) -> None:
    asked = ask(story, run, YES, ALWAYS, NO)
    story.respond(asked.request, decision="acceptForSession")
    assert story.asked(AnswerRequest)[-1].option_id == "always"


def test_declining_needs_no_option(story: Story, run: Run) -> None:
    asked = ask(story, run, YES)
    story.respond(asked.request, decision="cancel")
    assert story.request(asked.request).decision == "cancel"
    assert story.asked(AnswerRequest)[-1].option_id is None


@pytest.mark.parametrize(
    ("options", "answer", "path"),
    [
        ((YES, NO), {"option_id": "maybe"}, "optionId"),
        ((YES, YES), {"decision": "accept"}, "optionId"),
        ((NO,), {"decision": "accept"}, "decision"),
        ((YES,), {"decision": "acceptForSession"}, "decision"),
        ((YES,), {}, "decision"),
    ],
)
def test_a_choice_that_there_is_not_is_refused_and_the_run_waits_on(
    story: Story, run: Run, options: Any, answer: Any, path: str
) -> None:
    asked = ask(story, run, *options)
    with pytest.raises(InvalidParams) as refused:
        story.do(responding(asked.request.id, **answer))
    assert refused.value.path == path
    assert story.run(run.id).status == "waiting"
    assert story.request(asked.request).status == "pending"


def test_an_answer_to_a_question_that_was_not_asked_is_refused(story: Story, run: Run) -> None:
    asked = question(story, run)
    story.hear(run, asked)
    with pytest.raises(InvalidParams) as refused:
        story.respond(asked.request, answers=(Answer(question_id="other", values=("this",)),))
    assert refused.value.path == "answers[0].questionId"
    assert story.request(asked.request).status == "pending"


def test_a_question_is_answered_with_answers(story: Story, run: Run) -> None:
    asked = question(story, run)
    story.hear(run, asked)
    answers = (Answer(question_id="q", values=("this",)),)
    story.respond(asked.request, answers=answers)
    assert (story.request(asked.request).answers, story.request(asked.request).decision) == (answers, "accept")
    assert story.item(asked.item).answers == answers  # type: ignore[union-attr]


def test_a_run_waits_until_all_is_answered(story: Story, run: Run) -> None:
    first, second = ask(story, run, YES), ask(story, run, YES)
    story.respond(first.request, "yes")
    assert story.run(run.id).status == "waiting"
    story.respond(second.request, "yes")
    assert story.run(run.id).status == "running"


@pytest.mark.parametrize("end", ["answered", "withdrawn"])
def test_what_was_asked_about_waits_no_longer_than_that(story: Story, run: Run, end: str) -> None:
    story.hear(run, c.ObservedItem(item=command("itm_make", run, status="waiting")))
    asked = [permission(story, run, YES) for _ in range(2)]
    about = [attrs.evolve(one, request=attrs.evolve(one.request, target_item_id="itm_make")) for one in asked]
    story.hear(run, *about)

    def close(request: RuntimeRequest) -> None:
        if end == "answered":
            story.respond(request, "yes")
        else:
            story.hear(run, c.ObservedWithdrawal(request_id=request.id))

    close(about[0].request)
    assert story.items()["itm_make"].status == "waiting"
    close(about[1].request)
    assert story.items()["itm_make"].status == "running"


def test_a_request_is_answered_once(story: Story, run: Run) -> None:
    asked = ask(story, run, YES, NO)
    story.respond(asked.request, "yes")
    error = refusal(story, responding(asked.request.id, option_id="no"))
    assert (error.kind, error.code, error.data["status"]) == ("invalidState", 4004, "resolved")
    assert error.data["request"] == story.request(asked.request)


def test_a_request_that_is_not_there_is_not_found(story: Story) -> None:
    error = refusal(story, responding("req_999999", decision="accept"))
    assert (error.kind, error.code, error.data) == ("requestNotFound", 4001, {"requestId": "req_999999"})


def test_a_withdrawn_request_lets_the_run_go_on_and_takes_no_answer(story: Story, run: Run) -> None:
    asked = ask(story, run, YES)
    story.hear(run, c.ObservedWithdrawal(request_id=asked.request.id))
    assert (story.request(asked.request).status, story.item(asked.item).status) == ("cancelled", "cancelled")
    assert story.run(run.id).status == "running"
    error = refusal(story, responding(asked.request.id, option_id="yes"))
    assert (error.kind, error.code, error.data["status"]) == ("requestNotResumable", 4005, "cancelled")


def test_an_answered_request_is_not_withdrawn(story: Story, run: Run) -> None:
    asked = ask(story, run, YES)
    story.respond(asked.request, "yes")
    story.hear(run, c.ObservedWithdrawal(request_id=asked.request.id))
    assert story.request(asked.request).status == "resolved"


def test_a_run_that_waits_for_nobody_is_interrupted_and_its_request_expires(story: Story, run: Run) -> None:
    asked = ask(story, run, YES)
    waiting = story.start("Next.")
    decision = story.do(c.ExpireRequests(run_id=run.id))
    assert story.request(asked.request).status == "expired"
    assert story.run(run.id).interrupt_requested_at is not None
    assert decision.effects == (InterruptTurn(run_id=run.id, attempt=1),)
    error = refusal(story, responding(asked.request.id, option_id="yes"))
    assert (error.kind, error.code, error.data["status"]) == ("requestNotResumable", 4005, "expired")
    story.close(run, "interrupted")
    assert story.thread.queue_held
    assert story.run(waiting.id).status == "queued"


def test_a_run_that_does_not_wait_does_not_expire(story: Story, run: Run) -> None:
    assert story.ignores(c.ExpireRequests(run_id=run.id))
    assert story.ignores(c.ExpireRequests(run_id="run_999999"))
