"""Agents that die on the way of a run: what counts as covered, and what a retry sends."""

from pathlib import Path

import psutil
import pytest

from midstream.protocol.records.provider import ProviderSession, ProviderThread
from scenarios.steps import (
    codes,
    conversation,
    conversation_of,
    handoff_of,
    mood,
    of_type,
    received,
    said,
    selection,
    session_of,
    until_record,
)
from support.editor import Editor, process_gone


@pytest.mark.parametrize("phase", ["initialize", "new"])
async def test_an_agent_that_dies_before_it_takes_the_turn_has_nothing_and_is_sent_the_same_bytes_again(
    editor: Editor, workspace: Path, phase: str
) -> None:
    thread = await editor.new_thread(workspace)
    await editor.say(thread, "write a.txt: one")
    mood(workspace, "--crash-on", phase)
    run = await editor.say(thread, "say: two", "moody")
    assert run.status == "failed"
    assert run.failure is not None
    assert (run.failure.class_, run.failure.retryable) == ("transport_error", True)
    read = await editor.read(thread)
    assert all(
        known.native_run_ordinals == () and known.handoff_ids == ()
        for known in read.provider_threads
        if known.provider == "moody"
    )
    first = await handoff_of(editor, run)
    assert (first.run_ordinals, first.status) == ((1,), "ready")
    assert first.delivery is None or first.delivery.status == "pending"
    assert of_type(await editor.items(thread, run), "handoff") == []

    mood(workspace)
    await editor.call("run/retry", run_id=run.id)
    again = await editor.ended(run)
    assert again.status == "completed"
    assert [attempt.reason for attempt in again.attempts] == ["initial", "retry"]
    second = await handoff_of(editor, again)
    assert second.id == first.id
    assert second.sent_text == first.sent_text
    assert second.delivery is not None
    assert second.delivery.status == "delivered"
    known = conversation_of(await editor.read(thread), again)
    assert (known.native_run_ordinals, known.handoff_ids) == ((2,), (first.id,))
    assert len(of_type(await editor.items(thread, run), "handoff")) == 1
    assert received(await editor.recall(thread, "moody"))[:2] == [first.sent_text, "say: two"]


async def test_an_agent_that_dies_while_it_resumes_is_resumed_by_the_retry_with_the_same_delta(
    editor: Editor, workspace: Path
) -> None:
    thread = await editor.new_thread(workspace, "moody")
    first = await editor.say(thread, "say: one")
    await editor.say(thread, "crash")
    await until_record(
        editor, thread, lambda r: isinstance(r, ProviderThread) and r.provider == "moody" and r.status == "not_loaded"
    )
    await editor.say(thread, "write b.txt: three", "rehearsal")
    mood(workspace, "--crash-on", "resume")
    failed = await editor.say(thread, "say: four", "moody")
    assert failed.status == "failed"
    assert failed.failure is not None
    assert failed.failure.class_ == "transport_error"
    delta = await handoff_of(editor, failed)
    assert (delta.strategy, delta.run_ordinals) == ("delta_since_target_last_seen", (3,))

    mood(workspace)
    await editor.call("run/retry", run_id=failed.id)
    again = await editor.ended(failed)
    assert (again.status, again.provider_thread_id) == ("completed", first.provider_thread_id)
    assert again.context_handoff_id == delta.id
    known = conversation_of(await editor.read(thread), again)
    assert (known.native_run_ordinals, known.handoff_ids) == ((1, 2, 4), (delta.id,))
    assert received(await editor.recall(thread, "moody"))[:4] == ["say: one", "crash", delta.sent_text, "say: four"]


async def test_an_unsent_handoff_whose_run_goes_to_another_provider_is_superseded(
    editor: Editor, workspace: Path
) -> None:
    thread = await editor.new_thread(workspace)
    await editor.say(thread, "say: one")
    await editor.say(thread, "say: two", "understudy")
    mood(workspace, "--crash-on", "new")
    failed = await editor.say(thread, "say: three", "moody")
    unsent = failed.context_handoff_id
    answer = await editor.call("run/retry", run_id=failed.id, selection=selection("understudy"))
    assert answer.plan.strategy == "none"
    again = await editor.ended(failed)
    assert (again.status, again.handoff_ids) == ("completed", ())
    (handoff,) = [known for known in (await editor.read(thread)).handoffs if known.id == unsent]
    assert handoff.status == "superseded"
    assert received(await editor.recall(thread, "understudy"))[1:3] == ["say: two", "say: three"]


