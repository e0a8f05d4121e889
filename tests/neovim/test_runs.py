"""Runs are steered, interrupted, queued and tried again; what streams moves neither cursor nor focus."""

from support.neovim import Neovim


def test_streaming_moves_neither_the_cursor_nor_the_focus(nvim: Neovim) -> None:
    nvim.open("say: first")
    nvim.until_shown("Run 1 · rehearsal · completed")
    nvim.api.command("aboveleft split")
    nvim.api.command("enew")
    here = nvim.lua("return {vim.api.nvim_get_current_win(), vim.fn.bufwinid('midstream://thr')}")
    window = nvim.lua("return vim.fn.win_findbuf(...)[1]", nvim.thread_buffer())
    nvim.lua("vim.api.nvim_win_set_cursor(..., {2, 3})", window)
    thread = nvim.lua("return vim.b[...].midstream_thread", nvim.thread_buffer())
    nvim.lua(
        "local id = ...; require('midstream.async').run(function() "
        "require('midstream.send').say(id, 'stream 50 400') end)",
        thread,
    )
    nvim.until_shown("Run 2 · rehearsal · completed")
    assert nvim.lua("return vim.api.nvim_win_get_cursor(...)", window) == [2, 3]
    assert nvim.lua("return vim.api.nvim_get_current_win()") == here[0]


def test_text_is_shown_while_it_is_written(nvim: Neovim) -> None:
    nvim.open("say: at once\nsleep 20000")
    nvim.until_shown("\nat once")
    assert any("running" in line for line in nvim.lines())
    nvim.do("interrupt")
    nvim.until_shown("Run 1 · rehearsal · interrupted")


def test_an_interrupted_run_is_tried_again(nvim: Neovim) -> None:
    nvim.open("say: working\nsleep 20000")
    nvim.until_shown("\nworking")
    nvim.do("interrupt")
    nvim.until_shown("Run 1 · rehearsal · interrupted")
    nvim.do("retry understudy")
    nvim.until_shown("Run 1 · understudy · running")
    nvim.do("interrupt")
    nvim.until_shown("Run 1 · understudy · interrupted")


def test_the_queue_is_shown_reordered_edited_and_cancelled(nvim: Neovim) -> None:
    nvim.open("say: working\nsleep 20000")
    nvim.until_shown("\nworking")
    for text in ("say: one", "say: two", "say: three"):
        nvim.say(text)
        nvim.until_shown(f"{text} → rehearsal")
    lines = nvim.lines()
    assert [line for line in lines if " → rehearsal" in line] == [
        "1. say: one → rehearsal",
        "2. say: two → rehearsal",
        "3. say: three → rehearsal",
    ]
    nvim.go_to("say: three →")
    nvim.answer_next(2)
    nvim.type("<CR>")
    nvim.until_shown("1. say: three → rehearsal")
    nvim.go_to("say: one →")
    nvim.answer_next(5)
    nvim.type("<CR>")
    nvim.until_shown("2. say: two → rehearsal")
    nvim.do("interrupt")
    lines = nvim.until_shown("Run 3 · rehearsal · completed")
    assert lines.index("> say: three") < lines.index("> say: two")
    assert "> say: one" not in lines


def test_steering_an_agent_that_cannot_be_is_explained(nvim: Neovim) -> None:
    nvim.open("say: working\nsleep 20000")
    nvim.until_shown("\nworking")
    nvim.do("steer say: faster")
    nvim.until("#_G.told > 0 or table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false)):find('faster', 1, true)")
    nvim.do("interrupt")
    nvim.until_shown("interrupted")


def test_a_todo_list_and_tool_calls_are_shown_and_folded(nvim: Neovim) -> None:
    nvim.open("todo: read | write\ndone: read\nrun echo hello")
    lines = nvim.until_shown("Run 1 · rehearsal · completed")
    assert "- [x] read" in lines
    assert "- [ ] write" in lines
    assert any(line.startswith("▸ $ echo hello") and "exit 0" in line for line in lines)
    nvim.go_to("▸ $ echo hello")
    command, run = nvim.lua("local l = vim.fn.line('.'); return {vim.fn.foldlevel(l), vim.fn.foldlevel(l - 1)}")
    assert (command, run) == (2, 1)
