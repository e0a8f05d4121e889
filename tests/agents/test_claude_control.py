"""Approvals, interrupts and steering with the real Claude Code, and what each runtime mode lets it do."""

import json
from pathlib import Path

import psutil
import pytest

from midstream.protocol.records.request import RuntimeRequest
from midstream.server.providers.events import OutputAppended
from midstream.server.providers.requests import Patience
from scenarios.steps import answer, conversation, of_type, said
from support.claude import claude_process, user_blocks
from support.claude_stories import driver_of
from support.editor import Editor, Refused
from support.models.server import ModelServer
from support.turns import ended, opened, options_in, turn, until, words


def _works_in(process: psutil.Process, folder: Path) -> bool:
    try:
        return process.cwd() == str(folder) and process.name() == "sleep"
    except (psutil.Error, OSError):
        return False


async def asked_after(editor: Editor, earlier: RuntimeRequest) -> RuntimeRequest:
    """Wait for the request that comes after an earlier one."""
    opened = await editor.until(
        lambda n: type(n).__name__ == "RequestOpened" and n.request.id != earlier.id  # type: ignore[union-attr]
    )
    return opened.request  # type: ignore[union-attr]


async def test_an_accepted_command_runs_and_a_declined_one_does_not_and_both_times_claude_goes_on(
    claude_editor: Editor, model: ModelServer, workspace: Path
) -> None:
    thread = await claude_editor.new_thread(workspace, "claude", runtime_mode="approvalRequired")
    run = await claude_editor.begin(thread, "run echo yes > yes.txt\nrun echo no > no.txt\nsay: both asked")
    first = await claude_editor.asked(run)
    assert (first.kind, first.detail.command, first.detail.cwd) == ("command", "echo yes > yes.txt", str(workspace))
    assert {"accept", "decline", "cancel"} <= {option.decision for option in first.options}
    await claude_editor.until_run(run, "waiting")
    await answer(claude_editor, first)
    second = await asked_after(claude_editor, first)
    await claude_editor.call("request/respond", request_id=second.id, decision="decline", message="not that one")
    run = await claude_editor.ended(run)
    assert (run.status, await said(claude_editor, thread, run)) == ("completed", ["both asked"])
    assert ((workspace / "yes.txt").read_text(), (workspace / "no.txt").exists()) == ("yes\n", False)
    commands = of_type(await claude_editor.items(thread, run), "command")
    assert [(command.status, command.exit_code) for command in commands] == [("completed", 0), ("cancelled", None)]
    assert "not that one" in str(model.requests[-1]["messages"][-1])


async def test_what_is_accepted_for_the_session_is_not_asked_again_and_changes_no_settings(
    claude_editor: Editor, claude_env: dict[str, str], workspace: Path
) -> None:
    thread = await claude_editor.new_thread(workspace, "claude", runtime_mode="approvalRequired")
    run = await claude_editor.begin(thread, "run touch one.txt\nrun touch one.txt\nsay: done")
    request = await claude_editor.asked(run)
    assert "acceptForSession" in [option.decision for option in request.options]
    await answer(claude_editor, request, "acceptForSession")
    assert (await claude_editor.ended(run)).status == "completed"
    assert not (workspace / ".claude").exists()
    assert not (Path(claude_env["CLAUDE_CONFIG_DIR"]) / "settings.json").exists()


async def test_an_interrupt_while_claude_waits_for_an_answer_withdraws_what_it_asked(
    claude_editor: Editor, workspace: Path
) -> None:
    thread = await claude_editor.new_thread(workspace, "claude", runtime_mode="approvalRequired")
    run = await claude_editor.begin(thread, "run echo no > no.txt")
    request = await claude_editor.asked(run)
    await claude_editor.call("run/interrupt", run_id=run.id)
    assert (await claude_editor.ended(run)).status == "interrupted"
    with pytest.raises(Refused) as refused:
        await answer(claude_editor, request)
    assert refused.value.kind == "requestNotResumable"
    assert (await claude_editor.say(thread, "say: still here")).status == "completed"


async def test_an_interrupted_run_ends_once_claude_says_so_and_the_next_one_knows_its_beginning(
    claude_editor: Editor, model: ModelServer, workspace: Path
) -> None:
    thread = await claude_editor.new_thread(workspace, "claude")
    run = await claude_editor.begin(thread, "say: beginning\nsleep 600000")
    await claude_editor.until_output(run, "beginning")
    answered = await claude_editor.call("run/interrupt", run_id=run.id)
    assert answered.run.status == "running"
    run = await claude_editor.ended(run)
    assert (run.status, await said(claude_editor, thread, run)) == ("interrupted", ["beginning"])
    known = conversation(await claude_editor.read(thread), "claude")
    assert (known.native_run_ordinals, known.stale_reasons) == ((1,), ())
    after = await claude_editor.say(thread, "say: after")
    assert (after.status, after.provider_thread_id) == ("completed", run.provider_thread_id)
    assert user_blocks(model.requests[-1]) == ["say: beginning\nsleep 600000", "say: after"]
    assert "beginning" in str([one for one in model.requests[-1]["messages"] if one["role"] == "assistant"])


