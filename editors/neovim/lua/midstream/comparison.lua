--- One file of a comparison, side by side in a tab page of its own: what was left, what is right.
local client = require("midstream.client")
local history = require("midstream.history")

local M = {}

---@class midstream.Comparison
---@field thread midstream.Thread
---@field from string a checkpoint's id
---@field to string a checkpoint's id, or "workspace"

---@param comparison midstream.Comparison
---@param path string
---@return string
function M.file_name(comparison, path)
  return vim.uri_to_fname(comparison.thread.record.workspace) .. "/" .. path
end

--- A read-only buffer with a file as a checkpoint has it, empty where it has none.
---@param checkpoint_id string
---@param path string
---@return integer
local function past(checkpoint_id, path)
  local buffer = vim.fn.bufadd(("midstream://checkpoint/%s/%s"):format(checkpoint_id, path))
  if vim.api.nvim_buf_is_loaded(buffer) then
    return buffer
  end
  local ok, file = pcall(client.call, "checkpoint/file", { checkpointId = checkpoint_id, path = path })
  local text = ok and file.encoding == "utf-8" and file.content or ""
  if ok and file.encoding ~= "utf-8" then
    text = ("A binary file of %d bytes."):format(file.bytes)
  end
  vim.fn.bufload(buffer)
  vim.bo[buffer].buftype, vim.bo[buffer].swapfile, vim.bo[buffer].bufhidden = "nofile", false, "wipe"
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, vim.split((text:gsub("\n$", "")), "\n", { plain = true }))
  vim.bo[buffer].modifiable = false
  vim.bo[buffer].filetype = vim.filetype.match({ filename = path }) or ""
  return buffer
end

--- Say above the current window which side of a comparison it is.
---@param comparison midstream.Comparison
---@param side "from"|"to"
local function label(comparison, side)
  local checkpoint = vim.iter(comparison.thread.checkpoints):find(function(known)
    return known.id == comparison[side]
  end)
  local words = checkpoint and history.describe(checkpoint) or comparison[side]
  if comparison[side] == "workspace" then
    words = "as it is now"
  end
  vim.wo[0][0].winbar = ("%s · %s"):format(side == "from" and "BEFORE" or "AFTER", words):gsub("%%", "%%%%") .. "%<"
end

--- Close the windows of the tab page but this one and the quickfix list.
local function close_others()
  for _, window in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    local buffer = vim.api.nvim_win_get_buf(window)
    if window ~= vim.api.nvim_get_current_win() and vim.bo[buffer].buftype ~= "quickfix" then
      vim.api.nvim_win_close(window, true)
    end
  end
end

--- Show a file of a comparison side by side, in a tab page of its own: what was left, what is right.
---@param comparison midstream.Comparison
---@param path string
---@param line? integer
function M.show(comparison, path, line)
  local left = past(comparison.from, path)
  local right = comparison.to ~= "workspace" and past(comparison.to, path) or nil
  if vim.t.midstream_diff then
    close_others()
    vim.cmd("diffoff")
  else
    vim.cmd("tab split")
  end
  vim.t.midstream_diff = path
  if right then
    vim.api.nvim_win_set_buf(0, right)
  else
    vim.cmd.edit(vim.fn.fnameescape(M.file_name(comparison, path)))
  end
  label(comparison, "to")
  vim.cmd("diffthis")
  vim.cmd("leftabove vertical split")
  vim.api.nvim_win_set_buf(0, left)
  label(comparison, "from")
  vim.cmd("diffthis")
  vim.cmd.wincmd("l")
  if line then
    vim.api.nvim_win_set_cursor(0, { math.min(math.max(line, 1), vim.api.nvim_buf_line_count(0)), 0 })
  end
end

return M
