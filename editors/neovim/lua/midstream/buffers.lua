--- The editor's own buffers of a workspace: which hold unsaved edits, and which to read again.
local client = require("midstream.client")
local notify = require("midstream.notify")
local threads = require("midstream.threads")

local M = {}

---@param workspace string a URI
---@return string
local function folder(workspace)
  return (vim.uri_to_fname(workspace):gsub("/$", ""))
end

--- The loaded buffers of files of a workspace, by relative path.
---@param workspace string a URI
---@return table<string, integer>
function M.of(workspace)
  local root, found = folder(workspace), {}
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    local name = vim.api.nvim_buf_get_name(buffer)
    if vim.api.nvim_buf_is_loaded(buffer) and vim.bo[buffer].buftype == "" and name ~= "" then
      local path = vim.fs.relpath(root, vim.uv.fs_realpath(name) or name) or vim.fs.relpath(root, name)
      if path then
        found[path] = buffer
      end
    end
  end
  return found
end

--- The files of a workspace with unsaved edits.
---@param workspace string a URI
---@return string[] sorted
function M.dirty(workspace)
  local found = {}
  for path, buffer in pairs(M.of(workspace)) do
    if vim.bo[buffer].modified then
      found[#found + 1] = path
    end
  end
  table.sort(found)
  return found
end

--- Read changed files again, those without unsaved edits; the others are named.
---@param workspace string a URI
---@param paths string[]
function M.refresh(workspace, paths)
  local loaded, protected, gone = M.of(workspace), {}, {}
  for _, path in ipairs(paths) do
    local buffer = loaded[path]
    if buffer and vim.bo[buffer].modified then
      protected[#protected + 1] = path
    elseif buffer and not vim.uv.fs_stat(vim.api.nvim_buf_get_name(buffer)) then
      gone[#gone + 1] = path -- `checktime` would raise this
    elseif buffer then
      local autoread = vim.bo[buffer].autoread
      vim.bo[buffer].autoread = true
      vim.cmd.checktime(buffer)
      vim.bo[buffer].autoread = autoread
    end
  end
  if #protected > 0 then
    notify.warn("these changed on the disk and have unsaved edits: " .. table.concat(protected, ", "))
  end
  if #gone > 0 then
    notify.warn("these are gone from the disk, and still open: " .. table.concat(gone, ", "))
  end
end

---@param thread_id string
---@param paths string[]
local function changed(thread_id, paths)
  local thread = threads.get(thread_id)
  if thread and #paths > 0 then
    M.refresh(thread.record.workspace, paths)
  end
end

client.listen("checkpoint/captured", function(captured)
  local paths = {}
  for _, file in ipairs(captured.checkpoint.files) do
    paths[#paths + 1] = file.path
    paths[#paths + 1] = file.oldPath
  end
  changed(captured.threadId, paths)
end)

client.listen("checkpoint/restored", function(restored)
  changed(restored.threadId, vim.list_extend(vim.list_extend({}, restored.written), restored.deleted))
end)

return M
