"""What agents ask, and the ways in which a user answers."""

from pathlib import Path
from typing import Any

import pytest

from midstream.protocol.notifications import RequestClosed, RequestOpened
from midstream.protocol.records.run import Run
from midstream.protocol.records.thread import Thread
from support import bad_agent_file
from support.editor import Editor, Refused, command_id, editor_on


@pytest.fixture
async def asking(editor: Editor, workspace: Path) -> Thread:
    """A thread whose agent asks before it does anything."""
    return await editor.new_thread(workspace, runtime_mode="approvalRequired")


async def refused(editor: Editor, **params: Any) -> Refused:
    """Give an answer that must be refused."""
    with pytest.raises(Refused) as caught:
        await editor.call("request/respond", **params)
    return caught.value


async def said(editor: Editor, thread: Thread, run: Run) -> list[str]:
    """Return what the agent said in a run."""
    return [item.text for item in await editor.items(thread, run) if item.type == "agentMessage"]


async def test_an_accepted_command_is_run_and_the_answer_is_told(
    editor: Editor, asking: Thread, workspace: Path
) -> None:
    run = await editor.begin(asking, "run touch made.txt")
    request = await editor.asked(run)
    assert (request.kind, request.status, request.thread_id) == ("command", "pending", asking.id)
    assert request.detail.command == "touch made.txt"
    assert [option.decision for option in request.options] == ["accept", "acceptForSession", "decline"]
    await editor.until_run(run, "waiting")
    assert not (workspace / "made.txt").exists()
    answered = (await editor.call("request/respond", request_id=request.id, decision="accept")).request
    assert (answered.id, answered.status, answered.decision) == (request.id, "resolved", "accept")
    assert answered.resolved_at is not None
    assert (await editor.ended(run)).status == "completed"
    assert (workspace / "made.txt").exists()
    assert [n.request for n in editor.all_told(RequestOpened)] == [request]
    assert [n.request for n in editor.all_told(RequestClosed)] == [answered]
    items = {item.type: item for item in await editor.items(asking, run)}
    approval = items["approval"]
    assert (approval.request_id, approval.decision, approval.status) == (request.id, "accept", "completed")
    assert approval.id == request.item_id
    assert items["command"].id == request.target_item_id
    assert (await editor.read(asking)).requests == (answered,)


async def test_what_is_accepted_for_the_session_is_not_asked_again(
    editor: Editor, asking: Thread, workspace: Path
) -> None:
    run = await editor.begin(asking, "run touch one.txt\nrun touch two.txt")
    request = await editor.asked(run)
    await editor.call("request/respond", request_id=request.id, decision="acceptForSession")
    assert (await editor.ended(run)).status == "completed"
    assert len(editor.all_told(RequestOpened)) == 1
    assert (workspace / "one.txt").exists()
    assert (workspace / "two.txt").exists()


async def test_what_is_accepted_once_is_asked_again(editor: Editor, asking: Thread) -> None:
    run = await editor.begin(asking, "run true\nrun true")
    first = await editor.asked(run)
    await editor.call("request/respond", request_id=first.id, decision="accept")
    second = await editor.until(lambda n: isinstance(n, RequestOpened) and n.request.id != first.id)
    assert isinstance(second, RequestOpened)
    await editor.call("request/respond", request_id=second.request.id, decision="accept")
    assert (await editor.ended(run)).status == "completed"


async def test_a_declined_command_is_not_run_and_the_agent_goes_on(
    editor: Editor, asking: Thread, workspace: Path
) -> None:
    run = await editor.begin(asking, "run touch never.txt\nsay: went on")
    request = await editor.asked(run)
    await editor.call("request/respond", request_id=request.id, decision="decline")
    assert (await editor.ended(run)).status == "completed"
    assert await said(editor, asking, run) == ["went on"]
    assert not (workspace / "never.txt").exists()


async def test_a_cancelled_request_ends_the_turn(editor: Editor, asking: Thread, workspace: Path) -> None:
    run = await editor.begin(asking, "run touch never.txt\nsay: went on")
    request = await editor.asked(run)
    answered = (await editor.call("request/respond", request_id=request.id, decision="cancel")).request
    assert answered.decision == "cancel"
    assert (await editor.ended(run)).status == "interrupted"
    assert await said(editor, asking, run) == []
    assert not (workspace / "never.txt").exists()


async def test_an_option_is_chosen_by_its_id(editor: Editor, asking: Thread, workspace: Path) -> None:
    run = await editor.begin(asking, "write made.txt: made")
    request = await editor.asked(run)
    assert request.kind == "fileChange"
    assert [change.path for change in request.detail.changes or ()] == ["made.txt"]
    for params, path in (
        ({"option_id": "no-such-option"}, "optionId"),
        ({}, "decision"),
        ({"message": "only words"}, "decision"),
    ):
        error = await refused(editor, request_id=request.id, **params)
        assert (error.code, error.data["path"]) == (-32602, path)
    option = next(option for option in request.options if option.decision == "acceptForSession")
    answered = (await editor.call("request/respond", request_id=request.id, option_id=option.option_id)).request
    assert answered.decision == "acceptForSession"
    assert (await editor.ended(run)).status == "completed"
    assert (workspace / "made.txt").read_text().strip() == "made"


