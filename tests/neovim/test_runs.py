"""Runs are steered, interrupted, queued and tried again; what streams moves neither cursor nor focus."""

from pathlib import Path

from support.editor import providers
from support.neovim import Neovim, neovim_on


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


def test_text_that_comes_again_is_cut_where_it_is_known(nvim: Neovim) -> None:
    nvim.open("say: at once\nsleep 20000")
    nvim.until_shown("\nat once")
    item = nvim.lua(
        "return vim.iter(require('midstream.current').thread().order)"
        ":find(function(item) return item.type == 'agentMessage' end)"
    )
    place = {"threadId": item["threadId"], "runId": item["runId"], "itemId": item["id"], "field": "text"}
    nvim.hear("run/output", {**place, "offset": 3, "text": "once and for all"})
    nvim.until_shown("\nat once and for all\n")
    nvim.hear("run/output", {**place, "offset": 100, "text": "out of place"})
    nvim.do("interrupt")
    lines = nvim.until_shown("Run 1 · rehearsal · interrupted")
    assert not any("out of place" in line for line in lines)


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
    nvim.go_to("say: two →")
    nvim.answer_next(1, "say: two, as edited")
    nvim.type("<CR>")
    nvim.until_shown("2. say: two, as edited → rehearsal")
    nvim.do("interrupt")
    lines = nvim.until_shown("Run 3 · rehearsal · completed")
    assert lines.index("> say: three") < lines.index("> say: two, as edited")
    assert "> say: one" not in lines


def test_a_queue_that_a_failure_holds_goes_on_when_it_is_told(asking: Neovim) -> None:
    asking.open("run true\nfail: usage_limit: no quota left")
    asking.until_shown("▢ Allow")
    asking.say("say: at last")
    asking.until_shown("1. say: at last → rehearsal")
    asking.go_to("▢ Allow")
    asking.type("<CR>")
    lines = asking.until_shown("## Queue · held: `:Midstream resume` lets it go on")
    assert "! usage_limit: no quota left" in lines
    asking.do("resume")
    lines = asking.until_shown("Run 2 · rehearsal · completed")
    assert "at last" in lines
    assert not any("## Queue" in line for line in lines)


def test_a_steered_word_is_shown_and_answered_in_the_same_run(nvim: Neovim, workspace: Path) -> None:
    nvim.open("say: working\nrun until [ -e steered ]; do sleep 0.02; done")
    nvim.until_shown("Run 1 · rehearsal · running")
    nvim.note_answers()
    nvim.do("steer say: this way instead")
    nvim.until("vim.list_contains(_G.answered, 'run/steer')")  # the agent has the words
    nvim.until_shown("*steered:*")
    (workspace / "steered").touch()
    lines = nvim.until_shown("Run 1 · rehearsal · completed")
    assert "> say: this way instead" in lines
    assert "this way instead" in lines
    assert not any("Run 2" in line for line in lines)


def test_steering_an_agent_that_cannot_be_steered_is_explained(tmp_path: Path, workspace: Path) -> None:
    agents = {"providers": providers("deaf", flags=["--no-steer"])}
    with neovim_on(tmp_path / "data", workspace, runtime_mode="fullAccess", provider="deaf", daemon=agents) as nvim:
        nvim.open("say: working\nsleep 20000")
        nvim.until_shown("\nworking")
        nvim.do("steer say: faster")
        nvim.until_told("deaf takes no words in the middle of a run")
        assert "> say: faster" not in nvim.lines()


def test_a_todo_list_and_tool_calls_are_shown_and_folded(nvim: Neovim) -> None:
    nvim.open("todo: read | write\ndone: read\nrun echo hello")
    lines = nvim.until_shown("Run 1 · rehearsal · completed")
    assert "- [x] read" in lines
    assert "- [ ] write" in lines
    assert any(line.startswith("▸ $ echo hello") and "exit 0" in line for line in lines)
    nvim.go_to("▸ $ echo hello")
    command, run = nvim.lua("local l = vim.fn.line('.'); return {vim.fn.foldlevel(l), vim.fn.foldlevel(l - 1)}")
    assert (command, run) == (2, 1)


def test_a_model_is_chosen_with_its_provider_and_completed(tmp_path: Path, workspace: Path) -> None:
    agents = {"providers": providers("painter", flags=["--models", "small,large"])}
    with neovim_on(tmp_path / "data", workspace, runtime_mode="fullAccess", daemon=agents) as nvim:
        nvim.open("say: something")
        nvim.until_shown("Run 1 · rehearsal · completed")
        nvim.until("vim.list_contains(require('midstream.providers').names(), 'painter/large')")
        assert nvim.lua("return vim.fn.getcompletion('Midstream switch painter/l', 'cmdline')") == ["painter/large"]
        nvim.do("switch painter/large")
        nvim.until_shown("next: painter/large")
        nvim.say("say: painted")
        nvim.until_shown("Run 2 · painter/large · completed")


def test_long_texts_are_shortened_and_open_whole(nvim: Neovim) -> None:
    nvim.open("run seq 40000")
    lines = nvim.until_shown("Run 1 · rehearsal · completed")
    assert "39999" in lines
    assert "20000" not in lines
    nvim.go_to("⋯ output shortened: <CR> opens the whole")
    nvim.type("<CR>")
    nvim.until("vim.api.nvim_buf_line_count(0) >= 40000")
    assert nvim.lines()[19_999] == "20000"
    nvim.api.command("close")
    words = " ".join(str(number) for number in range(40_000))
    nvim.say(f"say: {words}")
    lines = nvim.until_shown("Run 2 · rehearsal · completed")
    assert "⋯ text shortened: <CR> opens the whole" in lines
    nvim.go_to("⋯ text shortened: <CR> opens the whole")
    nvim.type("<CR>")
    nvim.until("#vim.api.nvim_get_current_line() == ...", len(f"say: {words}"))
