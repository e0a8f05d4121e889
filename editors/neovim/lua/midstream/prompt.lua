--- The buffer in which a message is written: `:w` sends it, `:q!` leaves it.
local async = require("midstream.async")
local notify = require("midstream.notify")
local send = require("midstream.send")

local M = {}

---@class midstream.Draft
---@field thread string
---@field attachments table[]
---@field delivery? midstream.protocol.Delivering
---@field context? midstream.protocol.NextContext
---@field handoffIds? string[]

---@type table<integer, midstream.Draft> by buffer
local drafts = {}

---@param buffer integer
---@return midstream.Draft|nil
function M.draft(buffer)
  return drafts[buffer]
end

---@param buffer integer
local function close(buffer)
  vim.bo[buffer].modified = false
  vim.api.nvim_buf_delete(buffer, { force = true })
end

--- Send what was written, and close the buffer once it is accepted.
---@param buffer integer
function M.submit(buffer)
  local draft = drafts[buffer]
  local text = vim.trim(table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), "\n"))
  if text == "" then
    return notify.info("There is nothing to send yet.")
  end
  async.run(function()
    send.say(draft.thread, text, draft.delivery, draft)
    close(buffer)
  end)
end

--- Open a prompt for a message of a thread.
---@param draft midstream.Draft
---@param title string
---@return integer buffer
function M.open(draft, title)
  vim.cmd("belowright 8split")
  local buffer = vim.api.nvim_create_buf(false, false)
  drafts[buffer] = draft
  vim.api.nvim_win_set_buf(0, buffer)
  vim.api.nvim_buf_set_name(buffer, ("midstream://prompt/%s/%d"):format(draft.thread, buffer))
  vim.bo[buffer].buftype, vim.bo[buffer].bufhidden = "acwrite", "wipe"
  vim.bo[buffer].filetype = "markdown"
  vim.b[buffer].midstream_thread = draft.thread
  local context = vim.tbl_map(require("midstream.render.items").attachment, draft.attachments)
  local words = #context > 0 and " · with " .. table.concat(context, ", ") or ""
  vim.wo.winbar = (("To %s%s · :w sends, :q! leaves"):format(title, words):gsub("%%", "%%%%"))
  vim.api.nvim_create_autocmd("BufWriteCmd", {
    buffer = buffer,
    callback = function()
      M.submit(buffer)
    end,
  })
  vim.api.nvim_create_autocmd("BufWipeout", {
    buffer = buffer,
    callback = function()
      drafts[buffer] = nil
    end,
  })
  return buffer
end

return M
