"""What the real Codex does in a turn, as the daemon tells it."""

import sys
from pathlib import Path

from scenarios.steps import answer, conversation, of_type, said
from support.codex import user_texts
from support.editor import Editor
from support.models.server import ModelServer


async def test_a_turn_of_work_comes_back_as_items(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace, "codex")
    work = (
        "think: let me see", "say: beginning", "write new.txt: hello", "delete kept.txt",
        "run echo out; echo err >&2; exit 3", "todo: first | second", "done: first", "say: the end",
    )  # fmt: skip
    run = await editor.say(thread, "\n".join(work))
    assert run.status == "completed"
    items = await editor.items(thread, run)
    assert [item.text for item in of_type(items, "reasoning")] == ["let me see"]
    assert [item.text for item in of_type(items, "agentMessage")] == ["beginning", "the end"]
    changes = [(one.path, one.kind) for item in of_type(items, "fileChange") for one in item.changes]
    assert changes == [("new.txt", "add"), ("kept.txt", "delete")]
    added = of_type(items, "fileChange")[0].changes[0]
    assert added.diff == "--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+hello\n"
    (command,) = of_type(items, "command")
    assert (command.command, command.exit_code, command.status) == ("echo out; echo err >&2; exit 3", 3, "failed")
    assert sorted(command.output.splitlines()) == ["err", "out"]
    (todo,) = of_type(items, "todo")
    assert [(step.text, step.status) for step in todo.steps] == [("first", "completed"), ("second", "pending")]
    assert run.usage is not None
    assert (run.usage.input_tokens, run.usage.context_tokens, run.usage.context_window) == (600, 110, 190_000)
    assert not any(item.status == "running" for item in items)


async def test_usage_is_that_of_the_turn_and_not_of_the_conversation(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace, "codex")
    await editor.say(thread, "say: one")
    run = await editor.say(thread, "run true\nsay: two")
    assert run.usage is not None
    assert (run.usage.input_tokens, run.usage.output_tokens) == (200, 20)


async def test_a_subagents_items_are_below_it_and_its_end_is_not_the_runs(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace, "codex")
    run = await editor.say(thread, "subagent Helper: run echo from the child\nsay: after the child")
    assert run.status == "completed"
    items = await editor.items(thread, run)
    (helper,) = of_type(items, "subagent")
    assert (helper.prompt, helper.status) == ("run echo from the child", "completed")
    assert helper.result == "Done."
    (command,) = of_type(items, "command")
    assert (command.parent_item_id, command.output) == (helper.id, "from the child\n")
    top = [item.text for item in of_type(items, "agentMessage") if item.parent_item_id is None]
    assert top == ["after the child"]
    own, childs = sorted((await editor.read(thread)).provider_threads, key=lambda known: known.id)
    assert own.id == helper.provider_thread_id == run.provider_thread_id
    assert (childs.subagent_item_id, childs.status, childs.native_run_ordinals) == (helper.id, "idle", ())
    assert childs.native_ref not in (None, own.native_ref)
    again = await editor.say(thread, "say: the same conversation goes on")
    assert again.provider_thread_id == own.id


async def test_a_question_is_answered_by_the_user(editor: Editor, model: ModelServer, workspace: Path) -> None:
    thread = await editor.new_thread(workspace, "codex")
    run = await editor.begin(thread, "ask: Which way?\nsay: thanks")
    request = await editor.asked(run)
    assert request.kind == "userInput"
    assert request.questions is not None
    (question,) = request.questions
    assert (question.text, [option.label for option in question.options]) == ("Which way?", ["Yes", "No"])
    assert question.free_text
    answers = [{"questionId": question.id, "values": ["Neither"]}]
    await editor.call("request/respond", request_id=request.id, decision="accept", answers=answers)
    assert (await editor.ended(run)).status == "completed"
    outputs = [item["output"] for item in model.requests[-1]["input"] if item["type"] == "function_call_output"]
    assert outputs == ['{"answers":{"q1":{"answers":["Neither"]}}}']


