"""Handoffs are edited, made anew and discarded before they are sent."""

from midstream.protocol.records.thread import Thread
from scenarios.steps import received
from support.editor import Editor
from support.neovim import Neovim, Script


def test_an_edited_handoff_is_what_the_next_agent_receives(nvim: Neovim, script: Script) -> None:
    nvim.open("say: something")
    nvim.until_shown("completed")
    thread_id = nvim.thread_id()
    nvim.type(":Midstream handoff understudy<CR>")
    nvim.until("vim.api.nvim_buf_get_name(0):find('midstream://handoff/', 1, true) and true or false")
    assert "understudy · full_thread_summary" in nvim.lua("return vim.wo.winbar")
    nvim.type("ggOThe fish is called Ada.<Esc>:w<CR>")
    nvim.until("vim.wo.winbar:find('manual_context', 1, true) and not vim.bo.modified")
    nvim.type("GoShe is blue.<Esc>:Midstream send say: thanks<CR>")
    nvim.until_shown("Run 2 · understudy · completed")

    async def heard(editor: Editor) -> str:
        thread: Thread = (await editor.call("thread/read", thread_id=thread_id)).thread
        run = (await editor.read(thread)).runs[-1]
        sent = (await editor.call("handoff/read", handoff_id=run.context_handoff_id)).handoff.sent_text
        everything = "\n".join(received(await editor.recall(thread, "understudy")))
        assert sent in everything
        return str(sent)

    sent = script(heard)
    assert "The fish is called Ada." in sent
    assert "She is blue." in sent


def test_a_preview_is_made_anew_in_another_way_and_discarded(nvim: Neovim, script: Script) -> None:
    nvim.open("say: something")
    nvim.until_shown("completed")
    thread_id = nvim.thread_id()
    nvim.do("handoff understudy")
    nvim.until("vim.api.nvim_buf_get_name(0):find('midstream://handoff/', 1, true) and true or false")
    before = nvim.lua("return require('midstream.handoff').page(vim.api.nvim_get_current_buf()).handoff.id")
    nvim.do("regenerate ++budget=4000")
    nvim.until("vim.wo.winbar:find('of 4000 tokens', 1, true)")
    after = nvim.lua("return require('midstream.handoff').page(vim.api.nvim_get_current_buf()).handoff.id")
    assert after != before
    nvim.do("discard")
    nvim.until("vim.bo.filetype == 'midstream-thread'")
    nvim.until_shown("— idle · next: rehearsal")
    assert not any("Run 2" in line for line in nvim.lines())

    async def read(editor: Editor) -> dict[str, str]:
        return {known.id: known.status for known in (await editor.call("handoff/list", thread_id=thread_id)).handoffs}

    assert script(read) == {before: "superseded", after: "superseded"}
