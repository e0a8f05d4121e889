"""Threads are forked, merged back, rolled back and taken elsewhere as text."""

from pathlib import Path

from midstream.protocol.records.thread import Thread
from scenarios.steps import received
from support.editor import Editor
from support.neovim import Neovim, Script


def current_lines(nvim: Neovim, text: str) -> list[str]:
    """Wait until the current buffer shows a text, and return its lines."""
    nvim.until("table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n'):find(..., 1, true)", text)
    return nvim.lines()


def test_a_fork_shows_what_it_inherits_and_goes_on_by_itself(nvim: Neovim) -> None:
    nvim.open()
    for number, word in enumerate(("one", "two", "three"), 1):
        nvim.say(f"say: {word}")
        nvim.until_shown(f"Run {number} · rehearsal · completed")
    parent = nvim.thread_id()
    nvim.do("fork 2")
    nvim.until("vim.b.midstream_thread ~= ...", parent)
    lines = current_lines(nvim, "\ntwo\n")
    assert "three" not in lines
    assert sum("· inherited" in line for line in lines) == 2
    assert "⑂ forked from here on; above is inherited" in lines
    nvim.say("say: another way")
    lines = current_lines(nvim, "Run 3 · rehearsal · completed")
    assert lines.index("two") < lines.index("⑂ forked from here on; above is inherited") < lines.index("another way")
    assert sum("· inherited" in line for line in lines) == 2
    nvim.go_to("⑂ a fork: <CR> opens its parent")
    nvim.type("<CR>")
    nvim.until("vim.b.midstream_thread == ...", parent)
    assert "another way" not in nvim.lines()


def test_a_merged_back_fork_is_shown_in_its_parent_and_told_once(nvim: Neovim, script: Script) -> None:
    nvim.open("say: root")
    nvim.until_shown("Run 1 · rehearsal · completed")
    parent = nvim.thread_id()
    nvim.do("fork")
    nvim.until("vim.b.midstream_thread ~= ...", parent)
    nvim.say("say: from the fork")
    current_lines(nvim, "Run 2 · rehearsal · completed")
    nvim.do("merge")
    nvim.until_told("The parent's next run is told what this fork did.")
    nvim.do(f"open {parent}")
    nvim.until("vim.b.midstream_thread == ...", parent)
    current_lines(nvim, "⑂ a fork's work comes back")
    nvim.say("say: next")
    current_lines(nvim, "Run 2 · rehearsal · completed")

    async def heard(editor: Editor) -> list[str]:
        thread: Thread = (await editor.call("thread/read", thread_id=parent)).thread
        return received(await editor.recall(thread, "rehearsal"))

    assert sum("from the fork" in text for text in script(heard)) == 1


def test_runs_are_taken_back_with_their_files_and_shown_as_such(nvim: Neovim, workspace: Path) -> None:
    nvim.open("write a.txt: one")
    nvim.until_shown("Run 1 · rehearsal · completed")
    nvim.say("write a.txt: two")
    nvim.until_shown("Run 2 · rehearsal · completed")
    nvim.api.command(f"aboveleft split {workspace / 'a.txt'}")
    nvim.type("iunsaved <Esc>")
    nvim.until("vim.bo.modified")
    nvim.answer_next(1)
    nvim.do("rollback ++files 1")
    assert "a.txt" in nvim.until_told("Nothing was changed")
    assert (workspace / "a.txt").read_text() == "two\n"
    assert any("Run 2 · rehearsal · completed" in line for line in nvim.lines(nvim.thread_buffer()))
    nvim.api.command("undo")
    nvim.until("not vim.bo.modified")
    nvim.do("rollback ++files 1")
    nvim.until_told("Runs that were taken back: 1")
    nvim.until_shown("Run 2 · rehearsal · rolled back")
    assert (workspace / "a.txt").read_text() == "one\n"
    nvim.until("vim.deep_equal(vim.api.nvim_buf_get_lines(0, 0, -1, false), {'one'})")


def test_a_thread_opens_as_text_in_both_formats(nvim: Neovim) -> None:
    nvim.open("say: hello")
    nvim.until_shown("Run 1 · rehearsal · completed")
    nvim.do("export")
    nvim.until("vim.bo.filetype == 'markdown'")
    lines = current_lines(nvim, "> say: hello")
    assert lines[0] == "# say: hello"
    assert nvim.lua("return vim.bo.modified")
    nvim.api.command("tabprevious")
    nvim.do("export jsonl")
    nvim.until("vim.bo.filetype == 'json'")
    assert nvim.lines()[0] == '{"type":"midstream","version":1}'


def test_what_cannot_be_forked_or_merged_is_explained(nvim: Neovim) -> None:
    nvim.open("say: root")
    nvim.until_shown("Run 1 · rehearsal · completed")
    nvim.do("fork 7")
    nvim.until_told("There is no run 7 in this thread.")
    nvim.do("fork first")
    nvim.until_told("`first` is no run's number.")
    nvim.do("merge")
    nvim.until_told("fork")
