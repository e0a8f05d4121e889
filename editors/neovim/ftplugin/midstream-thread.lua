local buffer = vim.api.nvim_get_current_buf()

vim.treesitter.language.register("markdown", "midstream-thread")
if not pcall(vim.treesitter.start, buffer, "markdown") then
  vim.bo[buffer].syntax = "markdown"
end

--- How a window looks while it shows a thread; `setlocal` ends with the buffer.
local function dress_window()
  vim.opt_local.wrap = true
  vim.opt_local.linebreak = true
  vim.opt_local.smoothscroll = true -- a text may be taller than the window
  vim.opt_local.number = false
  vim.opt_local.relativenumber = false
  vim.opt_local.signcolumn = "yes:1"
  vim.opt_local.foldmethod = "expr"
  vim.opt_local.foldexpr = "v:lua.require'midstream.view'.foldexpr()"
  vim.opt_local.foldlevel = 99
  vim.opt_local.foldtext = ""
end
dress_window()
vim.api.nvim_create_autocmd("BufWinEnter", { buffer = buffer, callback = dress_window })
vim.bo[buffer].modifiable = false

for group, link in pairs({
  MidstreamUser = "Identifier",
  MidstreamContext = "Comment",
  MidstreamTool = "Statement",
  MidstreamFile = "Directory",
  MidstreamHandoff = "Title",
  MidstreamRequest = "WarningMsg",
  MidstreamAccept = "DiagnosticOk",
  MidstreamDecline = "DiagnosticError",
}) do
  vim.api.nvim_set_hl(0, group, { link = link, default = true })
end

local actions = require("midstream.actions")
local plugs = {
  ["<Plug>(MidstreamChoose)"] = { "<CR>", actions.choose },
  ["<Plug>(MidstreamChooseWithReason)"] = { "R", actions.choose_with_reason },
  ["<Plug>(MidstreamNextRun)"] = {
    "]]",
    function()
      actions.go_to_run(1)
    end,
  },
  ["<Plug>(MidstreamPreviousRun)"] = {
    "[[",
    function()
      actions.go_to_run(-1)
    end,
  },
  ["<Plug>(MidstreamRequest)"] = { "gr", actions.go_to_request },
}
for plug, map in pairs(plugs) do
  vim.keymap.set("n", plug, map[2], { buffer = buffer, desc = plug })
  if require("midstream.config").get().maps then
    vim.keymap.set("n", map[1], plug, { buffer = buffer, remap = true, desc = plug })
  end
end
