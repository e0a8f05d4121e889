"""The founding example, in Neovim: two agents, one thread, and each is told exactly what it missed."""

from midstream.protocol.records.thread import Thread
from scenarios.steps import received
from support.editor import Editor
from support.neovim import Neovim, Script


def test_two_agents_take_turns_and_the_switches_are_visible(nvim: Neovim, script: Script) -> None:
    nvim.open("decide: we use tabs")
    nvim.until_shown("Run 1 · rehearsal · completed")
    nvim.type(":Midstream switch understudy<CR>")
    nvim.until_told("understudy goes on, by full_thread_summary")
    nvim.type(":Midstream send write notes.txt: by the understudy<CR>")
    nvim.until_shown("Run 2 · understudy · completed")
    nvim.type(":Midstream switch rehearsal<CR>")
    nvim.until_told("rehearsal goes on, by delta_since_target_last_seen")
    nvim.type(":Midstream send say: back again<CR>")
    lines = nvim.until_shown("Run 3 · rehearsal · completed")
    assert any(line.startswith("⇄ handoff rehearsal → understudy · full_thread_summary") for line in lines)
    assert any(line.startswith("⇄ handoff understudy → rehearsal · delta_since_target_last_seen") for line in lines)
    signs = nvim.lua(
        "return vim.iter(vim.api.nvim_buf_get_extmarks(0, -1, 0, -1, {details = true, type = 'sign'}))"
        ":map(function(m) return {m[4].sign_text, m[4].sign_hl_group} end):totable()"
    )
    one, other = ["R▌", "MidstreamProvider1"], ["U▌", "MidstreamProvider2"]
    assert signs == [one, other, one, one]

    async def heard(editor: Editor) -> list[str]:
        thread: Thread = (await editor.call("thread/read", thread_id=thread_id)).thread
        return received(await editor.recall(thread, "rehearsal"))

    thread_id = nvim.thread_id()
    assert any("by the understudy" in text for text in script(heard))


def test_leaving_a_preview_sends_nothing(nvim: Neovim) -> None:
    nvim.open("say: something")
    nvim.until_shown("completed")
    nvim.do("handoff understudy")
    nvim.until("vim.api.nvim_buf_get_name(0):find('midstream://handoff/', 1, true) and true or false")
    nvim.api.command("quit")
    nvim.until("vim.bo.filetype == 'midstream-thread'")
    nvim.say("say: still here")
    nvim.until_shown("Run 2 · rehearsal · completed")
    assert not any("⇄" in line for line in nvim.lines())


def test_a_handoffs_item_opens_the_exact_text(nvim: Neovim) -> None:
    nvim.open("say: something")
    nvim.until_shown("completed")
    nvim.do("switch understudy")
    nvim.until_told("understudy goes on")
    nvim.say("say: hello")
    nvim.until_shown("Run 2 · understudy · completed")
    nvim.go_to("⇄ handoff")
    nvim.type("<CR>")
    nvim.until("vim.api.nvim_buf_get_name(0):find('midstream://sent/', 1, true) and true or false")
    assert "say: something" in "\n".join(nvim.lines())
    assert nvim.lua("return vim.bo.modifiable") is False