async def test_a_declined_question_goes_on_without_an_answer(
    editor: Editor, model: ModelServer, workspace: Path
) -> None:
    thread = await editor.new_thread(workspace, "codex")
    run = await editor.begin(thread, "ask: Which way?\nsay: as you like")
    await answer(editor, await editor.asked(run), "decline")
    run = await editor.ended(run)
    assert (run.status, await said(editor, thread, run)) == ("completed", ["as you like"])


async def test_what_the_user_attached_stands_before_their_own_unchanged_words(
    editor: Editor, model: ModelServer, workspace: Path
) -> None:
    thread = await editor.new_thread(workspace, "codex")
    image = {"type": "image", "mimeType": "image/png", "base64": _PIXEL}
    position = {"line": 0, "character": 0}
    selected = {
        "type": "selection", "uri": (workspace / "kept.txt").as_uri(),
        "range": {"start": position, "end": position}, "text": "kept",
    }  # fmt: skip
    message = {"text": "  say: with both \n", "attachments": [selected, image]}
    run = (await editor.call("run/start", thread_id=thread.id, message=message)).run
    assert (await editor.ended(run)).status == "completed"
    content = next(item for item in reversed(model.requests[-1]["input"]) if item.get("role") == "user")["content"]
    assert content[-1] == {"type": "input_text", "text": "  say: with both \n"}
    assert "kept" in content[0]["text"]
    assert any(part.get("image_url", "").startswith("data:image/png;base64,") for part in content)


async def test_a_model_and_an_effort_are_used_for_the_turns_that_ask_for_them(
    editor: Editor, model: ModelServer, workspace: Path
) -> None:
    thread = await editor.new_thread(workspace, "codex")
    await editor.say(thread, "say: one")
    chosen = {"provider": "codex", "model": "other-model", "options": {"effort": "high"}}
    run = await editor.say(thread, "say: two", selection=chosen)
    assert run.plan is not None
    assert run.plan.strategy == "none"
    first, second = model.requests
    assert (first["model"], second["model"]) == ("rehearsal-model", "other-model")
    assert second["reasoning"]["effort"] == "high"


async def test_an_mcp_server_that_codex_was_configured_with_is_used_and_asked_for(
    editor: Editor, codex_env: dict[str, str], workspace: Path
) -> None:
    server = Path(__file__).with_name("mcp_server.py")
    config = Path(codex_env["CODEX_HOME"]) / "config.toml"
    config.write_text(f'{config.read_text()}\n[mcp_servers.notes]\ncommand = "{sys.executable}"\nargs = ["{server}"]\n')
    thread = await editor.new_thread(workspace, "codex", runtime_mode="approvalRequired")
    run = await editor.begin(thread, 'call look_up {"word": "cat"}\nsay: found')
    request = await editor.asked(run)
    assert request.kind == "tool"
    assert request.detail.tool is not None
    assert (request.detail.tool.server, request.detail.tool.name) == ("notes", "look_up")
    assert [option.decision for option in request.options] == ["accept", "acceptForSession", "decline", "cancel"]
    await answer(editor, request)
    run = await editor.ended(run)
    (tool,) = of_type(await editor.items(thread, run), "tool")
    assert (tool.server, tool.name, tool.input, tool.output) == ("notes", "look_up", {"word": "cat"}, "cat is here")


async def test_two_threads_of_a_workspace_share_one_process_and_keep_apart(
    editor: Editor, model: ModelServer, workspace: Path
) -> None:
    one, other = await editor.new_thread(workspace, "codex"), await editor.new_thread(workspace, "codex")
    first, second = await editor.begin(one, "say: of one"), await editor.begin(other, "say: of the other")
    assert (await editor.ended(first)).status == (await editor.ended(second)).status == "completed"
    assert await said(editor, one, first) == ["of one"]
    assert await said(editor, other, second) == ["of the other"]
    read = [conversation(await editor.read(thread), "codex") for thread in (one, other)]
    assert len({known.session_id for known in read}) == 1
    assert sorted(user_texts(body) for body in model.requests) == [["say: of one"], ["say: of the other"]]


_PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
