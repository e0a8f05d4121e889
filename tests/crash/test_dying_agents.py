"""Agents that are killed while their run waits for an answer, and between two runs."""

import asyncio
from pathlib import Path

import psutil
import pytest

from crash.stage import Recorder, Stage
from crash.verdict import goes_on, no_process_is_left
from midstream.protocol.records.thread import Thread
from scenarios.steps import conversation, of_type, session_of
from support.editor import Refused


async def kill_agent(editor: Recorder, thread: Thread) -> None:
    """Kill the agent of a thread, and see that it is gone."""
    session = await session_of(editor, conversation(await editor.read(thread), "rehearsal"))
    assert session.pid is not None
    agent = psutil.Process(session.pid)
    agent.kill()
    await asyncio.to_thread(psutil.wait_procs, [agent], timeout=20)


async def test_a_question_whose_agent_was_killed_is_closed_and_its_run_fails(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    try:
        editor = await stage.start()
        thread = await editor.new_thread(stage.workspace, runtime_mode="approvalRequired")
        run = await editor.begin(thread, stage.remark("run echo allowed >> log.txt"))
        request = await editor.asked(run)
        await kill_agent(editor, thread)
        ended = await editor.ended(run)
        assert ended.failure is not None
        assert (ended.status, ended.failure.class_) == ("failed", "transport_error")
        with pytest.raises(Refused) as refused:
            await editor.call("request/respond", request_id=request.id, decision="accept")
        assert refused.value.kind == "requestNotResumable"
        (approval,) = of_type(await editor.items(thread, run), "approval")
        assert approval.status == "cancelled"
        assert not (stage.workspace / "log.txt").exists()
        await goes_on(stage, editor, thread)
        assert await editor.leave() == 0
        await no_process_is_left(stage)
    finally:
        await stage.close()


async def test_an_agent_killed_between_two_runs_is_started_again_and_resumed(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    try:
        editor = await stage.start()
        thread = await editor.new_thread(stage.workspace)
        first = await editor.say(thread, stage.words())
        await kill_agent(editor, thread)
        second = await editor.say(thread, stage.words())
        assert (second.status, second.provider_thread_id) == ("completed", first.provider_thread_id)
        assert second.plan is not None
        assert second.plan.strategy == "none"
        await goes_on(stage, editor, thread)
        assert await editor.leave() == 0
        await no_process_is_left(stage)
    finally:
        await stage.close()
