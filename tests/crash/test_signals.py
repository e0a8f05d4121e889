"""Daemons and agents that are told to end, and that stand still for a while, as in a machine that sleeps."""

import asyncio
import os
import signal
from pathlib import Path

import psutil
import pytest

from crash.stage import Stage
from scenarios.steps import conversation, of_type, session_of
from support.editor import PATIENCE, editor_on, process_gone


async def test_a_daemon_that_is_told_to_end_in_the_middle_of_a_run_leaves_no_agent_and_no_doubt(
    tmp_path: Path, workspace: Path
) -> None:
    async with editor_on(tmp_path / "data", "--rehearsal") as editor:
        thread = await editor.new_thread(workspace)
        run = await editor.begin(thread, "append log.txt: once\nsay: at work\nsleep 600000")
        await editor.until_output(run, "at work")
        daemon = psutil.Process(editor.daemon_pid())
        agents = daemon.children(recursive=True)
        assert agents
        daemon.send_signal(signal.SIGTERM)
        await asyncio.wait_for(editor.process.wait(), PATIENCE)
        await process_gone(daemon.pid)
        _, alive = await asyncio.to_thread(psutil.wait_procs, agents, timeout=PATIENCE)
        assert alive == []
        assert list((tmp_path / "data").rglob("*.partial")) == []
    async with editor_on(tmp_path / "data", "--rehearsal") as editor:
        assert (await editor.ended(run)).status == "interrupted"
        after = await editor.say(thread, "say: on")
        assert after.status == "completed"
        known = conversation(await editor.read(thread), "rehearsal")
        assert known.native_run_ordinals == (1, 2)
        assert (workspace / "log.txt").read_text().split() == ["once"]


async def until_there(path: Path) -> None:
    """Wait until a file is there, written by somebody who cannot tell us."""
    command = f'until [ -e "{path}" ]; do sleep 0.02; done'
    waiting = await asyncio.create_subprocess_shell(command)
    await asyncio.wait_for(waiting.wait(), PATIENCE)


async def test_a_daemon_that_stood_still_takes_down_all_that_its_agent_said_meanwhile(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    try:
        editor = await stage.start()
        thread = await editor.new_thread(stage.workspace)
        run = await stage.busy(editor, thread, then="say: meanwhile\nwrite there.txt: done")
        os.kill(editor.daemon_pid(), signal.SIGSTOP)
        stage.open_gate()
        await until_there(stage.workspace / "there.txt")
        os.kill(editor.daemon_pid(), signal.SIGCONT)
        assert (await editor.ended(run)).status == "completed"
        words = [item.text for item in of_type(await editor.items(thread, run), "agentMessage")]
        assert words == ["at work", "meanwhile"]
        assert await editor.leave() == 0
    finally:
        await stage.close()


@pytest.mark.parametrize("sleeper", ["daemon", "agent"])
async def test_a_question_is_still_open_after_daemon_or_agent_stood_still(tmp_path: Path, sleeper: str) -> None:
    stage = Stage(tmp_path)
    try:
        # Both times are shorter than the nap.
        editor = await stage.start(sessions={"unattendedMinutes": 0.002, "idleMinutes": 0.002})
        thread = await editor.new_thread(stage.workspace, runtime_mode="approvalRequired")
        run = await editor.begin(thread, stage.remark("run echo allowed >> log.txt"))
        request = await editor.asked(run)
        session = await session_of(editor, conversation(await editor.read(thread), "rehearsal"))
        assert session.pid is not None
        asleep = psutil.Process(editor.daemon_pid() if sleeper == "daemon" else session.pid)
        asleep.suspend()
        nap = await asyncio.create_subprocess_exec("sleep", "0.5")
        await nap.wait()
        asleep.resume()
        await editor.call("request/respond", request_id=request.id, decision="accept")
        assert (await editor.ended(run)).status == "completed"
        assert (stage.workspace / "log.txt").read_text() == "allowed\n"
        assert await editor.leave() == 0
    finally:
        await stage.close()
