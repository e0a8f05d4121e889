"""The daemon may go, and others may take part: the thread and its buffer stay whole."""

import os
import signal
import sys
from pathlib import Path

from midstream.protocol.records.thread import Thread
from support.editor import Editor
from support.neovim import Neovim, Script, neovim_on

TESTS = Path(__file__).parents[1]


def test_a_daemon_killed_in_mid_stream_is_started_by_the_next_command(nvim: Neovim) -> None:
    nvim.open("say: before the end\nsleep 60000")
    nvim.until_shown("\nbefore the end")
    nvim.until_shown("Run 1 · rehearsal · running")
    buffer = nvim.thread_buffer()
    os.kill(nvim.daemon_pid(), signal.SIGKILL)
    nvim.until_told("The daemon has ended")
    lines = nvim.until_shown("the daemon has ended; the next command starts it again")
    assert "before the end" in lines
    nvim.say("say: and after")
    lines = nvim.until_shown("Run 2 · rehearsal · completed")
    assert any("Run 1 · rehearsal · interrupted" in line for line in lines)
    assert lines.count("before the end") == 1
    assert "and after" in lines
    assert nvim.thread_buffer() == buffer


def test_a_question_that_the_daemon_took_with_it_is_reported(nvim: Neovim) -> None:
    nvim.open("say: hello")
    nvim.until_shown("completed")
    pid = nvim.daemon_pid()
    os.kill(pid, signal.SIGSTOP)
    nvim.do("open pick")
    os.kill(pid, signal.SIGKILL)
    nvim.until_told("ended before it answered")


def test_a_command_that_the_daemon_took_with_it_is_sent_again(nvim: Neovim) -> None:
    nvim.open("say: hello")
    nvim.until_shown("completed")
    pid = nvim.daemon_pid()
    os.kill(pid, signal.SIGSTOP)
    nvim.do("send say: not lost")
    os.kill(pid, signal.SIGKILL)
    lines = nvim.until_shown("Run 2 · rehearsal · completed")
    assert "not lost" in lines
    assert nvim.daemon_pid() != pid


def test_a_command_that_was_committed_and_not_answered_is_not_done_twice(tmp_path: Path, workspace: Path) -> None:
    faults = tmp_path / "faults"
    faults.mkdir()
    data = tmp_path / "data"
    daemon = [sys.executable, "-m", "support.faulty_daemon", str(data)]
    environment = [f"PYTHONPATH={TESTS}", f"MIDSTREAM_FAULT_FOLDER={faults}"]
    with neovim_on(data, workspace, cmd=["env", *environment, *daemon]) as nvim:
        nvim.open("say: hello")
        nvim.until_shown("Run 1 · rehearsal · completed")
        (faults / "armed").write_text("after commit of KeepCheckpoint")
        nvim.do("checkpoints create only once")
        nvim.until_told("A checkpoint was taken.")
        assert "after commit of KeepCheckpoint" in (faults / "reached").read_text()
        nvim.until("require('midstream.client').is_connected()")
        nvim.answer_next(1)
        nvim.do("checkpoints")
        nvim.until_told("Compare the files with")
        assert len([message for message in nvim.said() if "only once" in message]) == 1


def test_who_stops_and_comes_back_at_once_is_connected_again(nvim: Neovim) -> None:
    nvim.open("say: hello")
    nvim.until_shown("Run 1 · rehearsal · completed")
    nvim.lua("vim.cmd('Midstream stop'); vim.cmd('Midstream send say: back')")
    nvim.until_shown("Run 2 · rehearsal · completed")
    assert not any("The daemon" in told for told in nvim.said())


def test_events_that_were_missed_are_asked_for(nvim: Neovim) -> None:
    nvim.open("say: first")
    nvim.until_shown("Run 1 · rehearsal · completed")
    nvim.lua("local thread = require('midstream.current').thread(); thread.sequence, thread.runs = 0, {}")
    nvim.say("say: second")
    lines = nvim.until_shown("Run 2 · rehearsal · completed")
    assert any(line.startswith("## Run 1 · rehearsal · completed") for line in lines)
    assert lines.count("first") == 1


def test_an_event_that_is_known_changes_nothing(nvim: Neovim) -> None:
    nvim.open("say: first")
    lines = nvim.until_shown("Run 1 · rehearsal · completed")
    nvim.until_shown("— idle")
    lines = nvim.lines()
    thread = nvim.lua("local t = require('midstream.current').thread(); return {t.id, t.sequence, t:started_runs()[1]}")
    record = {**thread[2], "status": "running"}
    nvim.hear("thread/event", {"threadId": thread[0], "sequence": thread[1], "type": "run", "record": record})
    nvim.say("say: second")
    assert nvim.until_shown("Run 2 · rehearsal · completed")[: len(lines) - 2] == lines[:-2]


def test_two_neovims_and_a_script_stay_in_step(nvim: Neovim, script: Script, tmp_path: Path, workspace: Path) -> None:
    nvim.open("say: from the first")
    nvim.until_shown("Run 1 · rehearsal · completed")
    thread_id = nvim.thread_id()
    with neovim_on(tmp_path / "data", workspace, runtime_mode="fullAccess") as second:
        second.do("open")
        second.until_shown("\nfrom the first")
        second.say("say: from the second")
        nvim.until_shown("Run 2 · rehearsal · completed")

        async def speak(editor: Editor) -> None:
            thread: Thread = (await editor.call("thread/read", thread_id=thread_id)).thread
            await editor.say(thread, "say: from the script", "understudy")

        script(speak)
        one = nvim.until_shown("Run 3 · understudy · completed")
        other = second.until_shown("Run 3 · understudy · completed")
        assert "from the script" in one
        nvim.until_shown("— idle · next: understudy")
        second.until_shown("— idle · next: understudy")
        assert nvim.lines(nvim.thread_buffer()) == second.lines(second.thread_buffer())
        assert other[0] == one[0]


def test_a_thread_that_is_deleted_elsewhere_says_so(nvim: Neovim, script: Script) -> None:
    nvim.open("say: hello")
    nvim.until_shown("completed")
    thread_id = nvim.thread_id()

    async def delete(editor: Editor) -> None:
        await editor.call("thread/delete", thread_id=thread_id)

    script(delete)
    nvim.until_shown("— deleted")


def test_a_long_thread_is_loaded_in_pages_from_both_ends(tmp_path: Path, workspace: Path) -> None:
    with neovim_on(tmp_path / "data", workspace, runtime_mode="fullAccess", page=10) as nvim:
        nvim.open()
        for number in range(1, 13):
            nvim.say(f"say: number {number}")
            nvim.until_shown(f"Run {number} · rehearsal · completed")
        complete = nvim.lines()
        nvim.api.command("bwipeout")
        nvim.do("open")
        nvim.until_shown("\nnumber 12")
        assert "⋯ more items: come here to load them" in nvim.lines()
        assert "number 1" not in nvim.lines()
        nvim.type("gg")
        nvim.until_shown("\nnumber 1\n")
        for _ in range(40):
            nvim.lua("local g = vim.fn.search('^⋯ more items', 'w')")
            nvim.lua("require('midstream.view').load_near(vim.api.nvim_get_current_buf())")
        nvim.until("vim.fn.search('^⋯ more items', 'wn') == 0")
        assert nvim.lines() == complete
