--- Code that waits without blocking the editor: a coroutine for each command.
local M = {}

---@class midstream.Problem an error answer
---@field message string
---@field code? integer
---@field data? table

--- Run a function that may wait; what it raises is shown to the user.
---@param work fun()
function M.run(work)
  local thread = coroutine.create(work)
  local ok, problem = coroutine.resume(thread)
  if not ok then
    require("midstream.notify").problem(problem)
  end
end

--- Wait for a callback: `start` gets the function to call back, and what it is given is returned.
---@param start fun(resume: fun(...: any))
---@return any ...
function M.await(start)
  local thread = assert(coroutine.running(), "midstream: waiting needs a coroutine")
  local early, given = nil, nil
  local waiting = false
  start(function(...)
    if not waiting then
      early, given = true, vim.F.pack_len(...)
      return
    end
    local ok, problem = coroutine.resume(thread, ...)
    if not ok then
      require("midstream.notify").problem(problem)
    end
  end)
  if early then
    return vim.F.unpack_len(given)
  end
  waiting = true
  return coroutine.yield()
end

--- Let the user choose; nil where they left.
---@generic T
---@param entries T[]
---@param prompt string
---@param format fun(entry: T): string
---@return T|nil
function M.select(entries, prompt, format)
  return M.await(function(resume)
    vim.ui.select(entries, { prompt = prompt, format_item = format }, resume)
  end)
end

--- Let the user type; nil where they left.
---@param prompt string
---@param default? string
---@return string|nil
function M.input(prompt, default)
  return M.await(function(resume)
    vim.ui.input({ prompt = prompt, default = default }, resume)
  end)
end

return M
