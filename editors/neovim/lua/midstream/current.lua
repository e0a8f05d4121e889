--- Which thread a command is about: the buffer's, else the one last used in this workspace.
local async = require("midstream.async")
local client = require("midstream.client")
local config = require("midstream.config")
local providers = require("midstream.providers")
local threads = require("midstream.threads")
local view = require("midstream.view")

local M = {}

---@type table<string, string> by workspace: the thread that was last opened
local last = {}

--- The workspace of the current buffer: its repository, else the working folder. As a URI.
---@return string
function M.workspace()
  local name = vim.bo.buftype == "" and vim.api.nvim_buf_get_name(0) or ""
  local here = name ~= "" and vim.fs.dirname(name) or vim.fn.getcwd()
  return vim.uri_from_fname(vim.uv.fs_realpath(vim.fs.root(here, ".git") or vim.fn.getcwd()) or vim.fn.getcwd())
end

---@param id string
---@return integer buffer
function M.open(id)
  local buffer = view.open(id)
  last[threads.get(id).record.workspace] = id
  require("midstream.notify").fire("ThreadOpened", { threadId = id, buffer = buffer })
  return buffer
end

--- Make a thread.
---@return string id
function M.create()
  local options = config.get()
  local selection = options.provider and providers.parse(options.provider)
  local params = { workspace = M.workspace(), runtimeMode = options.runtime_mode, selection = selection }
  return client.call("thread/create", params).thread.id
end

--- The thread of the current buffer or workspace, without asking the daemon.
---@return midstream.Thread|nil
function M.known()
  local id = vim.b.midstream_thread or last[M.workspace()]
  return id and threads.get(id)
end

--- The newest thread of this workspace.
---@return string|nil id
function M.newest()
  local answer = client.call("thread/list", { workspace = M.workspace(), archived = false, limit = 1 })
  return answer.threads[1] and answer.threads[1].id
end

--- The thread that a command is about; raises where there is none.
---@return midstream.Thread
function M.thread()
  local id = vim.b.midstream_thread or last[M.workspace()] or M.newest()
  if not id then
    error({ message = "This workspace has no thread yet: `:Midstream open new` makes one." }, 0)
  end
  return threads.follow(id)
end

--- Let the user choose a thread of this workspace.
---@return string|nil id
function M.pick()
  local answer = client.call("thread/list", { workspace = M.workspace(), limit = 200 })
  local chosen = async.select(answer.threads, "Threads", function(thread)
    local title = thread.title ~= "" and thread.title:gsub("\n", " ") or "A new thread"
    return ("%s · %s · %s"):format(title, providers.show(thread.selection), thread.status)
  end)
  return chosen and chosen.id
end

return M
