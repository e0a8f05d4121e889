--- What changed in files: Neovim's own diff mode, all hunks in the quickfix list, and taking changes back.
local async = require("midstream.async")
local buffers = require("midstream.buffers")
local client = require("midstream.client")
local history = require("midstream.history")
local notify = require("midstream.notify")
local patch = require("midstream.patch")

local M = {}

---@class midstream.Comparison
---@field thread midstream.Thread
---@field from string a checkpoint's id
---@field to string a checkpoint's id, or "workspace"

---@type midstream.Comparison|nil what the quickfix list shows
local current

---@param comparison midstream.Comparison
---@param path string
---@return string
local function file_name(comparison, path)
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
    vim.cmd.edit(vim.fn.fnameescape(file_name(comparison, path)))
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

-- Going through the quickfix list enters the file itself: its other side goes along.
vim.api.nvim_create_autocmd("BufWinEnter", {
  group = vim.api.nvim_create_augroup("midstream-diff", {}),
  callback = function(event)
    local comparison = current
    if not comparison or not vim.t.midstream_diff then
      return
    end
    for path, buffer in pairs(buffers.of(comparison.thread.record.workspace)) do
      if buffer == event.buf and path ~= vim.t.midstream_diff then
        vim.t.midstream_diff = path
        vim.schedule(function() -- once the cursor is where the list says
          local line = vim.api.nvim_win_get_cursor(0)[1]
          async.run(function()
            M.show(comparison, path, line)
          end)
        end)
      end
    end
  end,
})

--- Fill the quickfix list with all hunks of a comparison.
---@param comparison midstream.Comparison
---@param found midstream.PatchHunk[]
---@param files midstream.protocol.FileSummary[]
local function list(comparison, found, files)
  local entries, listed = {}, {}
  for _, hunk in ipairs(found) do
    listed[hunk.path] = true
    entries[#entries + 1] = {
      filename = file_name(comparison, hunk.path),
      lnum = math.max(hunk.newStart, 1),
      text = hunk.text,
      user_data = hunk,
    }
  end
  for _, file in ipairs(files) do
    if not listed[file.path] then
      entries[#entries + 1] = { filename = file_name(comparison, file.path), lnum = 1, text = file.status }
    end
  end
  vim.fn.setqflist({}, " ", { title = "Midstream: changes", items = entries })
end

--- Compare two points: list all hunks, and show the file that is asked for, or the first.
---@param comparison midstream.Comparison
---@param path? string
function M.open(comparison, path)
  local answer = client.call("checkpoint/diff", {
    threadId = comparison.thread.id,
    from = comparison.from,
    to = comparison.to,
    context = 0,
    patch = true,
  })
  if #answer.files == 0 then
    return notify.info("No file differs. `:Midstream checkpoints` compares the files with an earlier point.")
  end
  current = comparison
  local found = patch.hunks(answer.patch or "")
  local first = path or answer.files[1].path
  local hunk = vim.iter(found):find(function(hunk)
    return hunk.path == first
  end)
  M.show(comparison, first, hunk and hunk.newStart)
  list(comparison, found, answer.files)
  if answer.truncated then
    notify.warn("More differs than is listed.")
  end
end

--- Compare a run's files before and after; the last run's against the files as they are, so that they can be edited.
---@param thread midstream.Thread
---@param run midstream.protocol.Run|nil
---@param path? string
function M.of_run(thread, run, path)
  if not run or not run.baselineCheckpointId then
    return notify.info("No files were kept for this run.")
  end
  local runs = thread:started_runs()
  local is_last = runs[#runs] and runs[#runs].id == run.id
  local to = not is_last and run.checkpointId or "workspace"
  M.open({ thread = thread, from = run.baselineCheckpointId, to = to }, path)
end

--- The comparison and file of the window under the cursor.
---@return midstream.Comparison|nil, string|nil path
local function under_cursor()
  local comparison = current
  if not comparison or comparison.to ~= "workspace" then
    notify.info("Open a diff against the files as they are first: `:Midstream diff` or `:Midstream checkpoints`.")
    return nil
  end
  for path, buffer in pairs(buffers.of(comparison.thread.record.workspace)) do
    if buffer == vim.api.nvim_get_current_buf() then
      return comparison, path
    end
  end
  notify.info("Put the cursor into the file, on the right of the diff.")
end

---@param comparison midstream.Comparison
---@param path string
---@return midstream.PatchHunk[]
local function hunks_of(comparison, path)
  local answer = client.call("checkpoint/diff", {
    threadId = comparison.thread.id,
    from = comparison.from,
    to = "workspace",
    path = path,
    context = 0,
    patch = true,
  })
  return patch.hunks(answer.patch or "")
end

--- Take entries of the quickfix list away, and go on to the next one.
---@param is_done fun(entry: table): boolean
local function settle(is_done)
  local entries = vim.tbl_filter(function(entry)
    return not is_done(entry)
  end, vim.fn.getqflist())
  vim.fn.setqflist({}, "r", { items = entries, title = "Midstream: changes" })
  vim.cmd.diffupdate()
  notify.info(#entries == 0 and "All changes are settled." or ("Changes that are left: %d"):format(#entries))
end

--- Keep the change under the cursor, or the whole file's.
---@param whole_file boolean
function M.accept(whole_file)
  local comparison, path = under_cursor()
  if not comparison or not path then
    return
  end
  local line, buffer = vim.api.nvim_win_get_cursor(0)[1], vim.api.nvim_get_current_buf()
  local at = not whole_file and patch.at(hunks_of(comparison, path), line)
  settle(function(entry)
    return entry.bufnr == buffer and (whole_file or (at and entry.lnum == math.max(at.newStart, 1)) or false)
  end)
end

--- Take back the change under the cursor, or the whole file's.
---@param whole_file boolean
function M.reject(whole_file)
  local comparison, path = under_cursor()
  if not comparison or not path then
    return
  end
  local buffer = vim.api.nvim_get_current_buf()
  local params = { checkpointId = comparison.from, dirtyPaths = buffers.dirty(comparison.thread.record.workspace) }
  if whole_file then
    params.paths = { path }
  else
    local hunk = patch.at(hunks_of(comparison, path), vim.api.nvim_win_get_cursor(0)[1])
    if not hunk then
      return notify.info("There is no change under the cursor.")
    end
    hunk.text = nil
    params.hunks = { hunk }
  end
  client.call("checkpoint/restore", params)
  buffers.refresh(comparison.thread.record.workspace, { path })
  local left = whole_file and {} or hunks_of(comparison, path)
  local lines = {}
  for _, hunk in ipairs(left) do
    lines[math.max(hunk.newStart, 1)] = true
  end
  settle(function(entry)
    return entry.bufnr == buffer and not lines[entry.lnum]
  end)
end

return M
