"""The design's rules for the hard cases, those that other files of this folder do not show."""

import asyncio
from pathlib import Path

import psutil
import pytest

from midstream.protocol.notifications import CheckpointCaptured, HandoffProgress, ThreadEvent
from midstream.protocol.records.handoff import HandoffInfo
from midstream.protocol.records.provider import ProviderThread
from midstream.protocol.records.run import Run
from scenarios.steps import (
    answer,
    codes,
    conversation,
    conversation_of,
    handoff_of,
    mood,
    of_type,
    phases,
    received,
    said,
    selection,
    session_of,
    strategy,
    until_record,
)
from support.editor import Editor, Refused, editor_on, process_gone


def move(folder: Path, target: Path) -> Path:
    """Move a folder and return where it is then."""
    return folder.rename(target)


async def test_acceptance_covers_the_run_its_handoff_and_its_transfer_in_one_step(
    editor: Editor, workspace: Path
) -> None:
    thread = await editor.new_thread(workspace)
    await editor.say(thread, "say: one")
    run = await editor.say(thread, "say: two", "understudy")
    told = [event for event in editor.all_told(ThreadEvent) if event.thread_id == thread.id]
    covered = [
        event.sequence
        for event in told
        if isinstance(event.record, ProviderThread) and event.record.native_run_ordinals == (2,)
    ]
    delivered = [
        event.sequence
        for event in told
        if isinstance(event.record, HandoffInfo)
        and event.record.delivery is not None
        and event.record.delivery.status == "delivered"
    ]
    running = [
        event.sequence
        for event in told
        if isinstance(event.record, Run) and event.record.id == run.id and event.record.status == "running"
    ]
    first = [min(sequences) for sequences in (covered, delivered, running)]
    assert max(first) - min(first) < 6
    items = await editor.items(thread, run)
    (handed,) = of_type(items, "handoff")
    words = of_type(items, "agentMessage")
    assert handed.ordinal < min(item.ordinal for item in words)
    assert [phase for phase in phases(editor, run) if phase != "collecting"] == [
        "deciding",
        "ready",
        "delivering",
        "delivered",
    ]


