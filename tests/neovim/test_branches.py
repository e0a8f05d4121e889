"""Threads branch off, give their work back, are rolled back, and leave as text."""

import json
from pathlib import Path

from support.neovim import Neovim


def test_a_fork_shows_what_it_inherits_and_its_agent_knows_just_that(nvim: Neovim) -> None:
    nvim.open("say: first")
    nvim.until_shown("Run 1 · rehearsal · completed")
    nvim.do("send say: second")
    nvim.until_shown("Run 2 · rehearsal · completed")
    source = nvim.thread_id()
    nvim.do("fork 1")
    nvim.until("vim.b.midstream_thread and vim.b.midstream_thread ~= ...", source)
    lines = until_here(nvim, "## Run 1 · rehearsal · completed · inherited")
    assert "first" in lines
    assert "second" not in lines
    assert "⑂ a fork: <CR> opens its parent" in lines
    nvim.do("send recall")
    lines = until_here(nvim, "Run 2 · rehearsal · completed")
    (recalled,) = [line for line in lines if line.startswith(("{", "["))]
    assert "say: first" in recalled
    assert "say: second" not in recalled


def test_a_forks_work_waits_in_its_parent_and_reaches_the_next_run(nvim: Neovim, workspace: Path) -> None:
    nvim.open("say: first")
    nvim.until_shown("Run 1 · rehearsal · completed")
    source, buffer = nvim.thread_id(), nvim.thread_buffer()
    nvim.do("fork")
    nvim.until("vim.b.midstream_thread and vim.b.midstream_thread ~= ...", source)
    nvim.do("send write forked.txt: yes")
    until_here(nvim, "Run 2 · rehearsal · completed")
    nvim.do("merge")
    nvim.until_told("The parent's next run is told what this fork did.")
    nvim.api.command(f"buffer {buffer}")
    until_here(nvim, "⑂ a fork's work comes back")
    nvim.do("send recall")
    lines = until_here(nvim, "Run 2 · rehearsal · completed")
    assert any("forked.txt" in line for line in lines if line.startswith(("{", "[")))


def test_a_rollback_with_files_names_an_unsaved_one_and_changes_nothing_unless_told(
    nvim: Neovim, workspace: Path
) -> None:
    nvim.open("append kept.txt: one")
    nvim.until_shown("Run 1 · rehearsal · completed")
    nvim.do("send append kept.txt: two")
    nvim.until_shown("Run 2 · rehearsal · completed")
    nvim.api.command(f"split {workspace / 'kept.txt'}")
    nvim.type("iunsaved <Esc>")
    nvim.until("vim.bo.modified")
    nvim.api.command("wincmd w")
    nvim.answer_next(1)
    nvim.do("rollback ++files 1")
    assert "kept.txt" in nvim.until_told("Nothing was changed")
    assert (workspace / "kept.txt").read_text() == "kept\none\ntwo\n"
    assert any("Run 2 · rehearsal · completed" in line for line in nvim.lines(nvim.thread_buffer()))
    nvim.answer_next(2)
    nvim.do("rollback ++files 1")
    nvim.until_told("Runs that were taken back: 1")
    nvim.until_told("1 file written")
    assert (workspace / "kept.txt").read_text() == "kept\none\n"
    nvim.until_shown("Run 2 · rehearsal · rolled back")
    nvim.do("send recall")
    lines = nvim.until_shown("Run 3 · rehearsal · completed")
    assert not any("kept.txt: two" in line for line in lines if line.startswith(("{", "[")))


def test_a_thread_opens_as_markdown_and_as_records(nvim: Neovim) -> None:
    nvim.open("say: to be kept")
    nvim.until_shown("Run 1 · rehearsal · completed")
    nvim.do("export")
    nvim.until("vim.bo.filetype == 'markdown' and #vim.api.nvim_list_tabpages() == 2")
    assert any("to be kept" in line for line in nvim.lines())
    nvim.api.command("tabclose")
    nvim.do("export jsonl")
    nvim.until("vim.bo.filetype == 'json'")
    assert [json.loads(line) for line in nvim.lines() if line]


def until_here(nvim: Neovim, text: str) -> list[str]:
    """Wait until the current buffer shows a text; return its lines."""
    nvim.until("table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n'):find(..., 1, true) ~= nil", text)
    return nvim.lines()
