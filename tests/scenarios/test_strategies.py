"""How the next provider catches up, and the reasons that the user is given for it."""

from pathlib import Path
from typing import Any

import pytest

from midstream.protocol.records.provider import ProviderThread
from midstream.protocol.records.run import Run
from midstream.protocol.records.thread import Thread
from scenarios.steps import (
    codes,
    conversation,
    conversation_of,
    handoff_of,
    received,
    selection,
    strategy,
    until_record,
)
from support.editor import Editor, Refused, editor_on


async def crash(editor: Editor, thread: Thread, provider: str) -> Run:
    """Have an agent's process die in the middle of a run, so that its conversation has to be resumed."""
    run = await editor.say(thread, "crash", provider)
    assert run.status == "failed"
    await until_record(
        editor, thread, lambda r: isinstance(r, ProviderThread) and r.provider == provider and r.status == "not_loaded"
    )
    return run


async def test_a_thread_begins_with_nothing_to_hand_over(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    run = await editor.say(thread, "say: one")
    assert (strategy(run), codes(run.plan), run.handoff_ids) == ("none", ["first_use"], ())
    assert run.plan is not None
    assert run.plan.channel is None


async def test_the_provider_that_goes_on_covers_every_run_already(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    first = await editor.say(thread, "say: one")
    second = await editor.say(thread, "say: two")
    assert (strategy(second), codes(second.plan)) == ("none", ["already_covered"])
    assert second.provider_thread_id == first.provider_thread_id
    assert conversation(await editor.read(thread), "rehearsal").native_run_ordinals == (1, 2)


async def test_a_provider_that_is_new_to_a_thread_is_told_all_of_it(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    await editor.say(thread, "say: one")
    await editor.say(thread, "say: two")
    run = await editor.say(thread, "say: three", "understudy")
    assert run.plan is not None
    assert (strategy(run), codes(run.plan)) == ("full_thread_summary", ["first_use", "missed_runs"])
    assert run.plan.run_ordinals == (1, 2)
    assert run.plan.channel == "embeddedResource"


async def test_a_provider_that_comes_back_is_told_only_what_it_missed(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    first = await editor.say(thread, "say: one")
    await editor.say(thread, "say: two", "understudy")
    run = await editor.say(thread, "say: three", "rehearsal")
    assert run.plan is not None
    assert (strategy(run), codes(run.plan)) == ("delta_since_target_last_seen", ["missed_runs"])
    assert run.plan.run_ordinals == (2,)
    assert run.provider_thread_id == first.provider_thread_id
    sent = (await handoff_of(editor, run)).sent_text
    assert "say: two" in sent
    assert "say: one" not in sent


@pytest.mark.parametrize("way", ["provider/switch", "run/start"])
async def test_a_clean_context_begins_a_fresh_native_conversation(editor: Editor, workspace: Path, way: str) -> None:
    thread = await editor.new_thread(workspace)
    first = await editor.say(thread, "say: one")
    params: dict[str, Any] = {}
    if way == "run/start":
        params["context"] = "clean"
    else:
        chosen = selection("rehearsal")
        await editor.call("provider/switch", thread_id=thread.id, selection=chosen, context="clean")
    run = await editor.say(thread, "say: two", **params)
    assert (strategy(run), codes(run.plan)) == ("full_thread_summary", ["clean_context"])
    assert run.provider_thread_id != first.provider_thread_id
    after = await editor.say(thread, "say: three")
    assert (strategy(after), after.provider_thread_id) == ("none", run.provider_thread_id)


async def test_an_agent_without_embedded_context_reads_the_handoff_before_the_message(
    editor: Editor, workspace: Path
) -> None:
    thread = await editor.new_thread(workspace)
    await editor.say(thread, "say: one")
    run = await editor.say(thread, "say: two", "plain")
    assert run.plan is not None
    assert run.plan.channel == "inlinePreamble"
    handoff = await handoff_of(editor, run)
    assert received(await editor.recall(thread, "plain"))[:2] == [handoff.sent_text, "say: two"]


async def test_an_agent_whose_process_is_gone_is_resumed(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace)
    first = await editor.say(thread, "say: one")
    await crash(editor, thread, "rehearsal")
    run = await editor.say(thread, "say: three")
    assert run.status == "completed"
    assert run.provider_thread_id == first.provider_thread_id
    assert received(await editor.recall(thread, "rehearsal"))[:3] == ["say: one", "crash", "say: three"]


async def test_an_agent_that_cannot_resume_is_told_everything_anew(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace, "forgetful")
    first = await editor.say(thread, "say: one")
    beside = await editor.say(thread, "say: two")
    assert (strategy(beside), beside.provider_thread_id) == ("none", first.provider_thread_id)
    await crash(editor, thread, "forgetful")
    run = await editor.say(thread, "say: four")
    assert run.plan is not None
    assert (strategy(run), codes(run.plan)) == ("full_thread_summary", ["resume_failed"])
    assert run.plan.run_ordinals == (1, 2, 3)
    assert run.provider_thread_id != first.provider_thread_id
    assert received(await editor.recall(thread, "forgetful"))[:2] == [
        (await handoff_of(editor, run)).sent_text,
        "say: four",
    ]


async def test_a_resume_that_is_refused_is_planned_anew_in_the_same_run(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace, "stubborn")
    first = await editor.say(thread, "say: one")
    await crash(editor, thread, "stubborn")
    run = await editor.say(thread, "say: three")
    assert run.status == "completed"
    assert (strategy(run), codes(run.plan)) == ("full_thread_summary", ["resume_failed"])
    read = await editor.read(thread)
    (old,) = [known for known in read.provider_threads if known.id == first.provider_thread_id]
    assert [reason.code for reason in old.stale_reasons] == ["resume_failed"]
    assert old.native_run_ordinals == (1, 2)
    assert conversation_of(read, run).native_run_ordinals == (3,)


async def test_too_many_missed_runs_make_a_conversation_stale(tmp_path: Path, workspace: Path) -> None:
    async with editor_on(tmp_path / "data", "--rehearsal", config={"handoff": {"maxMissedRuns": 1}}) as editor:
        thread = await editor.new_thread(workspace)
        first = await editor.say(thread, "say: 1")
        await editor.say(thread, "say: 2", "understudy")
        within = await editor.say(thread, "say: 3", "rehearsal")
        assert (strategy(within), within.provider_thread_id) == (
            "delta_since_target_last_seen",
            first.provider_thread_id,
        )
        for text in ("say: 4", "say: 5"):
            await editor.say(thread, text, "understudy")
        beyond = await editor.say(thread, "say: 6", "rehearsal")
        assert beyond.plan is not None
        assert (strategy(beyond), codes(beyond.plan)) == ("full_thread_summary", ["too_many_missed_runs"])
        assert beyond.plan.run_ordinals == (1, 2, 3, 4, 5)
        assert beyond.provider_thread_id != first.provider_thread_id


async def test_a_long_chain_of_deltas_is_replaced_and_many_handoffs_make_a_fresh_start(
    tmp_path: Path, workspace: Path
) -> None:
    handoff = {"maxDeltaChain": 1, "maxHandoffs": 2}
    async with editor_on(tmp_path / "data", "--rehearsal", config={"handoff": handoff}) as editor:
        thread = await editor.new_thread(workspace)
        runs = [
            await editor.say(thread, f"say: number {number}", ("understudy", "rehearsal")[number % 2])
            for number in range(1, 10)
        ]
        assert [(strategy(run), codes(run.plan)) for run in runs[::2]] == [
            ("none", ["first_use"]),
            ("delta_since_target_last_seen", ["missed_runs"]),
            ("delta_since_target_last_seen", ["missed_runs"]),
            ("full_thread_summary", ["missed_runs", "delta_chain_too_long"]),
            ("full_thread_summary", ["too_many_handoffs"]),
        ]
        assert len({run.provider_thread_id for run in runs[:8:2]}) == 1
        assert runs[8].provider_thread_id != runs[6].provider_thread_id
        replacing = await handoff_of(editor, runs[6])
        assert replacing.run_ordinals == (2, 4, 6)
        assert all(f"say: number {number}" in replacing.sent_text for number in (2, 4, 6))
        assert not any(f"say: number {number}" in replacing.sent_text for number in (1, 3, 5))
        assert (await handoff_of(editor, runs[8])).run_ordinals == (1, 2, 3, 4, 5, 6, 7, 8)


async def test_a_handoff_that_no_budget_holds_is_refused_before_anything_happens(
    tmp_path: Path, workspace: Path
) -> None:
    async with editor_on(tmp_path / "data", "--rehearsal", config={"handoff": {"budgetTokens": 1}}) as editor:
        thread = await editor.new_thread(workspace)
        await editor.say(thread, "say: one")
        before = await editor.read(thread)
        with pytest.raises(Refused) as refused:
            await editor.begin(thread, "say: two", "understudy")
        assert (refused.value.code, refused.value.kind) == (4009, "handoffOverBudget")
        assert refused.value.data["budgetTokens"] == 1
        assert refused.value.data["minimumTokens"] > 1
        assert await editor.read(thread) == before