async def test_steered_words_are_taken_in_the_same_turn(
    claude_editor: Editor, model: ModelServer, workspace: Path
) -> None:
    thread = await claude_editor.new_thread(workspace, "claude", runtime_mode="approvalRequired")
    run = await claude_editor.begin(thread, "run touch one\nsay: as first told")
    request = await claude_editor.asked(run)
    await claude_editor.call("run/steer", run_id=run.id, text="say: as steered")
    await answer(claude_editor, request)
    run = await claude_editor.ended(run)
    assert (run.status, (await said(claude_editor, thread, run))[-1]) == ("completed", "as steered")
    items = of_type(await claude_editor.items(thread, run), "userMessage")
    (steered,) = [item for item in items if item.intent == "steer"]
    assert steered.status == "completed"
    assert "say: as steered" in str(model.requests[-1]["messages"])
    assert conversation(await claude_editor.read(thread), "claude").missing_item_ids == ()


async def test_steered_words_that_an_interrupt_overtook_reach_claude_with_the_next_message(
    claude_editor: Editor, model: ModelServer, workspace: Path
) -> None:
    thread = await claude_editor.new_thread(workspace, "claude", runtime_mode="approvalRequired")
    run = await claude_editor.begin(thread, "run touch one")
    await claude_editor.asked(run)
    await claude_editor.call("run/steer", run_id=run.id, text="say: never taken")
    await claude_editor.call("run/interrupt", run_id=run.id)
    assert (await claude_editor.ended(run)).status == "interrupted"
    assert len(conversation(await claude_editor.read(thread), "claude").missing_item_ids) == 1
    after = await claude_editor.say(thread, "say: after")
    assert after.plan is not None
    assert [reason.code for reason in after.plan.reasons] == ["missing_items"]
    *_, handoff, words = user_blocks(model.requests[-1])
    assert ("never taken" in handoff, words) == (True, "say: after")


async def test_a_mode_that_was_narrowed_holds_for_the_next_turn_of_an_open_conversation(
    claude_editor: Editor, model: ModelServer, workspace: Path
) -> None:
    thread = await claude_editor.new_thread(workspace, "claude")
    await claude_editor.say(thread, "write one.txt: 1")
    await claude_editor.call("thread/update", thread_id=thread.id, runtime_mode="readOnly")
    run = await claude_editor.say(thread, "write two.txt: 2\nrun touch three.txt\nsay: tried")
    assert run.status == "completed"
    assert [(workspace / name).exists() for name in ("one.txt", "two.txt", "three.txt")] == [True, False, False]
    assert user_blocks(model.requests[-1])[0] == "write one.txt: 1"


async def test_a_workspaces_own_settings_allow_nothing(claude_editor: Editor, workspace: Path) -> None:
    settings = workspace / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"permissions": {"allow": ["Bash(touch:*)", "Write"], "defaultMode": "acceptEdits"}}')
    thread = await claude_editor.new_thread(workspace, "claude", runtime_mode="approvalRequired")
    run = await claude_editor.begin(thread, "run touch one.txt")
    await answer(claude_editor, await claude_editor.asked(run), "decline")
    assert (await claude_editor.ended(run)).status == "completed"
    assert not (workspace / "one.txt").exists()


async def test_an_interrupt_ends_what_runs_in_the_background_too(
    claude_editor: Editor, model: ModelServer, workspace: Path
) -> None:
    thread = await claude_editor.new_thread(workspace, "claude")
    background = json.dumps({"command": "sleep 600; touch late.txt", "description": "Late", "run_in_background": True})
    run = await claude_editor.begin(thread, f"call Bash {background}\nsay: meanwhile")
    await claude_editor.until_output(run, "meanwhile")
    await claude_editor.call("run/interrupt", run_id=run.id)
    assert (await claude_editor.ended(run)).status == "interrupted"
    assert not [one for one in psutil.process_iter() if _works_in(one, workspace)]
    assert (await claude_editor.say(thread, "say: after")).status == "completed"
    assert user_blocks(model.requests[-1])[-1] == "say: after"


async def test_a_claude_that_does_not_hear_an_interrupt_is_ended_and_resumed_by_the_next_turn(
    claude_env: dict[str, str], model: ModelServer, workspace: Path
) -> None:
    options = options_in(workspace)
    async with opened(driver_of(claude_env, patience=Patience(cancel=0.2)), workspace) as session:
        thread = await session.start_thread(options)
        await turn(session, thread.ref, "say: before", options)  # Claude Code may lose a first turn that it never ended
        events = session.run_turn(thread.ref, words("say: begun\nsleep 600000"), options)
        await until(events, lambda event: isinstance(event, OutputAppended))
        deaf = claude_process(claude_env)
        deaf.suspend()
        await session.interrupt(thread.ref)
        assert ended(await until(events, lambda event: False)).status == "interrupted"
        assert not deaf.is_running()
        assert ended(await turn(session, thread.ref, "say: after", options)).status == "completed"
    assert user_blocks(model.requests[-1])[-1] == "say: after"
