--- What changed in files: Neovim's own diff mode, all hunks in the quickfix list, and taking changes back.
local async = require("midstream.async")
local buffers = require("midstream.buffers")
local client = require("midstream.client")
local notify = require("midstream.notify")
local patch = require("midstream.patch")
local sides = require("midstream.comparison")

local M = {}

---@type midstream.Comparison|nil what the quickfix list shows
local current

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
            sides.show(comparison, path, line)
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
      filename = sides.file_name(comparison, hunk.path),
      lnum = math.max(hunk.newStart, 1),
      text = hunk.text,
      user_data = hunk,
    }
  end
  for _, file in ipairs(files) do
    if not listed[file.path] then
      entries[#entries + 1] = { filename = sides.file_name(comparison, file.path), lnum = 1, text = file.status }
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
  sides.show(comparison, first, hunk and hunk.newStart)
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
