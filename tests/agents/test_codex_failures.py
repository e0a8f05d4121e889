"""What becomes of a run when Codex's model fails, each kind in its class, and of a turn that Codex never took."""

from pathlib import Path

import pytest

from scenarios.steps import conversation, handoff_of, of_type, said
from support.codex import handed_over, is_compaction, user_texts
from support.editor import Editor
from support.models.server import ModelServer


@pytest.mark.parametrize(
    ("directive", "class_", "retryable"),
    [
        ("fail: usage_limit until 2031-05-06T07:08:09.000Z: used up", "usage_limit", True),
        ("fail: authentication: bad key", "authentication", False),
        ("fail: context_overflow: too long", "context_overflow", False),
        ("fail: transport_error: cut", "transport_error", True),
        ("fail: provider_error: refused", "provider_error", True),
    ],
)
async def test_a_failure_of_the_model_fails_the_run_in_its_class(
    editor: Editor, workspace: Path, directive: str, class_: str, retryable: bool
) -> None:
    thread = await editor.new_thread(workspace, "codex")
    run = await editor.say(thread, f"say: before\n{directive}")
    assert run.failure is not None
    assert (run.status, run.failure.class_, run.failure.retryable) == ("failed", class_, retryable)
    assert run.failure.reset_at == ("2031-05-06T07:08:09.000Z" if class_ == "usage_limit" else None)
    assert conversation(await editor.read(thread), "codex").native_run_ordinals == (1,)


async def test_a_conversation_that_codex_compacted_is_repeated_the_standing_constraints(
    editor: Editor, model: ModelServer, workspace: Path
) -> None:
    thread = await editor.new_thread(workspace, "codex")
    await editor.say(thread, "Always use tabs.\nsay: one")
    await editor.say(thread, "fail: context_overflow: full")
    run = await editor.say(thread, "say: three")
    assert run.status == "completed"
    assert len(of_type(await editor.items(thread, run), "compaction")) == 1
    assert any(is_compaction(body) for body in model.requests)
    known = conversation(await editor.read(thread), "codex")
    assert (known.native_run_ordinals, known.compacted) == ((1, 2, 3), True)


async def test_a_turn_that_codex_refuses_is_not_covered_and_its_handoff_is_sent_with_the_next(
    editor: Editor, model: ModelServer, workspace: Path
) -> None:
    thread = await editor.new_thread(workspace, "codex")
    await editor.say(thread, "say: one")
    await editor.say(thread, "write b.txt: two", "rehearsal")
    run = await editor.say(thread, "more than Codex takes " * 60_000, "codex")
    assert run.failure is not None
    assert (run.status, run.failure.class_) == ("failed", "validation_error")
    known = conversation(await editor.read(thread), "codex")
    assert (known.native_run_ordinals, known.handoff_ids, known.stale_reasons) == ((1,), (), ())
    after = await editor.say(thread, "say: four")
    assert (after.status, after.provider_thread_id) == ("completed", known.id)
    handoff = await handoff_of(editor, after)
    assert handed_over(model.requests[-1]) == handoff.sent_text
    assert 2 in handoff.run_ordinals
    assert user_texts(model.requests[-1]) == ["say: one", "say: four"]


async def test_a_handoff_reaches_the_model_although_codex_compacts_its_history_first(
    editor: Editor, model: ModelServer, workspace: Path
) -> None:
    thread = await editor.new_thread(workspace, "codex")
    await editor.say(thread, "fail: context_overflow: full")
    await editor.say(thread, "write b.txt: two", "rehearsal")
    run = await editor.say(thread, "say: three", "codex")
    assert run.status == "completed"
    assert any(is_compaction(body) for body in model.requests)
    assert handed_over(model.requests[-1]) == (await handoff_of(editor, run)).sent_text
    assert conversation(await editor.read(thread), "codex").compacted


async def test_a_turn_that_fails_in_its_compaction_was_taken_and_is_not_sent_again(
    editor: Editor, model: ModelServer, workspace: Path
) -> None:
    thread = await editor.new_thread(workspace, "codex")
    await editor.say(thread, "fail: context_overflow: full")
    await editor.say(thread, "write b.txt: two", "rehearsal")
    model.refuses = is_compaction
    run = await editor.say(thread, "say: three", "codex")
    assert run.failure is not None
    assert (run.status, run.failure.class_) == ("failed", "usage_limit")
    known = conversation(await editor.read(thread), "codex")
    assert known.native_run_ordinals == (1, 3)
    model.refuses = lambda body: False
    again = await editor.say(thread, "say: four")
    assert (again.status, again.provider_thread_id, again.context_handoff_id) == ("completed", known.id, None)
    compaction = next(body for body in reversed(model.requests) if is_compaction(body))
    assert handed_over(compaction) == (await handoff_of(editor, run)).sent_text


async def test_an_interrupt_before_codex_took_the_message_leaves_it_uncovered(
    editor: Editor, model: ModelServer, workspace: Path
) -> None:
    thread = await editor.new_thread(workspace, "codex")
    await editor.say(thread, "fail: context_overflow: full")
    model.holds = is_compaction
    run = await editor.begin(thread, "say: two")
    await model.until(is_compaction)
    await editor.call("run/interrupt", run_id=run.id)
    run = await editor.ended(run)
    assert (run.status, await said(editor, thread, run)) == ("interrupted", [])
    model.holds = lambda body: False
    after = await editor.say(thread, "say: three")
    assert after.status == "completed"
    told = "\n".join([handed_over(model.requests[-1]), *user_texts(model.requests[-1])])
    assert told.count("say: two") == 1