async def test_a_run_counts_as_covered_once_its_agent_took_it_though_the_agent_died(
    editor: Editor, workspace: Path
) -> None:
    thread = await editor.new_thread(workspace)
    await editor.say(thread, "say: one")
    run = await editor.say(thread, "say: said before the end\nwrite half.txt: half\ncrash", "understudy")
    assert run.status == "failed"
    assert run.failure is not None
    assert run.failure.class_ == "transport_error"
    assert "said before the end" in await said(editor, thread, run)
    handoff = await handoff_of(editor, run)
    assert handoff.delivery is not None
    assert handoff.delivery.status == "delivered"
    known = conversation_of(await editor.read(thread), run)
    assert (known.native_run_ordinals, known.handoff_ids) == ((2,), (handoff.id,))
    assert run.checkpoint_id is not None

    answered = await editor.call("run/retry", run_id=run.id)
    assert answered.plan.provider_thread_id == known.id
    again = await editor.ended(run)
    assert again.provider_thread_id == known.id
    assert conversation_of(await editor.read(thread), again).native_run_ordinals == (2,)
    texts = received(await editor.recall(thread, "understudy"))
    assert texts.count(handoff.sent_text) == 1


async def test_a_killed_agent_is_told_of_and_started_again_for_the_next_run(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    run = await editor.begin(thread, "say: working\nsleep 600000")
    await editor.until_output(run, "working")
    known = conversation_of(await editor.read(thread), await editor.until_run(run, "running"))
    session = await session_of(editor, known)
    assert session.pid is not None
    psutil.Process(session.pid).kill()
    assert (await editor.ended(run)).status == "failed"
    after = await editor.say(thread, "say: back again")
    assert (after.status, after.provider_thread_id) == ("completed", known.id)
    stopped = await until_record(
        editor, thread, lambda r: isinstance(r, ProviderSession) and r.id == session.id and r.status == "stopped"
    )
    assert stopped.pid is None


async def test_an_agent_that_refuses_the_turn_has_nothing_and_is_sent_the_same_bytes_again(
    editor: Editor, workspace: Path
) -> None:
    thread = await editor.new_thread(workspace)
    await editor.say(thread, "write a.txt: one")
    mood(workspace, "--enforce-window", "--context-window", "1")
    run = await editor.say(thread, "say: two", "moody")
    assert run.failure is not None
    assert run.failure.class_ == "context_overflow"
    read = await editor.read(thread)
    known = conversation(read, "moody")
    assert (known.native_run_ordinals, known.handoff_ids, known.stale_reasons) == ((), (), ())
    first = await handoff_of(editor, run)
    assert first.delivery is not None
    assert (first.status, first.delivery.status) == ("ready", "pending")

    session = await session_of(editor, known)
    psutil.Process(session.pid).kill()
    mood(workspace)
    await process_gone(session.pid)
    await editor.call("run/retry", run_id=run.id)
    again = await editor.ended(run)
    assert again.status == "completed"
    second = await handoff_of(editor, again)
    assert (second.id, second.sent_text) == (first.id, first.sent_text)
    assert conversation_of(await editor.read(thread), again).handoff_ids == (first.id,)


async def test_an_agent_that_dies_with_the_message_in_its_hands_is_not_trusted_to_have_it_or_not(
    editor: Editor, workspace: Path
) -> None:
    thread = await editor.new_thread(workspace)
    await editor.say(thread, "write a.txt: one")
    mood(workspace, "--crash-on", "prompt")
    run = await editor.say(thread, "say: two", "moody")
    assert run.failure is not None
    assert run.failure.class_ == "transport_error"
    doubted = conversation(await editor.read(thread), "moody")
    assert (doubted.native_run_ordinals, doubted.handoff_ids) == ((), ())
    assert [reason.code for reason in doubted.stale_reasons] == ["delivery_uncertain"]
    first = await handoff_of(editor, run)
    assert first.delivery is not None
    assert first.delivery.status == "uncertain"

    mood(workspace)
    answered = await editor.call("run/retry", run_id=run.id)
    assert (answered.plan.strategy, codes(answered.plan)) == ("full_thread_summary", ["delivery_uncertain"])
    again = await editor.ended(run)
    assert again.status == "completed"
    assert again.provider_thread_id != doubted.id
    assert again.context_handoff_id is not None
    texts = received(await editor.recall(thread, "moody"))
    assert texts[:2] == [(await handoff_of(editor, again)).sent_text, "say: two"]


async def test_threads_that_share_an_agents_process_both_go_on_after_it_died(editor: Editor, workspace: Path) -> None:
    one, other = await editor.new_thread(workspace), await editor.new_thread(workspace)
    first = await editor.say(one, "say: of one")
    second = await editor.say(other, "say: of the other")
    read = await editor.read(one), await editor.read(other)
    assert len({conversation(known, "rehearsal").session_id for known in read}) == 1
    assert first.provider_thread_id != second.provider_thread_id
    assert (await editor.say(one, "crash")).status == "failed"
    after = await editor.say(other, "say: still here")
    assert (after.status, after.provider_thread_id) == ("completed", second.provider_thread_id)
    assert received(await editor.recall(other, "rehearsal"))[:2] == ["say: of the other", "say: still here"]
    again = await editor.say(one, "say: here too")
    assert (again.status, again.provider_thread_id) == ("completed", first.provider_thread_id)
