"""Diffs, single changes taken back, and the editor's own buffers beside the agents' edits."""

from pathlib import Path

from support.editor import Editor
from support.neovim import Neovim, Script


def test_a_runs_diff_is_shown_side_by_side_with_all_hunks_listed(nvim: Neovim, workspace: Path) -> None:
    nvim.open("append kept.txt: more\nwrite new.txt: new")
    nvim.until_shown("Run 1 · rehearsal · completed")
    nvim.type(":Midstream diff<CR>")
    nvim.until("#vim.fn.getqflist() == 2 and vim.t.midstream_diff and #vim.api.nvim_tabpage_list_wins(0) == 2")
    texts = nvim.lua("return vim.tbl_map(function(entry) return entry.text end, vim.fn.getqflist())")
    assert texts == ["+more", "+new"]
    sides = nvim.lua(
        "return vim.tbl_map(function(w) return {vim.wo[w].diff, vim.api.nvim_buf_get_lines("
        "vim.api.nvim_win_get_buf(w), 0, -1, false)} end, vim.api.nvim_tabpage_list_wins(0))"
    )
    assert sides == [[True, ["kept"]], [True, ["kept", "more"]]]
    bars = nvim.lua("return vim.tbl_map(function(w) return vim.wo[w].winbar end, vim.api.nvim_tabpage_list_wins(0))")
    assert bars[0].startswith("BEFORE · ")
    assert "· before run 1 ·" in bars[0]
    assert bars[1] == "AFTER · as it is now%<"


def test_the_next_file_of_the_list_is_shown_with_its_other_side(nvim: Neovim, workspace: Path) -> None:
    (workspace / "other.txt").write_text("before\n")
    nvim.open("append kept.txt: more\nappend other.txt: after")
    nvim.until_shown("Run 1 · rehearsal · completed")
    nvim.do("diff")
    nvim.until("#vim.fn.getqflist() == 2")
    nvim.api.command("cfirst | copen | wincmd p | cnext")
    nvim.until("vim.t.midstream_diff == 'other.txt' and #vim.api.nvim_tabpage_list_wins(0) == 3")
    nvim.until(
        "vim.deep_equal({{'before'}, {'before', 'after'}}, vim.iter(vim.api.nvim_tabpage_list_wins(0))"
        ":filter(function(w) return vim.wo[w].diff end)"
        ":map(function(w) return vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(w), 0, -1, false) end):totable())"
    )


def test_a_file_that_an_agent_deleted_is_named_where_it_is_open(nvim: Neovim, workspace: Path) -> None:
    nvim.api.command(f"edit {workspace / 'kept.txt'}")
    nvim.open("delete kept.txt")
    nvim.until_told("these are gone from the disk, and still open: kept.txt")
    assert "E211" not in nvim.api.command_output("messages")


def test_one_change_is_rejected_and_the_other_accepted(nvim: Neovim, workspace: Path) -> None:
    (workspace / "kept.txt").write_text("".join(f"line {number}\n" for number in range(1, 21)))
    nvim.open("run sed -i 's/^line 2$/two/; s/^line 19$/nineteen/' kept.txt")
    nvim.until_shown("Run 1 · rehearsal · completed")
    nvim.do("diff")
    nvim.until("#vim.fn.getqflist() == 2")
    nvim.api.current.window.cursor = (19, 0)
    nvim.do("reject")
    nvim.until_told("Changes that are left: 1")
    assert (workspace / "kept.txt").read_text().splitlines()[18] == "line 19"
    assert nvim.lines()[18] == "line 19"
    nvim.api.current.window.cursor = (2, 0)
    nvim.do("accept")
    nvim.until_told("All changes are settled.")
    assert (workspace / "kept.txt").read_text().splitlines()[1] == "two"


def test_a_whole_file_is_rejected(nvim: Neovim, workspace: Path) -> None:
    nvim.open("append kept.txt: more")
    nvim.until_shown("Run 1 · rehearsal · completed")
    nvim.do("diff")
    nvim.until("#vim.fn.getqflist() == 1")
    nvim.do("reject file")
    nvim.until_told("All changes are settled.")
    assert (workspace / "kept.txt").read_text() == "kept\n"


def test_a_buffer_without_unsaved_edits_follows_the_agent(nvim: Neovim, workspace: Path) -> None:
    nvim.api.command(f"edit {workspace / 'kept.txt'}")
    nvim.open("append kept.txt: more")
    nvim.until("vim.deep_equal(vim.api.nvim_buf_get_lines(vim.fn.bufnr('kept.txt'), 0, -1, false), {'kept', 'more'})")


