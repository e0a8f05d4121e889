--- The buffer of a thread: painted as the thread changes, in whatever windows show it.
local Painting = require("midstream.view.paint")
local async = require("midstream.async")
local client = require("midstream.client")
local config = require("midstream.config")
local threads = require("midstream.threads")

local M = {}

---@class midstream.View
---@field thread midstream.Thread
---@field painting midstream.Painting
---@field changed table<string, true> keys of blocks to paint anew
---@field due boolean whether a painting is due
---@field loading boolean whether a page is on its way

---@type table<integer, midstream.View> by buffer
local views = {}

---@param buffer integer
---@return midstream.View|nil
function M.get(buffer)
  return views[buffer]
end

---@param id string
---@return integer|nil buffer
function M.buffer_of(id)
  for buffer, view in pairs(views) do
    if view.thread.id == id then
      return buffer
    end
  end
end

--- Windows of a buffer whose cursor stands on its last line: they follow what is written.
---@param buffer integer
---@return integer[]
local function followers(buffer)
  local last = vim.api.nvim_buf_line_count(buffer)
  return vim.tbl_filter(function(window)
    return vim.api.nvim_win_get_cursor(window)[1] == last
  end, vim.fn.win_findbuf(buffer))
end

--- Paint what has changed since the last time.
---@param buffer integer
function M.paint(buffer)
  local view = views[buffer]
  if not view or not vim.api.nvim_buf_is_valid(buffer) then
    return
  end
  view.due = false
  local following, changed = followers(buffer), view.changed
  view.changed = {}
  vim.bo[buffer].modifiable = true
  view.painting:paint(view.thread, client.is_connected(), function(key)
    return changed[key] or key == "head" or key == "foot" or key:sub(1, 4) == "run:"
  end)
  vim.bo[buffer].modifiable, vim.bo[buffer].modified = false, false
  local last = vim.api.nvim_buf_line_count(buffer)
  for _, window in ipairs(following) do
    vim.api.nvim_win_set_cursor(window, { last, 0 })
  end
  vim.cmd.redrawstatus()
end

--- Paint soon, once for all that changes until then.
---@param buffer integer
---@param item_id string|nil
local function soon(buffer, item_id)
  local view = views[buffer]
  if not view then
    return
  end
  view.changed[item_id or "foot"] = true
  if not view.due then
    view.due = true
    vim.defer_fn(function()
      M.paint(buffer)
    end, config.get().refresh_ms)
  end
end

--- Load a page where a window shows the gap, from the end that the cursor is nearer to.
---@param buffer integer
function M.load_near(buffer)
  local view = views[buffer]
  if not view or view.loading or not view.thread.gap then
    return
  end
  local gap = vim.iter(ipairs(view.painting.keys)):find(function(_, key)
    return key == "gap"
  end)
  local line = gap and view.painting:start(gap) + 1
  for _, window in ipairs(vim.fn.win_findbuf(buffer)) do
    local top, bottom = vim.fn.line("w0", window), vim.fn.line("w$", window)
    if line and line >= top and line <= bottom then
      view.loading = true
      local above = vim.api.nvim_win_get_cursor(window)[1] <= line
      async.run(function()
        local ok, problem = pcall(threads.load, view.thread, above and "above" or "below")
        view.loading = false
        if not ok then
          error(problem, 0)
        end
        M.paint(buffer)
      end)
      return
    end
  end
end

---@param thread midstream.Thread
---@return integer
local function create(thread)
  local buffer = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_name(buffer, "midstream://" .. thread.id)
  views[buffer] = { thread = thread, painting = Painting.new(buffer), changed = {}, due = false, loading = false }
  vim.b[buffer].midstream_thread = thread.id
  vim.bo[buffer].bufhidden = "hide"
  M.paint(buffer)
  local group = vim.api.nvim_create_augroup("midstream.view." .. buffer, {})
  vim.api.nvim_create_autocmd({ "CursorMoved", "WinScrolled" }, {
    group = group,
    buffer = buffer,
    callback = function()
      M.load_near(buffer)
    end,
  })
  vim.api.nvim_create_autocmd("BufWipeout", {
    group = group,
    buffer = buffer,
    callback = function()
      views[buffer] = nil
      threads.leave(thread.id)
    end,
  })
  threads.watch(thread.id, {
    changed = function(item_id)
      soon(buffer, item_id)
    end,
    replaced = function()
      views[buffer].changed = setmetatable({}, {
        __index = function()
          return true
        end,
      })
      M.paint(buffer)
    end,
  })
  return buffer
end

--- Show a thread, in its window where it has one.
---@param id string
---@return integer buffer
function M.open(id)
  local thread = threads.follow(id)
  local buffer = M.buffer_of(id) or create(thread)
  local window = vim.fn.win_findbuf(buffer)[1]
  if window then
    vim.api.nvim_set_current_win(window)
  else
    vim.cmd(config.get().open)
    vim.api.nvim_win_set_buf(0, buffer)
    if vim.bo[buffer].filetype == "" then
      vim.bo[buffer].filetype = "midstream-thread"
    end
    vim.api.nvim_win_set_cursor(0, { vim.api.nvim_buf_line_count(buffer), 0 })
  end
  return buffer
end

--- The fold expression of a thread's buffer.
---@return string
function M.foldexpr()
  local view = views[vim.api.nvim_get_current_buf()]
  if not view then
    return "0"
  end
  return view.painting:levels()[vim.v.lnum] or "0"
end

return M