async def test_a_decision_that_several_options_mean_needs_the_options_id(tmp_path: Path, workspace: Path) -> None:
    options = [
        {"optionId": "yes-a", "name": "Yes, with care", "kind": "allow_once"},
        {"optionId": "yes-b", "name": "Yes, quickly", "kind": "allow_once"},
        {"optionId": "no", "name": "No", "kind": "reject_once"},
    ]
    call = {"toolCallId": "call-1", "title": "Deploy", "kind": "execute", "rawInput": {"command": "deploy"}}
    asking = {
        "id": 71,
        "method": "session/request_permission",
        "params": {"sessionId": "s1", "toolCall": call, "options": options},
    }
    script = {"session/prompt": [{"send": asking}, {"wait": "answer"}, {"answer": {"stopReason": "end_turn"}}]}
    config = {"providers": {"picky": bad_agent_file.provider(tmp_path / "picky", script)}}
    async with editor_on(tmp_path / "data", config=config) as editor:
        thread = await editor.new_thread(workspace, "picky")
        run = await editor.begin(thread, "Deploy.")
        request = await editor.asked(run)
        assert [(o.option_id, o.decision, o.label) for o in request.options] == [
            ("yes-a", "accept", "Yes, with care"),
            ("yes-b", "accept", "Yes, quickly"),
            ("no", "decline", "No"),
        ]
        for decision, path in (("accept", "optionId"), ("acceptForSession", "decision")):
            error = await refused(editor, request_id=request.id, decision=decision)
            assert (error.code, error.data["path"]) == (-32602, path)
        await editor.call("request/respond", request_id=request.id, option_id="yes-b")
        assert (await editor.ended(run)).status == "completed"
        (answer,) = [m for m in bad_agent_file.received(tmp_path / "picky") if m.get("id") == 71]
        assert answer["result"]["outcome"] == {"outcome": "selected", "optionId": "yes-b"}


async def test_a_question_is_answered_in_the_users_own_words(editor: Editor, asking: Thread) -> None:
    run = await editor.begin(asking, "ask: Which colour?")
    request = await editor.asked(run)
    assert (request.kind, request.prompt, request.options) == ("userInput", "Which colour?", ())
    (question,) = request.questions or ()
    assert (question.text, question.free_text) == ("Which colour?", True)
    assert [option.label for option in question.options] == ["Yes", "No"]
    answers = [{"questionId": question.id, "values": ["deep blue 🌊"]}]
    answered = (await editor.call("request/respond", request_id=request.id, answers=answers)).request
    assert [(answer.question_id, answer.values) for answer in answered.answers or ()] == [
        (question.id, ("deep blue 🌊",))
    ]
    assert (await editor.ended(run)).status == "completed"
    assert await said(editor, asking, run) == ["Answer: deep blue 🌊"]
    (item,) = [item for item in await editor.items(asking, run) if item.type == "question"]
    assert (item.request_id, item.answers, item.status) == (request.id, answered.answers, "completed")


async def test_a_question_can_be_left_unanswered(editor: Editor, asking: Thread) -> None:
    run = await editor.begin(asking, "ask: Which colour?\nsay: went on")
    request = await editor.asked(run)
    await editor.call("request/respond", request_id=request.id, decision="cancel")
    assert (await editor.ended(run)).status == "interrupted"


async def test_pending_requests_are_listed_for_one_thread_and_for_all(
    editor: Editor, asking: Thread, workspace: Path
) -> None:
    other = await editor.new_thread(workspace, "understudy", runtime_mode="approvalRequired")
    requests = [
        await editor.asked(await editor.begin(asking, "run true")),
        await editor.asked(await editor.begin(other, "run true")),
    ]
    assert (await editor.call("request/list")).requests == tuple(requests)
    for thread, request in zip((asking, other), requests, strict=True):
        assert (await editor.call("request/list", thread_id=thread.id)).requests == (request,)
    await editor.call("request/respond", request_id=requests[0].id, decision="accept")
    assert (await editor.call("request/list")).requests == (requests[1],)
    await editor.call("request/respond", request_id=requests[1].id, decision="accept")
    assert (await editor.call("request/list")).requests == ()


async def test_a_request_answered_twice_is_4004_with_the_request(editor: Editor, asking: Thread) -> None:
    run = await editor.begin(asking, "run true")
    request = await editor.asked(run)
    once = command_id()
    first = await editor.call("request/respond", request_id=request.id, decision="accept", command_id=once)
    error = await refused(editor, request_id=request.id, decision="decline")
    assert (error.code, error.kind, error.data["status"]) == (4004, "invalidState", "resolved")
    assert (error.data["request"]["id"], error.data["request"]["decision"]) == (request.id, "accept")
    again = await editor.call("request/respond", request_id=request.id, decision="accept", command_id=once)
    assert again == first
    assert (await editor.ended(run)).status == "completed"
    assert len(editor.all_told(RequestClosed)) == 1


async def test_an_interrupt_takes_the_request_back(editor: Editor, asking: Thread) -> None:
    run = await editor.begin(asking, "run true")
    request = await editor.asked(run)
    await editor.call("run/interrupt", run_id=run.id)
    assert (await editor.ended(run)).status == "interrupted"
    (closed,) = editor.all_told(RequestClosed)
    assert (closed.request.id, closed.request.status) == (request.id, "cancelled")
    error = await refused(editor, request_id=request.id, decision="accept")
    assert (error.code, error.kind) == (4005, "requestNotResumable")
    assert (await editor.call("request/list")).requests == ()
