"""The daemon may go, and others may take part: the thread and its buffer stay whole."""

import os
import signal
from pathlib import Path

from midstream.protocol.records.thread import Thread
from support.editor import Editor
from support.neovim import Neovim, Script, neovim_on


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


def test_a_request_that_the_daemon_took_with_it_is_reported(nvim: Neovim) -> None:
    nvim.open("say: hello")
    nvim.until_shown("completed")
    pid = nvim.daemon_pid()
    os.kill(pid, signal.SIGSTOP)
    nvim.do("checkpoints create")
    os.kill(pid, signal.SIGKILL)
    nvim.until_told("ended before it answered")


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