async def test_steered_words_that_were_never_taken_come_with_the_next_message(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    run = await editor.begin(thread, "say: working\nsleep 600000")
    await editor.until_output(run, "working")
    await editor.call("run/steer", run_id=run.id, text="say: never heard")
    await editor.call("run/interrupt", run_id=run.id)
    assert (await editor.ended(run)).status == "interrupted"
    (_, steered) = of_type(await editor.items(thread, run), "userMessage")
    assert (steered.text, steered.status) == ("say: never heard", "cancelled")
    assert conversation(await editor.read(thread), "rehearsal").missing_item_ids == (steered.id,)

    after = await editor.say(thread, "say: next")
    assert after.plan is not None
    assert (strategy(after), codes(after.plan)) == ("delta_since_target_last_seen", ["missing_items"])
    assert after.provider_thread_id == run.provider_thread_id or run.provider_thread_id is None
    handoff = await handoff_of(editor, after)
    assert "never heard" in handoff.sent_text
    texts = received(await editor.recall(thread, "rehearsal"))
    assert texts[1:3] == [handoff.sent_text, "say: next"]
    assert conversation(await editor.read(thread), "rehearsal").missing_item_ids == ()


async def test_words_steered_right_after_a_restart_reach_the_new_attempt(editor: Editor, workspace: Path) -> None:
    received_by_agent = workspace.with_suffix(".received")
    mood(workspace, "--session-log", str(received_by_agent))
    thread = await editor.new_thread(workspace, "moody")
    run = await editor.begin(thread, "say: working\nsleep 600000")
    await editor.until_output(run, "working")
    session = await session_of(editor, conversation(await editor.read(thread), "moody"))
    agent = psutil.Process(session.pid)
    agent.suspend()
    until_steered = f"""run until grep -q '"method": *"_midstream/steer' {received_by_agent}; do sleep 0.02; done"""
    await editor.begin(thread, until_steered, delivery="restart")
    await editor.call("run/steer", run_id=run.id, text="say: heard by the second")
    agent.resume()
    assert (await editor.ended(run)).status == "completed"
    (_, _, steered) = of_type(await editor.items(thread, run), "userMessage")
    assert (steered.status, steered.attempt) == ("completed", 2)
    assert "heard by the second" in await said(editor, thread, run)
    assert conversation(await editor.read(thread), "moody").missing_item_ids == ()


async def test_a_retry_elsewhere_is_told_what_the_failed_attempt_did_and_the_first_provider_of_the_retry(
    editor: Editor, workspace: Path
) -> None:
    thread = await editor.new_thread(workspace)
    message = "say: begun by the first\nwrite half.txt: half\nfail: usage_limit: no quota left"
    run = await editor.say(thread, message)
    failed_items = {item.id for item in await editor.items(thread, run)}
    answered = await editor.call("run/retry", run_id=run.id, selection=selection("understudy"))
    assert answered.plan.run_ordinals == (1,)
    again = await editor.ended(run)
    assert [attempt.reason for attempt in again.attempts] == ["initial", "retry"]
    handoff = await handoff_of(editor, again)
    assert "half.txt" in handoff.sent_text
    assert "no quota left" in handoff.sent_text
    assert "r1 rehearsal: begun by the first" in handoff.sent_text
    assert "understudy" not in handoff.sent_text
    read = await editor.read(thread)
    first, second = conversation(read, "rehearsal"), conversation(read, "understudy")
    assert (first.native_run_ordinals, second.native_run_ordinals) == ((1,), (1,))
    assert received(await editor.recall(thread, "understudy"))[:2] == [handoff.sent_text, message]

    done_by_retry = {
        item.id
        for item in await editor.items(thread, run)
        if item.id not in failed_items and item.provider_thread_id == second.id and item.type != "handoff"
    }
    assert done_by_retry
    assert done_by_retry <= set(conversation(await editor.read(thread), "rehearsal").missing_item_ids)
    back = await editor.say(thread, "say: back", "rehearsal")
    assert back.plan is not None
    assert (strategy(back), codes(back.plan)) == ("delta_since_target_last_seen", ["missed_runs", "missing_items"])
    assert conversation(await editor.read(thread), "rehearsal").missing_item_ids == ()


async def test_a_run_that_waits_while_nobody_is_there_is_interrupted_after_the_idle_time(
    tmp_path: Path, workspace: Path
) -> None:
    config = {"sessions": {"unattendedMinutes": 0.005}}
    async with editor_on(tmp_path / "data", "--rehearsal", config=config) as editor:
        thread = await editor.new_thread(workspace, runtime_mode="approvalRequired")
        run = await editor.begin(thread, "run touch forbidden.txt")
        request = await editor.asked(run)
        queued = await editor.begin(thread, "say: later")
        assert await editor.vanish() == 0
        await process_gone(editor.daemon_pid())  # with its last run, which waited for nobody
    async with editor_on(tmp_path / "data", "--rehearsal") as editor:
        read = await editor.read(thread)
        assert [(known.id, known.status) for known in read.runs] == [(run.id, "interrupted"), (queued.id, "queued")]
        assert [(known.id, known.status) for known in read.requests] == [(request.id, "expired")]
        assert read.runs[0].interrupt_requested_at is not None
        assert read.thread.queue_held
        assert conversation(read, "rehearsal").native_run_ordinals == (1,)
        assert not (workspace / "forbidden.txt").exists()


async def test_a_provider_that_compacted_its_history_hears_the_standing_constraints_once_more(
    editor: Editor, workspace: Path
) -> None:
    thread = await editor.new_thread(workspace)
    await editor.say(thread, "Never touch kept.txt.\nsay: understood")
    compacting = await editor.say(thread, "compact")
    assert len(of_type(await editor.items(thread, compacting), "compaction")) == 1
    known = conversation(await editor.read(thread), "rehearsal")
    assert (known.native_run_ordinals, known.compacted) == ((1, 2), True)
    run = await editor.say(thread, "say: three")
    assert run.plan is not None
    assert (strategy(run), run.plan.run_ordinals) == ("delta_since_target_last_seen", ())
    assert run.provider_thread_id == known.id
    handoff = await handoff_of(editor, run)
    assert "Never touch kept.txt." in handoff.sent_text
    assert "understood" not in handoff.sent_text
    after = await editor.say(thread, "say: four")
    assert (strategy(after), after.handoff_ids) == ("none", ())
    texts = received(await editor.recall(thread, "rehearsal"))
    assert sum("Never touch kept.txt." in text for text in texts) == 1


async def test_a_provider_that_compacted_and_missed_runs_is_told_both_in_one_handoff(
    editor: Editor, workspace: Path
) -> None:
    thread = await editor.new_thread(workspace)
    await editor.say(thread, "Never touch kept.txt.\nsay: understood\ncompact")
    await editor.say(thread, "write b.txt: two", "understudy")
    run = await editor.say(thread, "say: three", "rehearsal")
    assert run.plan is not None
    assert (strategy(run), run.plan.run_ordinals, len(run.handoff_ids)) == ("delta_since_target_last_seen", (2,), 1)
    sent = (await handoff_of(editor, run)).sent_text
    assert "Never touch kept.txt." in sent
    assert "b.txt" in sent
    assert not conversation(await editor.read(thread), "rehearsal").compacted


async def test_a_previewed_handoff_that_a_run_names_is_sent_as_it_is(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    await editor.say(thread, "say: one")
    previewed = await editor.call("handoff/preview", thread_id=thread.id, selection=selection("understudy"))
    (handoff,) = previewed.handoffs
    assert (handoff.status, handoff.target_run_id, handoff.delivery) == ("ready", None, None)
    assert handoff.sections
    answered = await editor.call(
        "run/start",
        thread_id=thread.id,
        message={"text": "say: two"},
        selection=selection("understudy"),
        handoff_ids=[handoff.id],
    )
    assert answered.replaced_handoffs == ()
    run = await editor.ended(answered.run)
    assert run.handoff_ids == (handoff.id,)
    assert received(await editor.recall(thread, "understudy"))[:2] == [handoff.sent_text, "say: two"]
    assert len((await editor.read(thread)).handoffs) == 1


async def test_a_previewed_handoff_is_rebuilt_when_the_thread_has_moved_on(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    await editor.say(thread, "say: one")
    previewed = await editor.call("handoff/preview", thread_id=thread.id, selection=selection("understudy"))
    (old,) = previewed.handoffs
    await editor.say(thread, "say: two", "rehearsal")
    answered = await editor.call(
        "run/start",
        thread_id=thread.id,
        message={"text": "say: three"},
        selection=selection("understudy"),
        handoff_ids=[old.id],
    )
    (replaced,) = answered.replaced_handoffs
    assert replaced.from_ == old.id
    run = await editor.ended(answered.run)
    assert run.handoff_ids == (replaced.to,)
    handoff = await handoff_of(editor, run)
    assert handoff.run_ordinals == (1, 2)
    read = await editor.read(thread)
    standing = {known.id: (known.status, known.superseded_by) for known in read.handoffs}
    assert standing[old.id] == ("superseded", replaced.to)
    assert old.sent_text not in received(await editor.recall(thread, "understudy"))


async def test_a_handoff_serves_one_run_only(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    await editor.say(thread, "say: one")
    run = await editor.say(thread, "say: two", "understudy")
    with pytest.raises(Refused) as refused:
        await editor.begin(thread, "say: three", "understudy", handoff_ids=[run.context_handoff_id])
    assert (refused.value.code, refused.value.kind) == (4004, "invalidState")
    with pytest.raises(Refused) as refused:
        await editor.begin(thread, "say: three", "understudy", handoff_ids=["hof_none"])
    assert (refused.value.code, refused.value.kind) == (4001, "handoffNotFound")


async def test_a_thread_whose_workspace_is_gone_can_be_read_and_goes_on_when_it_is_back(
    editor: Editor, workspace: Path
) -> None:
    thread = await editor.new_thread(workspace)
    run = await editor.say(thread, "write a.txt: one")
    before = await editor.read(thread)
    moved = move(workspace, workspace.with_name("elsewhere"))
    for ask in (editor.begin(thread, "say: two"), editor.begin(thread, "say: two", "understudy")):
        with pytest.raises(Refused) as refused:
            await ask
        assert (refused.value.code, refused.value.kind) == (4006, "workspaceInvalid")
        assert refused.value.data["workspace"] == thread.workspace
    assert (await editor.read(thread)).runs == before.runs
    assert of_type(await editor.items(thread, run), "fileChange")
    file = await editor.call("checkpoint/file", checkpoint_id=run.checkpoint_id, path="a.txt")
    assert file.content.strip() == "one"
    move(moved, workspace)
    assert (await editor.say(thread, "say: two")).status == "completed"


async def test_a_queued_run_whose_workspace_went_away_fails_and_says_why(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace, runtime_mode="approvalRequired")
    active = await editor.begin(thread, "run true")
    request = await editor.asked(active)
    queued = await editor.begin(thread, "say: later")
    move(workspace, workspace.with_name("elsewhere"))
    await answer(editor, request, "decline")
    await editor.ended(active)
    failed = await editor.ended(queued)
    assert failed.status == "failed"
    assert failed.failure is not None
    assert failed.failure.class_ == "validation_error"
    assert "workspace" in failed.failure.message.lower()


async def test_of_two_answers_at_once_the_first_counts(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace, runtime_mode="approvalRequired")
    run = await editor.begin(thread, "run touch allowed.txt")
    request = await editor.asked(run)
    first, second = await asyncio.gather(
        editor.call("request/respond", request_id=request.id, decision="accept"),
        editor.call("request/respond", request_id=request.id, decision="decline"),
        return_exceptions=True,
    )
    assert not isinstance(first, BaseException)
    assert (first.request.status, first.request.decision) == ("resolved", "accept")
    assert isinstance(second, Refused)
    assert (second.code, second.kind) == (4004, "invalidState")
    assert second.data["request"]["decision"] == "accept"
    assert (await editor.ended(run)).status == "completed"
    assert (workspace / "allowed.txt").exists()


async def test_of_two_messages_at_once_the_second_waits(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    first, second = await asyncio.gather(editor.begin(thread, "say: one"), editor.begin(thread, "say: two"))
    assert [(run.status, run.ordinal) for run in (first, second)] == [("starting", 1), ("queued", None)]
    assert [(await editor.ended(run)).ordinal for run in (first, second)] == [1, 2]


async def test_of_two_retries_at_once_the_second_is_told_what_is(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    run = await editor.say(thread, "say: working\nfail: no more")
    first, second = await asyncio.gather(
        editor.call("run/retry", run_id=run.id), editor.call("run/retry", run_id=run.id), return_exceptions=True
    )
    assert not isinstance(first, BaseException)
    assert isinstance(second, Refused)
    assert (second.code, second.kind) == (4004, "invalidState")
    assert second.data["status"] in ("starting", "running")
    ended = await editor.ended(run)
    assert [attempt.status for attempt in ended.attempts] == ["failed", "failed"]


async def test_threads_that_share_a_workspace_have_checkpoints_of_their_own_and_overlaps_are_marked(
    editor: Editor, workspace: Path
) -> None:
    one = await editor.new_thread(workspace, runtime_mode="approvalRequired")
    other = await editor.new_thread(workspace)
    waiting = await editor.begin(one, "run true")
    request = await editor.asked(waiting)
    beside = await editor.say(other, "write beside.txt: x")
    await answer(editor, request)
    ended = await editor.ended(waiting)
    for thread, run in ((one, ended), (other, beside)):
        told = await editor.until(lambda n, run=run: isinstance(n, CheckpointCaptured) and n.run_id == run.id)
        assert isinstance(told, CheckpointCaptured)
        assert (told.checkpoint.thread_id, told.checkpoint.mixed) == (thread.id, True)
    alone = await editor.say(other, "write alone.txt: x")
    (record,) = [known for known in (await editor.read(other)).checkpoints if known.id == alone.checkpoint_id]
    assert not record.mixed


async def test_a_run_interrupted_before_its_agent_answers_leaves_neither_message_nor_process(
    editor: Editor, workspace: Path
) -> None:
    thread = await editor.new_thread(workspace, "moody")
    mood(workspace, "--start-delay", "600000")
    run = await editor.begin(thread, "say: never sent")
    await editor.until(lambda n: isinstance(n, HandoffProgress) and n.run_id == run.id)
    await editor.call("run/interrupt", run_id=run.id)
    assert (await editor.ended(run)).status == "interrupted"
    assert (await editor.read(thread)).provider_threads == ()
    assert not [child for child in psutil.Process(editor.daemon_pid()).children() if str(workspace) in _folder(child)]
    mood(workspace)
    after = await editor.say(thread, "say: next")
    assert after.plan is not None
    assert (after.status, after.plan.run_ordinals) == ("completed", (1,))
    assert "never sent" in (await handoff_of(editor, after)).sent_text


def _folder(process: psutil.Process) -> str:
    try:
        return process.cwd()
    except psutil.Error:
        return ""


async def test_late_news_of_an_agent_whose_run_is_over_changes_nothing(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    run = await editor.say(thread, "say: one")
    await until_record(editor, thread, lambda r: isinstance(r, Run) and r.id == run.id and r.status == "completed")
    for method, params in (
        ("run/interrupt", {"run_id": run.id}),
        ("run/steer", {"run_id": run.id, "text": "late"}),
        ("run/cancel", {"run_id": run.id}),
        ("run/retry", {"run_id": run.id}),
    ):
        with pytest.raises(Refused) as refused:
            await editor.call(method, **params)
        assert (refused.value.kind, refused.value.data["status"]) == ("invalidState", "completed")
    assert (await editor.ended(run)) == run
    assert conversation_of(await editor.read(thread), run).native_run_ordinals == (1,)
