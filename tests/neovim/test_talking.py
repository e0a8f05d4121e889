"""Threads are opened, spoken in and read, by keystrokes and by command."""

from pathlib import Path

from support.editor import Editor
from support.neovim import Neovim, Script


def test_a_message_is_answered_in_the_threads_buffer(nvim: Neovim) -> None:
    nvim.open("say: good morning")
    lines = nvim.until_shown("completed")
    assert "> say: good morning" in lines
    assert "good morning" in lines
    assert any(line.startswith("## Run 1 · rehearsal · completed") for line in lines)


def test_the_prompt_sends_what_was_written_by_keystrokes(nvim: Neovim) -> None:
    nvim.open()
    nvim.type(":Midstream send<CR>")
    nvim.until("vim.api.nvim_buf_get_name(0):find('prompt', 1, true) and true or false")
    nvim.type("isay: one<CR>say: two<Esc>:w<CR>")
    lines = nvim.until_shown("completed")
    assert "> say: two" in lines
    nvim.until("vim.bo.filetype == 'midstream-thread'")


def test_a_range_goes_along_with_its_file_and_lines(nvim: Neovim, workspace: Path) -> None:
    nvim.open()
    (workspace / "long.txt").write_text("one\ntwo\nthree\n")
    nvim.api.command(f"edit {workspace / 'long.txt'}")
    nvim.api.command("2,3Midstream send say: seen")
    lines = nvim.until_shown("completed")
    assert any(line.startswith("> ↳ ") and line.endswith("long.txt:2-3") for line in lines)


def test_the_last_thread_of_the_workspace_is_opened_again(nvim: Neovim) -> None:
    nvim.open("say: here it is")
    nvim.until_shown("completed")
    thread = nvim.thread_id()
    nvim.api.command("bwipeout")
    nvim.do("open")
    nvim.until("vim.b.midstream_thread")
    assert nvim.thread_id() == thread
    assert "here it is" in nvim.lines()


def test_the_buffers_diagnostics_go_along(nvim: Neovim, workspace: Path, script: Script) -> None:
    nvim.open()
    thread_id = nvim.thread_id()
    nvim.api.command(f"edit {workspace / 'kept.txt'}")
    nvim.lua(
        "vim.diagnostic.set(vim.api.nvim_create_namespace('lint'), 0, "
        "{{lnum = 0, col = 0, end_col = 4, severity = 1, message = 'not a word'}})"
    )
    nvim.do("send ++diagnostics ++file say: seen")
    lines = nvim.until_shown("Run 1 · rehearsal · completed")
    assert any(line.endswith("kept.txt (1 diagnostics)") for line in lines)

    async def read(editor: Editor) -> list[str]:
        (run,) = (await editor.call("thread/read", thread_id=thread_id)).runs
        (told, _) = run.message.attachments
        return [item["message"] for item in told.items]

    assert script(read) == ["not a word"]


def test_a_thread_is_picked_among_those_of_the_workspace(nvim: Neovim) -> None:
    nvim.open("say: the first")
    nvim.until_shown("Run 1 · rehearsal · completed")
    first = nvim.thread_id()
    nvim.open()
    nvim.until("vim.b.midstream_thread ~= ...", first)
    nvim.answer_next(2)
    nvim.do("open pick")
    nvim.until("vim.b.midstream_thread == ...", first)
    assert "say: the first · rehearsal · idle" in nvim.said()


def test_a_message_restarts_the_run_that_is_active(nvim: Neovim) -> None:
    nvim.open("say: first way\nsleep 60000")
    nvim.until_shown("\nfirst way")
    nvim.say("say: second way", "++restart ")
    lines = nvim.until_shown("Run 1 · rehearsal · completed")
    assert "second way" in lines
    assert not any("Run 2" in line for line in lines)


def test_what_agents_may_do_unasked_is_changed(asking: Neovim, workspace: Path) -> None:
    asking.open()
    asking.do("mode fullAccess")
    asking.until_shown("· fullAccess")
    asking.say("run touch made.txt")
    asking.until_shown("Run 1 · rehearsal · completed")
    assert (workspace / "made.txt").exists()
