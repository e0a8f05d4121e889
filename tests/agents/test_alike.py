"""What the user sees of each real agent alike: its words as they come, what it asks for, what a mode lets it do."""

import asyncio
import json
from pathlib import Path

import pytest

from midstream.protocol.notifications import RunOutput
from midstream.protocol.records.item import SubagentItem
from scenarios.steps import answer, of_type, said, until_record
from support.editor import Editor
from support.models.server import ModelServer

pytestmark = pytest.mark.parametrize("agent", ["codex", "claude"])


async def test_text_is_streamed_piece_by_piece(
    agent: str, both_editor: Editor, model: ModelServer, workspace: Path
) -> None:
    thread = await both_editor.new_thread(workspace, agent)
    first_was_seen = asyncio.Event()
    model.between_pieces = first_was_seen.wait
    run = await both_editor.begin(thread, "stream 50 100")
    await both_editor.until_output(run, "x" * 100)
    first_was_seen.set()
    run = await both_editor.ended(run)
    assert await said(both_editor, thread, run) == ["x" * 5000]
    assert "".join(output.text for output in both_editor.all_told(RunOutput)) == "x" * 5000


async def test_a_file_change_is_asked_for_with_its_diff(agent: str, both_editor: Editor, workspace: Path) -> None:
    thread = await both_editor.new_thread(workspace, agent, runtime_mode="approvalRequired")
    run = await both_editor.begin(thread, "write new.txt: hello\nsay: asked")
    request = await both_editor.asked(run)
    assert request.kind == "fileChange"
    assert request.detail.changes is not None
    (change,) = request.detail.changes
    assert (change.path, change.kind) == ("new.txt", "add")
    assert change.diff is not None
    assert "+hello" in change.diff
    await answer(both_editor, request, "decline")
    run = await both_editor.ended(run)
    (item,) = of_type(await both_editor.items(thread, run), "fileChange")
    assert (run.status, item.status, (workspace / "new.txt").exists()) == ("completed", "cancelled", False)


async def test_a_cancelled_request_ends_the_run(agent: str, both_editor: Editor, workspace: Path) -> None:
    thread = await both_editor.new_thread(workspace, agent, runtime_mode="approvalRequired")
    run = await both_editor.begin(thread, "run echo no > no.txt\nsay: never")
    await answer(both_editor, await both_editor.asked(run), "cancel")
    run = await both_editor.ended(run)
    assert (run.status, await said(both_editor, thread, run)) == ("interrupted", [])
    assert not (workspace / "no.txt").exists()


@pytest.mark.parametrize(
    ("mode", "asked", "written"),
    [
        ("readOnly", False, False),
        ("approvalRequired", True, True),
        ("autoAcceptEdits", False, True),
        ("fullAccess", False, True),
    ],
)
async def test_each_mode_lets_an_agent_change_files_as_it_says(
    agent: str, both_editor: Editor, workspace: Path, mode: str, asked: bool, written: bool
) -> None:
    thread = await both_editor.new_thread(workspace, agent, runtime_mode=mode)
    run = await both_editor.begin(thread, "write new.txt: hello\nsay: done")
    if asked:
        await answer(both_editor, await both_editor.asked(run))
    assert (await both_editor.ended(run)).status == "completed"
    assert (workspace / "new.txt").exists() == written


async def test_work_is_given_to_another_agent_and_comes_back(
    agent: str, delegating_editor: Editor, model: ModelServer, workspace: Path
) -> None:
    editor = delegating_editor
    thread = await editor.new_thread(workspace, agent)
    order = {"provider": "understudy", "prompt": "write b.txt: two\nsay: b.txt is there", "title": "Write b"}
    run = await editor.say(thread, f"call delegate {json.dumps(order)}\nsay: went well")
    assert (run.status, (workspace / "b.txt").read_text()) == ("completed", "two\n")
    (item,) = of_type(await editor.items(thread, run), "subagent")
    assert (item.provider, item.status, item.result) == ("understudy", "completed", "b.txt is there")
    (tool,) = of_type(await editor.items(thread, run), "tool")
    assert "b.txt is there" in (tool.output or "")


async def test_an_interrupt_reaches_the_agent_that_was_given_work(
    agent: str, delegating_editor: Editor, workspace: Path
) -> None:
    editor = delegating_editor
    thread = await editor.new_thread(workspace, agent)
    order = {"provider": "understudy", "prompt": "sleep 600000"}
    run = await editor.begin(thread, f"call delegate {json.dumps(order)}")
    item = await until_record(editor, thread, lambda r: isinstance(r, SubagentItem) and r.status == "running")
    await editor.call("run/interrupt", run_id=run.id)
    assert (await editor.ended(run)).status == "interrupted"
    (child,) = (await editor.call("thread/read", thread_id=item.child_thread_id)).runs
    assert (await editor.ended(child)).status == "interrupted"
