"""What a turn of the real Claude Code shows: its items, its usage, its questions, plans and subagents."""

import json
from pathlib import Path

from scenarios.steps import answer, of_type, said
from support.claude import user_blocks
from support.editor import Editor
from support.models.server import ModelServer

WORK = "think: hm\nsay: hello\nrun echo out; exit 3\nwrite new.txt: one\ntodo: first | second\ndone: first\nsay: bye"


async def test_a_turn_of_work_is_told_as_items_with_its_usage_and_cost(claude_editor: Editor, workspace: Path) -> None:
    thread = await claude_editor.new_thread(workspace, "claude")
    run = await claude_editor.say(thread, WORK)
    items = await claude_editor.items(thread, run)
    assert run.status == "completed"
    assert [item.text for item in of_type(items, "reasoning")] == ["hm"]
    assert await said(claude_editor, thread, run) == ["hello", "bye"]
    (command,) = of_type(items, "command")
    assert (command.command, command.output, command.exit_code) == ("echo out; exit 3", "out", 3)
    (change,) = of_type(items, "fileChange")
    assert [(one.path, one.kind) for one in change.changes] == [("new.txt", "add")]
    assert "+one" in (change.changes[0].diff or "")
    (todo,) = of_type(items, "todo")
    assert [(step.text, step.status) for step in todo.steps] == [("first", "completed"), ("second", "pending")]
    usage = run.usage
    assert usage is not None
    assert (usage.input_tokens % 100, usage.context_tokens, usage.context_window) == (0, 100, 200_000)
    again = await claude_editor.say(thread, "say: short")
    assert again.usage is not None
    assert (again.usage.input_tokens, usage.input_tokens > 100) == (100, True)
    assert again.usage.cost_usd is not None
    assert usage.cost_usd is not None
    assert 0 < again.usage.cost_usd < usage.cost_usd


async def test_an_edit_is_told_with_the_diff_that_was_made(claude_editor: Editor, workspace: Path) -> None:
    (workspace / "a.txt").write_text("one\ntwo\nthree\n")
    thread = await claude_editor.new_thread(workspace, "claude")
    file = str(workspace / "a.txt")
    read, edit = {"file_path": file}, {"file_path": file, "old_string": "two", "new_string": "2"}
    run = await claude_editor.say(thread, f"call Read {json.dumps(read)}\ncall Edit {json.dumps(edit)}")
    (change,) = of_type(await claude_editor.items(thread, run), "fileChange")
    assert (workspace / "a.txt").read_text() == "one\n2\nthree\n"
    assert (change.changes[0].path, change.changes[0].kind) == ("a.txt", "modify")
    assert "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n" in change.changes[0].diff


async def test_a_question_is_answered_by_the_user(claude_editor: Editor, model: ModelServer, workspace: Path) -> None:
    thread = await claude_editor.new_thread(workspace, "claude")
    run = await claude_editor.begin(thread, "ask: Go on?\nsay: asked")
    request = await claude_editor.asked(run)
    assert request.kind == "userInput"
    assert request.questions is not None
    (question,) = request.questions
    assert (question.text, [option.label for option in question.options]) == ("Go on?", ["Yes", "No"])
    answers = [{"questionId": question.id, "values": ["No"]}]
    await claude_editor.call("request/respond", request_id=request.id, decision="accept", answers=answers)
    run = await claude_editor.ended(run)
    assert (run.status, await said(claude_editor, thread, run)) == ("completed", ["asked"])
    assert '"Go on?"="No"' in json.dumps(model.requests[-1]["messages"]).replace("\\", "")


async def test_a_plan_is_asked_for_and_nothing_is_written_before_it_is_accepted(
    claude_editor: Editor, workspace: Path
) -> None:
    thread = await claude_editor.new_thread(workspace, "claude")
    selection = {"provider": "claude", "model": None, "options": {"plan": True}}
    plan = json.dumps({"plan": "# The plan"})
    orders = f"write early.txt: 1\nrun touch early2.txt\ncall ExitPlanMode {plan}\nwrite late.txt: 2\nsay: done"
    answered = await claude_editor.call("run/start", thread_id=thread.id, message={"text": orders}, selection=selection)
    request = await claude_editor.asked(answered.run)
    assert [(workspace / name).exists() for name in ("early.txt", "early2.txt")] == [False, False]
    await answer(claude_editor, request)
    run = await claude_editor.ended(answered.run)
    (shown,) = of_type(await claude_editor.items(thread, run), "plan")
    assert (run.status, shown.markdown, shown.status) == ("completed", "# The plan", "completed")
    assert (workspace / "late.txt").read_text() == "2\n"


async def test_a_subagents_items_stand_below_it_and_the_run_waits_for_it(
    claude_editor: Editor, workspace: Path
) -> None:
    thread = await claude_editor.new_thread(workspace, "claude")
    run = await claude_editor.say(thread, "subagent Child: run touch child.txt\nsay: meanwhile")
    items = await claude_editor.items(thread, run)
    (child,) = of_type(items, "subagent")
    (command,) = of_type(items, "command")
    assert (child.title, child.status, child.result) == ("Child", "completed", "Done.")
    assert (command.parent_item_id, command.status) == (child.id, "completed")
    assert run.status == "completed"
    assert (workspace / "child.txt").exists()


async def test_each_thread_has_a_claude_of_its_own_and_both_run_at_once(
    claude_editor: Editor, model: ModelServer, workspace: Path
) -> None:
    one = await claude_editor.new_thread(workspace, "claude", runtime_mode="approvalRequired")
    two = await claude_editor.new_thread(workspace, "claude")
    waits = await claude_editor.begin(one, "run touch one.txt\nsay: one")
    request = await claude_editor.asked(waits)
    assert (await claude_editor.say(two, "say: two")).status == "completed"
    assert user_blocks(model.requests[-1]) == ["say: two"]
    await answer(claude_editor, request)
    assert (await claude_editor.ended(waits)).status == "completed"


async def test_the_environment_of_the_daemon_does_not_reach_claude(
    tmp_path: Path, claude_env: dict[str, str], workspace: Path, monkeypatch
) -> None:
    from support.claude import claude_provider
    from support.editor import editor_on

    monkeypatch.setenv("ANTHROPIC_MODEL", "leaked")
    monkeypatch.setenv("CLAUDE_CODE_SUBAGENT_MODEL", "leaked")
    monkeypatch.setenv("MCP_TIMEOUT", "leaked")
    config = {"providers": {"claude": claude_provider(claude_env)}}
    async with editor_on(tmp_path / "data", config=config) as editor:
        thread = await editor.new_thread(workspace, "claude")
        run = await editor.say(thread, "run env")
        (command,) = of_type(await editor.items(thread, run), "command")
        assert "leaked" not in command.output
        assert f"CLAUDE_CONFIG_DIR={claude_env['CLAUDE_CONFIG_DIR']}" in command.output


async def test_what_claude_says_after_a_background_task_ended_belongs_to_the_run_that_began_it(
    claude_editor: Editor, workspace: Path
) -> None:
    thread = await claude_editor.new_thread(workspace, "claude")
    background = json.dumps({"command": "sleep 1; touch late.txt", "description": "Late", "run_in_background": True})
    run = await claude_editor.say(thread, f"call Bash {background}\nsay: meanwhile")
    assert (run.status, await said(claude_editor, thread, run)) == ("completed", ["meanwhile", "Done."])
    (command,) = of_type(await claude_editor.items(thread, run), "command")
    assert (command.command, command.status, command.exit_code) == ("sleep 1; touch late.txt", "completed", 0)
    assert (workspace / "late.txt").exists()
