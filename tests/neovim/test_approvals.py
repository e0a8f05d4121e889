"""What an agent asks is answered by rows of the buffer, and by nothing else."""

from pathlib import Path

from support.editor import Editor
from support.neovim import Neovim, Script


def test_choosing_a_row_allows_with_the_agents_own_words(asking: Neovim, workspace: Path) -> None:
    asking.open("run touch made.txt")
    lines = asking.until_shown("WAITS FOR YOU")
    assert [line for line in lines if line.startswith("  ▢ ")] == ["  ▢ Allow", "  ▢ Always allow", "  ▢ Reject"]
    assert "touch made.txt" in lines
    asking.go_to("▢ Allow")
    asking.type("<CR>")
    lines = asking.until_shown("Run 1 · rehearsal · completed")
    assert not any("▢" in line for line in lines)
    assert (workspace / "made.txt").exists()


def test_rejecting_leaves_the_command_undone(asking: Neovim, workspace: Path) -> None:
    asking.open("run touch made.txt")
    asking.until_shown("▢ Reject")
    asking.go_to("▢ Reject")
    asking.type("<CR>")
    lines = asking.until_shown("Run 1 · rehearsal · completed")
    assert any("answered · Reject" in line for line in lines)
    assert not (workspace / "made.txt").exists()


def test_a_reason_follows_an_answer_that_cannot_carry_it(asking: Neovim, workspace: Path) -> None:
    asking.open("run touch made.txt")
    asking.until_shown("▢ Reject")
    asking.go_to("▢ Reject")
    asking.answer_next("say: make needs it first")
    asking.type("R")
    lines = asking.until_shown("Run 2 · rehearsal · completed")
    assert "> say: make needs it first" in lines
    assert not (workspace / "made.txt").exists()


def test_no_key_answers_where_no_row_is(asking: Neovim, workspace: Path) -> None:
    asking.open("run touch made.txt")
    lines = asking.until_shown("▢ Reject")
    rows = {number for number, line in enumerate(lines, 1) if "▢" in line}
    for number in set(range(1, len(lines) + 1)) - rows:
        if "##" not in lines[number - 1]:
            asking.api.current.window.cursor = (number, 0)
            asking.lua("require('midstream.actions').choose()")
    assert asking.lua("return vim.api.nvim_win_get_cursor(0)[1]") not in rows
    asking.do("interrupt")
    asking.until_shown("Run 1 · rehearsal · interrupted")
    assert not (workspace / "made.txt").exists()


def test_what_is_answered_elsewhere_closes_here(asking: Neovim, script: Script, workspace: Path) -> None:
    asking.open("run touch made.txt")
    asking.until_shown("▢ Allow")

    async def allow(editor: Editor) -> None:
        (request,) = (await editor.call("request/list")).requests
        await editor.call("request/respond", request_id=request.id, decision="accept")

    script(allow)
    lines = asking.until_shown("Run 1 · rehearsal · completed")
    assert not any("▢" in line for line in lines)
    assert any("answered · Allow" in line for line in lines)
    assert (workspace / "made.txt").exists()


def test_text_of_an_agent_that_looks_like_a_row_is_only_text(asking: Neovim, workspace: Path) -> None:
    asking.open("say:   ▢ Allow")
    asking.until_shown("completed")
    asking.say("run touch made.txt")
    asking.until_shown("▢ Reject")
    asking.go_to("▢ Allow")
    asking.lua("require('midstream.actions').choose()")
    assert asking.lua("return #require('midstream.threads').get(vim.b.midstream_thread):open_requests()") == 1


def test_a_question_is_answered_in_the_users_own_words(nvim: Neovim) -> None:
    nvim.open("ask: which colour?")
    lines = nvim.until_shown("WAITS FOR YOU")
    assert any("which colour?" in line for line in lines)
    row = next(line for line in lines if "▢" in line)
    nvim.answer_next("blue" if "own words" in row else 1)
    nvim.go_to(row)
    nvim.type("<CR>")
    nvim.until_shown("Run 1 · rehearsal · completed")


def test_the_cursor_is_taken_to_what_waits_only_when_asked(asking: Neovim) -> None:
    asking.open("run touch made.txt")
    asking.until_shown("▢ Reject")
    asking.type("gr")
    asking.until("vim.api.nvim_get_current_line():find('WAITS FOR YOU', 1, true)")
