--- The connection with the daemon: Neovim's own LSP client, started by the first command that needs it.
local async = require("midstream.async")
local config = require("midstream.config")
local methods = require("midstream.methods")
local notify = require("midstream.notify")

local M = {}

---@type vim.lsp.Client|nil the client, once the daemon has answered `initialize`
local client
---@type fun(problem: midstream.Problem|nil)[]|nil who waits for the start; nil while none is under way
local starting
---@type table<function, true> calls that are not answered
local pending = {}
---@type fun()[] what is done on each new connection
local on_connect = {}
---@type table<string, fun(params: table)[]>
local listeners = {}
---@type table<string, lsp.Handler> Neovim holds this very table, so that a module that is loaded later is heard too
local handlers = {}

---@type table<integer, true> clients, by id, that the user has left
local left = {}

local LEFT = { message = "Midstream was stopped before the daemon answered." }
local LOST = { message = "The daemon has ended before it answered. The next command starts it again." }

--- Hear a notification of the daemon.
---@param method string
---@param hear fun(params: table)
function M.listen(method, hear)
  if not listeners[method] then
    listeners[method] = {}
    handlers[method] = function(_, params)
      for _, hears in ipairs(listeners[method]) do
        hears(params)
      end
    end
  end
  table.insert(listeners[method], hear)
end

--- Do something each time that a daemon has been reached.
---@param act fun()
function M.on_connect(act)
  table.insert(on_connect, act)
end

---@param problem midstream.Problem|nil
local function started(problem)
  local waiting = starting or {}
  starting = nil
  for _, resume in ipairs(waiting) do
    resume(problem)
  end
end

---@param problem midstream.Problem
local function answer_all(problem)
  for _, answer in ipairs(vim.tbl_keys(pending)) do
    answer(problem)
  end
end

---@param code integer
---@param id integer the client that has ended; the user may have left it for a new one
local function ended(code, id)
  if left[id] then
    left[id] = nil
    return
  end
  local was = client
  client = nil
  if starting then
    started({ message = ("The daemon ended with status %d; :checkhealth midstream says more."):format(code) })
  elseif was and vim.v.exiting == vim.NIL then
    notify.warn("The daemon has ended. The next command starts it again; your threads are kept.")
  end
  notify.fire("Disconnected", { code = code })
  answer_all(LOST) -- last: it may start the daemon again
end

local function start()
  local options = config.get()
  local cmd = vim.deepcopy(options.cmd)
  if vim.fn.executable(cmd[1]) == 0 then
    return started({
      message = ("`%s` cannot be executed. Install Midstream, or set vim.g.midstream.cmd."):format(cmd[1]),
    })
  end
  if options.data_dir then
    vim.list_extend(cmd, { "--data-dir", vim.fs.normalize(options.data_dir) })
  end
  vim.lsp.start({
    name = "midstream",
    cmd = cmd,
    handlers = handlers,
    init_options = { native = true, config = options.daemon or vim.empty_dict() },
    on_init = vim.schedule_wrap(function(fresh)
      client = fresh
      for _, problem in ipairs(M.told().configProblems or {}) do
        notify.warn(("configuration key %s: %s"):format(problem.key, problem.message))
      end
      started()
      for _, act in ipairs(on_connect) do
        act()
      end
      notify.fire("Connected", { version = M.version() })
    end),
    on_exit = vim.schedule_wrap(function(code, _, id)
      ended(code, id)
    end),
  }, {
    attach = false,
    reuse_client = function()
      return false
    end,
  })
end

--- Wait until there is a connection, starting the daemon if need be.
local function connected()
  if client and not client:is_stopped() then
    return
  end
  local problem = async.await(function(resume)
    if starting then
      return table.insert(starting, resume)
    end
    starting = { resume }
    start()
  end)
  if problem then
    error(problem, 0)
  end
end

--- What the daemon said of itself.
---@return midstream.protocol.MidstreamCapabilities|{}
function M.told()
  return vim.tbl_get(client or {}, "server_capabilities", "experimental", "midstream") or {}
end

---@return string|nil
function M.version()
  return vim.tbl_get(client or {}, "server_info", "version")
end

---@return boolean
function M.is_connected()
  return client ~= nil and not client:is_stopped()
end

--- Send a request and wait for its answer.
---@param method string
---@param params table
---@return midstream.Problem|nil problem, any result
local function send(method, params)
  connected()
  if not vim.list_contains(M.told().methods or {}, method) then
    error({ message = ("Midstream %s does not answer `%s` yet; a newer one does."):format(M.version(), method) }, 0)
  end
  return async.await(function(resume)
    local function answer(...)
      if pending[answer] then
        pending[answer] = nil
        resume(...)
      end
    end
    pending[answer] = true
    local sent = client and client:request(method, next(params) and params or vim.empty_dict(), answer)
    if not sent then
      answer(LOST)
    end
  end)
end

--- Send a request and wait for its result; raises a `midstream.Problem`. A changing one that was lost with the
--- daemon is sent once more: by its id, a daemon that had committed it gives the first answer and does nothing twice.
---@param method string
---@param params table
---@return any result
function M.call(method, params)
  local changes = methods.changes(method)
  if changes then
    params = vim.tbl_extend("error", params, { commandId = methods.command_id() })
  end
  local problem, result = send(method, params)
  if changes and problem == LOST then
    problem, result = send(method, params)
  end
  if problem then
    error(problem, 0)
  end
  return result
end

--- End the connection; the daemon goes on while others are attached or a run is active.
function M.stop()
  local was = client
  client = nil
  if was then
    left[was.id] = true
    was:stop()
    notify.fire("Disconnected", { code = 0 })
    answer_all(LEFT)
  end
end

return M
