"""The real Claude Code killed in each phase, its daemon killed, and native conversations that are gone."""

import json
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import psutil

from midstream.protocol.notifications import ThreadEvent
from scenarios.steps import codes, conversation, handoff_of, said, strategy
from support.claude import claude_process, claude_provider, user_blocks
from support.editor import Editor, editor_on
from support.models.server import ModelServer


@asynccontextmanager
async def daemon(tmp_path: Path, env: dict[str, str]) -> AsyncIterator[Editor]:
    """A daemon on the same data as the one before."""
    config = {"providers": {"claude": claude_provider(env)}}
    async with editor_on(tmp_path / "data", "--rehearsal", config=config) as editor:
        yield editor


async def test_killed_in_the_middle_of_its_answer_it_has_the_message_and_is_resumed(
    claude_editor: Editor, claude_env: dict[str, str], model: ModelServer, workspace: Path
) -> None:
    thread = await claude_editor.new_thread(workspace, "rehearsal")
    await claude_editor.say(thread, "write a.txt: one")
    run = await claude_editor.begin(thread, "say: beginning\nsleep 600000", "claude")
    await claude_editor.until_output(run, "beginning")
    claude_process(claude_env).kill()
    run = await claude_editor.ended(run)
    assert run.failure is not None
    assert (run.status, run.failure.class_) == ("failed", "transport_error")
    assert await said(claude_editor, thread, run) == ["beginning"]
    known = conversation(await claude_editor.read(thread), "claude")
    assert (known.native_run_ordinals, known.stale_reasons) == ((2,), ())
    handoff = await handoff_of(claude_editor, run)

    after = await claude_editor.say(thread, "say: after")
    assert (after.status, after.provider_thread_id) == ("completed", known.id)
    texts = user_blocks(model.requests[-1])
    assert texts[:2] == [handoff.sent_text, "say: beginning\nsleep 600000"]
    assert texts[-1] == "say: after"
    kept = json.dumps([one for one in model.requests[-1]["messages"] if one["role"] == "assistant"])
    assert ("beginning" in kept) != ("beginning" in "".join(texts[2:]))  # told where it was not kept


async def test_killed_while_it_waits_for_an_answer_its_request_is_withdrawn(
    claude_editor: Editor, claude_env: dict[str, str], workspace: Path
) -> None:
    thread = await claude_editor.new_thread(workspace, "claude", runtime_mode="approvalRequired")
    run = await claude_editor.begin(thread, "run echo no > no.txt")
    request = await claude_editor.asked(run)
    claude_process(claude_env).kill()
    run = await claude_editor.ended(run)
    assert run.status == "failed"
    listed = await claude_editor.call("request/list", thread_id=thread.id)
    assert "pending" not in [one.status for one in listed.requests if one.id == request.id]
    after = await claude_editor.say(thread, "say: after")
    assert (after.status, after.provider_thread_id) == ("completed", run.provider_thread_id)
    assert not (workspace / "no.txt").exists()


async def test_killed_between_two_runs_it_is_started_again_and_resumed(
    claude_editor: Editor, claude_env: dict[str, str], model: ModelServer, workspace: Path
) -> None:
    thread = await claude_editor.new_thread(workspace, "claude")
    first = await claude_editor.say(thread, "say: one")
    process = claude_process(claude_env)
    process.kill()
    psutil.wait_procs([process], timeout=10)
    second = await claude_editor.say(thread, "say: two")
    assert (second.status, second.provider_thread_id, second.handoff_ids) == ("completed", first.provider_thread_id, ())
    assert user_blocks(model.requests[-1]) == ["say: one", "say: two"]


async def test_a_killed_one_that_had_kept_nothing_yet_is_replaced_by_a_new_one_with_a_full_handoff(
    claude_editor: Editor, claude_env: dict[str, str], model: ModelServer, workspace: Path
) -> None:
    thread = await claude_editor.new_thread(workspace, "claude")
    run = await claude_editor.begin(thread, "say: beginning\nsleep 600000")
    await claude_editor.until_output(run, "beginning")
    process = claude_process(claude_env)
    process.suspend()  # it writes its file now or then, and is to write none once that is gone
    shutil.rmtree(Path(claude_env["CLAUDE_CONFIG_DIR"]) / "projects", ignore_errors=True)
    process.kill()
    run = await claude_editor.ended(run)
    after = await claude_editor.say(thread, "say: after")
    assert (after.status, strategy(after), codes(after.plan)) == ("completed", "full_thread_summary", ["resume_failed"])
    assert after.provider_thread_id != run.provider_thread_id
    assert user_blocks(model.requests[-1]) == [(await handoff_of(claude_editor, after)).sent_text, "say: after"]


async def test_after_a_killed_daemon_no_claude_is_left_and_the_conversation_is_resumed(
    tmp_path: Path, claude_env: dict[str, str], model: ModelServer, workspace: Path
) -> None:
    async with daemon(tmp_path, claude_env) as editor:
        thread = await editor.new_thread(workspace, "claude")
        await editor.say(thread, "say: one")
        await editor.begin(thread, "run until [ -e never ]; do sleep 1; done; touch late.txt")
        await editor.until(lambda n: isinstance(n, ThreadEvent) and getattr(n.record, "type", None) == "command")
        process = claude_process(claude_env)
        await editor.kill()
    gone, alive = psutil.wait_procs([process], timeout=20)
    assert (len(gone), alive) == (1, [])
    async with daemon(tmp_path, claude_env) as editor:
        await editor.call("thread/subscribe", thread_id=thread.id)
        read = await editor.read(thread)
        assert [one.status for one in read.runs] == ["completed", "interrupted"]
        after = await editor.say(thread, "say: after")
        assert (after.status, after.provider_thread_id) == ("completed", read.runs[0].provider_thread_id)
        assert user_blocks(model.requests[-1])[0] == "say: one"
        assert user_blocks(model.requests[-1])[-1] == "say: after"
    assert not (workspace / "late.txt").exists()


async def test_a_conversation_that_is_gone_is_replaced_by_a_new_one_with_a_full_handoff(
    tmp_path: Path, claude_env: dict[str, str], model: ModelServer, workspace: Path
) -> None:
    async with daemon(tmp_path, claude_env) as editor:
        thread = await editor.new_thread(workspace, "claude")
        first = await editor.say(thread, "write a.txt: one")
    shutil.rmtree(Path(claude_env["CLAUDE_CONFIG_DIR"]) / "projects")
    async with daemon(tmp_path, claude_env) as editor:
        await editor.call("thread/subscribe", thread_id=thread.id)
        run = await editor.say(thread, "say: two")
        assert (run.status, strategy(run), codes(run.plan)) == ("completed", "full_thread_summary", ["resume_failed"])
        assert run.provider_thread_id != first.provider_thread_id
        handoff, words = user_blocks(model.requests[-1])
        assert (handoff, words) == ((await handoff_of(editor, run)).sent_text, "say: two")
        assert "a.txt" in handoff
