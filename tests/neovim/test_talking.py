"""Threads are opened, spoken in and read, by keystrokes and by command."""

from pathlib import Path

from support.neovim import Neovim


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
