if vim.g.loaded_midstream then
  return
end
vim.g.loaded_midstream = true

vim.api.nvim_create_user_command("Midstream", function(call)
  require("midstream.commands").run(call)
end, {
  nargs = "*",
  range = true,
  desc = "Talk with coding agents; see :help :Midstream",
  complete = function(lead, line)
    return require("midstream.commands").complete(lead, line)
  end,
})

-- `:<C-U>` in visual mode would lose the range, so that maps of that mode keep it.
for plug, command in pairs({
  Open = "open",
  New = "open new",
  Pick = "open pick",
  Send = "send",
  Switch = "switch",
  Handoff = "handoff",
  Interrupt = "interrupt",
  Queue = "queue",
  Diff = "diff",
  Checkpoints = "checkpoints",
  Accept = "accept",
  Reject = "reject",
}) do
  vim.keymap.set("n", ("<Plug>(Midstream%s)"):format(plug), ("<Cmd>Midstream %s<CR>"):format(command))
end
vim.keymap.set("x", "<Plug>(MidstreamSend)", ":Midstream send<CR>", { silent = true })
