"""Failed, interrupted, cancelled and queued runs, where the next run goes to another provider."""

from pathlib import Path

from scenarios.steps import answer, codes, conversation, handoff_of, received, said, selection, strategy
from support.editor import Editor


async def test_a_queued_run_keeps_its_provider_and_is_planned_when_it_starts(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace, runtime_mode="approvalRequired")
    active = await editor.begin(thread, "run true")
    request = await editor.asked(active)
    queued = await editor.begin(thread, "say: second", "understudy")
    assert queued.status == "queued"
    assert (strategy(queued), codes(queued.plan)) == ("none", ["first_use"])
    await editor.call("provider/switch", thread_id=thread.id, selection=selection("plain"))
    await answer(editor, request)
    done = await editor.ended(queued)
    assert (done.provider, done.selection.provider, done.ordinal) == ("understudy", "understudy", 2)
    assert done.plan is not None
    assert (strategy(done), codes(done.plan), done.plan.run_ordinals) == (
        "full_thread_summary",
        ["first_use", "missed_runs"],
        (1,),
    )
    assert (await editor.read(thread)).thread.selection.provider == "plain"
    handoff = await handoff_of(editor, done)
    assert received(await editor.recall(thread, "understudy"))[:2] == [handoff.sent_text, "say: second"]


async def test_a_provider_that_comes_back_from_the_queue_hears_of_the_runs_before_it(
    editor: Editor, workspace: Path
) -> None:
    thread = await editor.new_thread(workspace)
    await editor.say(thread, "say: one")
    await editor.call("thread/update", thread_id=thread.id, runtime_mode="approvalRequired")
    active = await editor.begin(thread, "say: two\nrun true", "understudy")
    request = await editor.asked(active)
    queued = await editor.begin(thread, "say: three", "rehearsal")
    assert strategy(queued) == "none"
    await answer(editor, request)
    done = await editor.ended(queued)
    assert done.plan is not None
    assert (strategy(done), done.plan.run_ordinals) == ("delta_since_target_last_seen", (2,))


async def test_what_a_failed_run_did_is_handed_over(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    failed = await editor.say(thread, "write half.txt: half done\nfail: provider_error: the service is down")
    assert failed.status == "failed"
    run = await editor.say(thread, "say: go on", "understudy")
    handoff = await handoff_of(editor, run)
    assert handoff.run_ordinals == (1,)
    assert "half.txt" in handoff.sent_text
    assert "the service is down" in handoff.sent_text


async def test_what_an_interrupted_run_did_is_handed_over(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    run = await editor.begin(thread, "write half.txt: half done\nsay: on it\nsleep 600000")
    await editor.until_output(run, "on it")
    await editor.call("run/interrupt", run_id=run.id)
    assert (await editor.ended(run)).status == "interrupted"
    after = await editor.say(thread, "say: go on", "understudy")
    handoff = await handoff_of(editor, after)
    assert handoff.run_ordinals == (1,)
    assert "half.txt" in handoff.sent_text
    assert "on it" in handoff.sent_text


async def test_a_provider_that_failed_before_it_began_is_told_nothing_twice(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    await editor.say(thread, "fail: usage_limit: no quota left")
    other = await editor.say(thread, "say: two", "understudy")
    assert other.status == "completed"
    back = await editor.say(thread, "say: three", "rehearsal")
    assert back.plan is not None
    assert (strategy(back), back.plan.run_ordinals) == ("delta_since_target_last_seen", (2,))
    assert conversation(await editor.read(thread), "rehearsal").native_run_ordinals == (1, 3)


async def test_an_interruption_lets_the_queue_go_on(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    active = await editor.begin(thread, "say: on it\nsleep 600000")
    await editor.until_output(active, "on it")
    queued = await editor.begin(thread, "say: next", "understudy")
    await editor.call("run/interrupt", run_id=active.id)
    done = await editor.ended(queued)
    assert (done.status, done.ordinal) == ("completed", 2)
    assert done.plan is not None
    assert done.plan.run_ordinals == (1,)
    assert (await said(editor, thread, done))[-1] == "next"


async def test_a_run_that_was_taken_back_is_told_to_nobody(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace, runtime_mode="approvalRequired")
    active = await editor.begin(thread, "run true")
    request = await editor.asked(active)
    taken_back = await editor.begin(thread, "say: never mind")
    last = await editor.begin(thread, "say: last", "understudy")
    await editor.call("run/cancel", run_id=taken_back.id)
    await answer(editor, request)
    done = await editor.ended(last)
    assert done.ordinal == 2
    handoff = await handoff_of(editor, done)
    assert handoff.run_ordinals == (1,)
    assert "never mind" not in handoff.sent_text
    assert await editor.items(thread, taken_back) == []
