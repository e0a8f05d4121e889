"""The real Codex killed in each phase, its daemon killed, and native conversations that are gone."""

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import psutil

from midstream.protocol.records.thread import Thread
from scenarios.steps import codes, conversation, handoff_of, said, session_of, strategy
from support.codex import codex_provider, handed_over, is_compaction, user_texts
from support.editor import Editor, editor_on
from support.models.server import ModelServer


async def codex_process(editor: Editor, thread: Thread) -> psutil.Process:
    """Return the Codex that a thread's conversation runs in."""
    session = await session_of(editor, conversation(await editor.read(thread), "codex"))
    assert session.pid is not None
    return psutil.Process(session.pid)


@asynccontextmanager
async def daemon(tmp_path: Path, codex_env: dict[str, str]) -> AsyncIterator[Editor]:
    """A daemon on the same data as the one before."""
    config = {"providers": {"codex": codex_provider(codex_env)}}
    async with editor_on(tmp_path / "data", "--rehearsal", config=config) as editor:
        yield editor


async def test_killed_before_it_took_the_message_it_is_not_trusted_to_have_it_or_not(
    editor: Editor, model: ModelServer, workspace: Path
) -> None:
    thread = await editor.new_thread(workspace, "codex")
    await editor.say(thread, "write a.txt: one")
    await editor.say(thread, "fail: context_overflow: full")
    model.holds = is_compaction  # which comes before Codex takes the next message
    run = await editor.begin(thread, "say: two")
    await model.until(is_compaction)
    (await codex_process(editor, thread)).kill()
    run = await editor.ended(run)
    assert run.failure is not None
    assert (run.status, run.failure.class_) == ("failed", "transport_error")
    doubted = conversation(await editor.read(thread), "codex")
    assert doubted.native_run_ordinals == (1, 2)
    assert [reason.code for reason in doubted.stale_reasons] == ["delivery_uncertain"]

    answered = await editor.call("run/retry", run_id=run.id)
    assert (answered.plan.strategy, codes(answered.plan)) == ("full_thread_summary", ["delivery_uncertain"])
    again = await editor.ended(run)
    assert (again.status, again.provider_thread_id == doubted.id) == ("completed", False)
    assert user_texts(model.requests[-1]) == ["say: two"]
    assert handed_over(model.requests[-1]) == (await handoff_of(editor, again)).sent_text


async def test_killed_in_the_middle_of_its_answer_it_has_the_message_and_is_resumed(
    editor: Editor, model: ModelServer, workspace: Path
) -> None:
    thread = await editor.new_thread(workspace, "rehearsal")
    await editor.say(thread, "write a.txt: one")
    run = await editor.begin(thread, "say: beginning\nsleep 600000", "codex")
    await editor.until_output(run, "beginning")
    (await codex_process(editor, thread)).kill()
    run = await editor.ended(run)
    assert run.failure is not None
    assert (run.status, run.failure.class_) == ("failed", "transport_error")
    assert await said(editor, thread, run) == ["beginning"]
    known = conversation(await editor.read(thread), "codex")
    assert (known.native_run_ordinals, known.stale_reasons) == ((2,), ())
    handoff = await handoff_of(editor, run)

    after = await editor.say(thread, "say: after")
    assert (after.status, after.provider_thread_id) == ("completed", known.id)
    assert user_texts(model.requests[-1]) == ["say: beginning\nsleep 600000", "say: after"]
    assert handed_over(model.requests[-1]).startswith(handoff.sent_text)


async def test_killed_while_it_waits_for_an_answer_its_request_is_withdrawn(editor: Editor, workspace: Path) -> None:
    thread = await editor.new_thread(workspace, "codex", runtime_mode="approvalRequired")
    run = await editor.begin(thread, "run echo no > no.txt")
    request = await editor.asked(run)
    (await codex_process(editor, thread)).kill()
    run = await editor.ended(run)
    assert run.status == "failed"
    listed = await editor.call("request/list", thread_id=thread.id)
    assert [one.status for one in listed.requests if one.id == request.id] in (["cancelled"], ["expired"], [])
    after = await editor.say(thread, "say: after")
    assert (after.status, after.provider_thread_id) == ("completed", run.provider_thread_id)
    assert not (workspace / "no.txt").exists()


async def test_killed_between_two_runs_it_is_started_again_and_resumed(
    editor: Editor, model: ModelServer, workspace: Path
) -> None:
    thread = await editor.new_thread(workspace, "codex")
    first = await editor.say(thread, "say: one")
    process = await codex_process(editor, thread)
    process.kill()
    psutil.wait_procs([process], timeout=10)
    second = await editor.say(thread, "say: two")
    assert (second.status, second.provider_thread_id, second.handoff_ids) == ("completed", first.provider_thread_id, ())
    assert user_texts(model.requests[-1]) == ["say: one", "say: two"]


async def test_after_a_killed_daemon_no_codex_is_left_and_the_conversation_is_resumed(
    tmp_path: Path, codex_env: dict[str, str], model: ModelServer, workspace: Path
) -> None:
    async with daemon(tmp_path, codex_env) as editor:
        thread = await editor.new_thread(workspace, "codex")
        await editor.say(thread, "say: one")
        run = await editor.begin(thread, "say: beginning\nsleep 600000")
        await editor.until_output(run, "beginning")
        process = await codex_process(editor, thread)
        await editor.kill()
    gone, alive = psutil.wait_procs([process], timeout=20)
    assert (len(gone), alive) == (1, [])
    async with daemon(tmp_path, codex_env) as editor:
        await editor.call("thread/subscribe", thread_id=thread.id)
        read = await editor.read(thread)
        assert [one.status for one in read.runs] == ["completed", "interrupted"]
        after = await editor.say(thread, "say: after")
        assert (after.status, after.provider_thread_id) == ("completed", read.runs[0].provider_thread_id)
        texts = user_texts(model.requests[-1])
        assert texts == ["say: one", "say: beginning\nsleep 600000", "say: after"]


async def test_a_conversation_that_is_gone_is_replaced_by_a_new_one_with_a_full_handoff(
    tmp_path: Path, codex_env: dict[str, str], model: ModelServer, workspace: Path
) -> None:
    async with daemon(tmp_path, codex_env) as editor:
        thread = await editor.new_thread(workspace, "codex")
        first = await editor.say(thread, "write a.txt: one")
    for kept in Path(codex_env["CODEX_HOME"]).iterdir():
        if kept.name == "sessions":
            shutil.rmtree(kept)
        elif "sqlite" in kept.name:
            kept.unlink()
    async with daemon(tmp_path, codex_env) as editor:
        await editor.call("thread/subscribe", thread_id=thread.id)
        run = await editor.say(thread, "say: two")
        assert (run.status, strategy(run), codes(run.plan)) == ("completed", "full_thread_summary", ["resume_failed"])
        assert run.provider_thread_id != first.provider_thread_id
        body = model.requests[-1]
        assert user_texts(body) == ["say: two"]
        assert handed_over(body) == (await handoff_of(editor, run)).sent_text
        assert "a.txt" in handed_over(body)