def test_a_buffer_with_unsaved_edits_is_protected_and_named(nvim: Neovim, workspace: Path) -> None:
    nvim.api.command(f"edit {workspace / 'kept.txt'}")
    nvim.type("iunsaved <Esc>")
    nvim.until("vim.bo.modified")
    nvim.open("append kept.txt: more")
    nvim.until_told("have unsaved edits: kept.txt")
    assert nvim.lua("return vim.api.nvim_buf_get_lines(vim.fn.bufnr('kept.txt'), 0, -1, false)") == ["unsaved kept"]


def test_a_restore_names_the_unsaved_file_and_changes_nothing_unless_told(nvim: Neovim, workspace: Path) -> None:
    nvim.open("append kept.txt: more")
    nvim.until_shown("Run 1 · rehearsal · completed")
    nvim.api.command(f"split {workspace / 'kept.txt'}")
    nvim.type("iunsaved <Esc>")
    nvim.until("vim.bo.modified")
    baseline = nvim.lua("return require('midstream.current').thread():started_runs()[1].baselineCheckpointId")
    nvim.answer_next(1)
    nvim.do(f"restore {baseline}")
    told = nvim.until_told("Nothing was changed")
    assert "kept.txt" in told
    assert (workspace / "kept.txt").read_text() == "kept\nmore\n"
    nvim.answer_next(2)
    nvim.do(f"restore {baseline}")
    nvim.until_told("1 file written")
    assert (workspace / "kept.txt").read_text() == "kept\n"
    assert nvim.lines() == ["unsaved kept", "more"]


def test_a_restore_is_undone_by_restoring_the_checkpoint_that_it_made(nvim: Neovim, workspace: Path) -> None:
    nvim.open("append kept.txt: more")
    nvim.until_shown("Run 1 · rehearsal · completed")
    baseline = nvim.lua("return require('midstream.current').thread():started_runs()[1].baselineCheckpointId")
    nvim.do(f"restore {baseline}")
    nvim.until_told("`:Midstream restore` can undo it")
    assert (workspace / "kept.txt").read_text() == "kept\n"
    nvim.answer_next(1)
    nvim.do("restore")
    nvim.until("#vim.tbl_filter(function(told) return told:find('1 file written', 1, true) end, _G.told) == 2")
    assert any("· safety ·" in message for message in nvim.said())
    assert (workspace / "kept.txt").read_text() == "kept\nmore\n"


def test_symbolic_links_to_the_workspace_and_in_it_lead_to_the_same_unsaved_file(
    nvim: Neovim, workspace: Path, tmp_path: Path, script: Script
) -> None:
    link = tmp_path / "link"
    link.symlink_to(workspace)
    (workspace / "alias.txt").symlink_to("kept.txt")

    async def create(editor: Editor) -> str:
        return str((await editor.call("thread/create", workspace=link.as_uri(), runtime_mode="fullAccess")).thread.id)

    nvim.api.command(f"cd {link}")
    nvim.do(f"open {script(create)}")
    nvim.until("vim.bo.filetype == 'midstream-thread'")
    nvim.say("append kept.txt: more")
    nvim.until_shown("Run 1 · rehearsal · completed")
    nvim.api.command(f"edit {link / 'alias.txt'}")
    nvim.type("iunsaved <Esc>")
    nvim.until("vim.bo.modified")
    baseline = nvim.lua("return require('midstream.current').thread():started_runs()[1].baselineCheckpointId")
    nvim.answer_next(1)
    nvim.do(f"restore {baseline}")
    assert "kept.txt" in nvim.until_told("Nothing was changed")
    nvim.api.command("undo")
    nvim.until("not vim.bo.modified")
    nvim.do(f"restore {baseline}")
    nvim.until_told("1 file written")
    assert nvim.lines() == ["kept"]


def test_a_checkpoint_is_taken_and_the_files_compared_with_it(nvim: Neovim, workspace: Path) -> None:
    nvim.open("say: hello")
    nvim.until_shown("completed")
    nvim.do("checkpoints create before lunch")
    nvim.until_told("A checkpoint was taken.")
    (workspace / "kept.txt").write_text("after lunch\n")
    nvim.answer_next(1)
    nvim.do("checkpoints")
    nvim.until("vim.t.midstream_diff and true or false")
    listed = [message.split(" · ")[1:] for message in nvim.said() if message.endswith(" files")]
    assert listed[0] == ["manual", "before lunch", "0 files"]
    assert [words[0] for words in listed[1:]] == ["after run 1", "before run 1"]
    assert nvim.lines() == ["after lunch"]
