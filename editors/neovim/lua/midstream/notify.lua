--- What the user is told.
local M = {}

---@param message string
---@param level integer
local function tell(message, level)
  vim.schedule(function()
    vim.notify("Midstream: " .. message, level, { title = "Midstream" })
  end)
end

---@param message string
function M.info(message)
  tell(message, vim.log.levels.INFO)
end

---@param message string
function M.warn(message)
  tell(message, vim.log.levels.WARN)
end

--- Tell of an error answer of the daemon, with what its data names, or of a fault of our own.
---@param problem midstream.Problem|string
function M.problem(problem)
  if type(problem) ~= "table" then
    return tell(tostring(problem), vim.log.levels.ERROR)
  end
  local lines = { problem.message }
  local data = problem.data or {}
  if data.path and not problem.message:find(data.path, 1, true) then
    lines[1] = ("%s (%s)"):format(lines[1], data.path)
  end
  for _, conflict in ipairs(data.conflicts or {}) do
    lines[#lines + 1] = ("  %s: %s"):format(conflict.path, conflict.reason)
  end
  for _, reason in ipairs(data.plan and data.plan.reasons or {}) do
    lines[#lines + 1] = "  " .. reason.message
  end
  tell(table.concat(lines, "\n"), vim.log.levels.ERROR)
end

--- Fire a `User` autocommand.
---@param event string without its prefix, such as `RunEnded`
---@param data table
function M.fire(event, data)
  vim.api.nvim_exec_autocmds("User", { pattern = "Midstream" .. event, data = data, modeline = false })
end

return M
