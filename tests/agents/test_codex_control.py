"""Approvals, interrupts and steering with the real Codex, and what each runtime mode lets it do."""

from pathlib import Path

import pytest

from scenarios.steps import answer, conversation, of_type, said
from support.codex import user_texts
from support.editor import Editor, Refused
from support.models.server import ModelServer


async def test_an_accepted_command_runs_and_a_declined_one_does_not_and_both_times_codex_goes_on(
    editor: Editor, workspace: Path
) -> None:
    thread = await editor.new_thread(workspace, "codex", runtime_mode="approvalRequired")
    run = await editor.begin(thread, "run echo yes > yes.txt\nrun echo no > no.txt\nsay: both asked")
    first = await editor.asked(run)
    assert (first.kind, first.detail.command) == ("command", "echo yes > yes.txt")
    assert first.detail.cwd == str(workspace)
    assert [option.decision for option in first.options] == ["accept", "decline", "cancel"]
    await editor.until_run(run, "waiting")
    await answer(editor, first)
    second = await _asked_after(editor, first.id)
    assert second.detail.command == "echo no > no.txt"
    await answer(editor, second, "decline")
    run = await editor.ended(run)
    assert (run.status, await said(editor, thread, run)) == ("completed", ["both asked"])
    assert (workspace / "yes.txt").read_text() == "yes\n"
    assert not (workspace / "no.txt").exists()
    commands = of_type(await editor.items(thread, run), "command")
    assert [(command.status, command.exit_code) for command in commands] == [("completed", 0), ("cancelled", None)]


async def test_an_interrupt_while_codex_waits_for_an_answer_withdraws_what_it_asked(
    editor: Editor, workspace: Path
) -> None:
    thread = await editor.new_thread(workspace, "codex", runtime_mode="approvalRequired")
    run = await editor.begin(thread, "run echo no > no.txt")
    request = await editor.asked(run)
    await editor.call("run/interrupt", run_id=run.id)
    assert (await editor.ended(run)).status == "interrupted"
    with pytest.raises(Refused) as refused:
        await answer(editor, request)
    assert refused.value.kind == "requestNotResumable"
    again = await editor.say(thread, "say: still here")
    assert again.status == "completed"


async def test_an_interrupted_run_ends_once_codex_says_so_and_the_next_one_knows_its_beginning(
    editor: Editor, model: ModelServer, workspace: Path
) -> None:
    thread = await editor.new_thread(workspace, "codex")
    run = await editor.begin(thread, "say: beginning\nsleep 600000")
    await editor.until_output(run, "beginning")
    answered = await editor.call("run/interrupt", run_id=run.id)
    assert answered.run.status == "running"
    run = await editor.ended(run)
    assert (run.status, await said(editor, thread, run)) == ("interrupted", ["beginning"])
    known = conversation(await editor.read(thread), "codex")
    assert (known.native_run_ordinals, known.stale_reasons) == ((1,), ())
    after = await editor.say(thread, "say: after")
    assert (after.status, after.provider_thread_id) == ("completed", run.provider_thread_id)
    assert user_texts(model.requests[-1]) == ["say: beginning\nsleep 600000", "say: after"]


async def test_steered_words_are_taken_in_the_same_turn(editor: Editor, model: ModelServer, workspace: Path) -> None:
    thread = await editor.new_thread(workspace, "codex", runtime_mode="approvalRequired")
    run = await editor.begin(thread, "run echo one\nsay: as first told")
    request = await editor.asked(run)
    await editor.call("run/steer", run_id=run.id, text="say: as steered")
    await answer(editor, request)
    run = await editor.ended(run)
    assert (run.status, await said(editor, thread, run)) == ("completed", ["as steered"])
    (steered,) = [item for item in of_type(await editor.items(thread, run), "userMessage") if item.intent == "steer"]
    assert steered.status == "completed"
    assert user_texts(model.requests[-1]) == ["run echo one\nsay: as first told", "say: as steered"]
    assert conversation(await editor.read(thread), "codex").missing_item_ids == ()


async def test_steered_words_that_an_interrupt_overtook_reach_codex_with_the_next_message(
    editor: Editor, model: ModelServer, workspace: Path
) -> None:
    thread = await editor.new_thread(workspace, "codex", runtime_mode="approvalRequired")
    run = await editor.begin(thread, "run echo one")
    await editor.asked(run)  # until it is answered, Codex takes no words
    await editor.call("run/steer", run_id=run.id, text="say: never taken")
    await editor.call("run/interrupt", run_id=run.id)
    assert (await editor.ended(run)).status == "interrupted"
    (missed,) = conversation(await editor.read(thread), "codex").missing_item_ids
    after = await editor.say(thread, "say: after")
    assert after.plan is not None
    assert [reason.code for reason in after.plan.reasons] == ["missing_items"]
    body = model.requests[-1]
    assert user_texts(body)[-1] == "say: after"
    assert "never taken" in "".join(item.get("output", "") for item in body["input"] if "call_id" not in item)
    assert conversation(await editor.read(thread), "codex").missing_item_ids == ()
    assert missed


async def test_a_mode_that_was_narrowed_holds_for_the_next_turn_of_an_open_conversation(
    editor: Editor, workspace: Path
) -> None:
    thread = await editor.new_thread(workspace, "codex")
    await editor.say(thread, "write one.txt: 1")
    await editor.call("thread/update", thread_id=thread.id, runtime_mode="readOnly")
    run = await editor.say(thread, "write two.txt: 2\nrun echo 3 > three.txt\nsay: tried")
    assert run.status == "completed"
    assert [(workspace / name).exists() for name in ("one.txt", "two.txt", "three.txt")] == [True, False, False]


async def _asked_after(editor: Editor, earlier: str):  # type: ignore[no-untyped-def]
    opened = await editor.until(lambda n: type(n).__name__ == "RequestOpened" and n.request.id != earlier)  # type: ignore[union-attr]
    return opened.request  # type: ignore[union-attr]
