--- Runs that wait: their text, their order, and whether they go at all.
local async = require("midstream.async")
local client = require("midstream.client")
local notify = require("midstream.notify")

local M = {}

local CHOICES = { "edit", "first", "earlier", "later", "cancel" }

--- Where to move a run: the run that it goes before, or nil for the end of the queue.
---@param queue midstream.protocol.Run[]
---@param run midstream.protocol.Run
---@param where "first"|"earlier"|"later"
---@return string|nil
function M.before(queue, run, where)
  local rest, at = {}, 1
  for index, other in ipairs(queue) do
    if other.id == run.id then
      at = index
    else
      rest[#rest + 1] = other
    end
  end
  local place = where == "first" and 1 or where == "earlier" and math.max(at - 1, 1) or at + 1
  return rest[place] and rest[place].id
end

--- Let the user change a queued run.
---@param thread midstream.Thread
---@param run midstream.protocol.Run
function M.act(thread, run)
  local choice = async.select(CHOICES, "Queued: " .. run.message.text, tostring)
  if choice == "edit" then
    local text = async.input("Message: ", run.message.text)
    if text and text ~= "" then
      client.call("run/edit", { runId = run.id, text = text })
    end
  elseif choice == "cancel" then
    client.call("run/cancel", { runId = run.id })
  elseif choice then
    local before = M.before(thread:queue(), run, choice)
    client.call("run/reorder", { runId = run.id, beforeRunId = before or vim.NIL })
  end
end

--- Let the user choose a queued run, then what becomes of it.
---@param thread midstream.Thread
function M.open(thread)
  local queue = thread:queue()
  if #queue == 0 then
    return notify.info("No run is queued.")
  end
  local run = async.select(queue, "Queue", function(run)
    return run.message.text
  end)
  if run then
    M.act(thread, run)
  end
end

return M
