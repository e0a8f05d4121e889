"""What a user does with runs: queueing, steering, interrupting, restarting, retrying."""

from pathlib import Path

import pytest

from support.editor import Editor, Refused, command_id, editor_on, providers


async def said(editor: Editor, thread, run) -> list[str]:
    return [item.text for item in await editor.items(thread, run) if item.type == "agentMessage"]


async def test_a_message_sent_while_a_run_is_active_waits_for_its_end(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace, runtime_mode="approvalRequired")
    active = await editor.begin(thread, "run true")
    request = await editor.asked(active)
    queued = await editor.begin(thread, "say: second")
    assert (queued.status, queued.ordinal, queued.queue_position) == ("queued", None, 1)
    await editor.call("request/respond", request_id=request.id, decision="accept")
    assert (await editor.ended(active)).ordinal == 1
    done = await editor.ended(queued)
    assert (done.status, done.ordinal) == ("completed", 2)


async def test_queued_runs_are_edited_reordered_and_cancelled(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace, runtime_mode="approvalRequired")
    active = await editor.begin(thread, "run true")
    request = await editor.asked(active)
    one, two, three = [await editor.begin(thread, f"say: {name}") for name in ("one", "two", "three")]
    await editor.call("run/edit", run_id=two.id, text="say: changed")
    await editor.call("run/reorder", run_id=three.id, before_run_id=one.id)
    cancelled = (await editor.call("run/cancel", run_id=one.id)).run
    assert cancelled.status == "cancelled"
    await editor.call("request/respond", request_id=request.id, decision="accept")
    assert [(await editor.ended(run)).ordinal for run in (three, two)] == [2, 3]
    assert (await said(editor, thread, two)) == ["changed"]
    with pytest.raises(Refused) as refused:
        await editor.call("run/edit", run_id=two.id, text="late")
    assert (refused.value.code, refused.value.kind, refused.value.data["status"]) == (4004, "invalidState", "completed")


async def test_a_run_is_interrupted_only_once_its_agent_says_so(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    run = await editor.begin(thread, "say: working\nsleep 600000")
    await editor.until_output(run, "working")
    answer = (await editor.call("run/interrupt", run_id=run.id)).run
    assert answer.status == "running"
    assert answer.interrupt_requested_at is not None
    ended = await editor.ended(run)
    assert ended.status == "interrupted"
    assert "working" in (await said(editor, thread, run))
    with pytest.raises(Refused) as refused:
        await editor.call("run/interrupt", run_id=run.id)
    assert refused.value.kind == "invalidState"


async def test_steered_words_reach_the_running_turn(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    run = await editor.begin(thread, "say: working\nrun until [ -e steered ]; do sleep 0.02; done\nsay: end")
    await editor.until_run(run, "running")
    await editor.call("run/steer", run_id=run.id, text="say: steered")
    (workspace / "steered").touch()
    assert (await editor.ended(run)).status == "completed"
    messages = [item for item in await editor.items(thread, run) if item.type == "userMessage"]
    assert [(item.text, item.intent) for item in messages][1] == ("say: steered", "steer")


async def test_a_restart_goes_on_as_a_new_attempt_of_the_same_run(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    run = await editor.begin(thread, "say: first way\nsleep 600000")
    await editor.until_output(run, "first way")
    again = await editor.begin(thread, "say: second way", delivery="restart")
    assert again.id == run.id
    ended = await editor.ended(run)
    assert ended.status == "completed"
    assert [(a.reason, a.status) for a in ended.attempts] == [
        ("initial", "superseded"),
        ("steering_restart", "completed"),
    ]
    assert await said(editor, thread, run) == ["first way", "second way"]


async def test_a_failed_run_is_retried_as_a_new_attempt(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    run = await editor.say(thread, "fail: usage_limit: no quota left")
    assert run.status == "failed"
    assert run.failure is not None
    assert run.failure.class_ == "usage_limit"
    queued = await editor.call("run/retry", run_id=run.id, selection={"provider": "understudy", "model": None})
    assert queued.plan.strategy == "full_thread_summary"
    again = await editor.ended(run)
    assert [attempt.reason for attempt in again.attempts] == ["initial", "retry"]
    assert again.provider == "understudy"
    assert again.ordinal == 1


async def test_a_failed_run_holds_what_is_queued_behind_it(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace, runtime_mode="approvalRequired")
    run = await editor.begin(thread, "run true\nfail: usage_limit: no quota left")
    request = await editor.asked(run)
    queued = await editor.begin(thread, "say: later")
    await editor.call("request/respond", request_id=request.id, decision="accept")
    assert (await editor.ended(run)).status == "failed"
    read = await editor.read(thread)
    assert (read.thread.queue_held, read.thread.status) == (True, "queued")
    ahead = await editor.say(thread, "say: ahead of the held ones")
    assert ahead.ordinal == 2
    await editor.call("queue/resume", thread_id=thread.id)
    assert (await editor.ended(queued)).ordinal == 3


async def test_a_command_id_gives_the_first_answer_and_does_nothing_twice(tmp_path: Path, workspace: Path) -> None:
    once = command_id()
    async with editor_on(tmp_path / "data", "--rehearsal") as editor:
        thread = await editor.new_thread(workspace)
        first = await editor.begin(thread, "say: once", command_id=once)
        await editor.ended(first)
        again = await editor.begin(thread, "say: once", command_id=once)
        assert again == first
        with pytest.raises(Refused) as refused:
            await editor.begin(thread, "say: something else", command_id=once)
        assert (refused.value.code, refused.value.kind) == (4008, "commandIdConflict")
    async with editor_on(tmp_path / "data", "--rehearsal") as editor:
        assert await editor.begin(thread, "say: once", command_id=once) == first
        assert len((await editor.read(thread)).runs) == 1


async def test_steering_an_agent_that_cannot_be_steered_is_refused(tmp_path: Path, workspace: Path) -> None:
    config = {"providers": providers("deaf", flags=["--no-steer"])}
    async with editor_on(tmp_path / "data", config=config) as editor:
        thread = await editor.new_thread(workspace, "deaf")
        run = await editor.begin(thread, "say: working\nsleep 600000")
        await editor.until_output(run, "working")
        with pytest.raises(Refused) as refused:
            await editor.call("run/steer", run_id=run.id, text="say: steered")
        assert (refused.value.code, refused.value.data["capability"]) == (4003, "steer")
        await editor.call("run/interrupt", run_id=run.id)
        await editor.ended(run)
