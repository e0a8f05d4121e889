--- Which blocks a thread's buffer has, in order. Pure.
local M = {}

---@class midstream.Place
---@field key string what tells it from all others
---@field item? midstream.protocol.Item
---@field run? midstream.protocol.Run

--- The head; the items, each run's head before its first, the gap where it is, and the point behind what a fork
--- inherits; the foot.
---@param thread midstream.Thread
---@return midstream.Place[]
function M.places(thread)
  local places, run_id, inherited = { { key = "head" } }, nil, false
  local gap = thread.gap
  if gap and not gap.after then
    places[2] = { key = "gap" }
  end
  for _, item in ipairs(thread.order) do
    if inherited and item.threadId == thread.id then
      places[#places + 1] = { key = "fork" }
    end
    inherited = item.threadId ~= thread.id
    local run = item.runId and thread.runs[item.runId]
    if run and item.runId ~= run_id then
      places[#places + 1] =
        { key = ("run:%s:%s"):format(run.id, gap and item.id == gap.before.id and "2" or ""), run = run }
    end
    run_id = item.runId or run_id
    places[#places + 1] = { key = item.id, item = item }
    if gap and gap.after and item.id == gap.after.id then
      places[#places + 1] = { key = "gap" }
      run_id, inherited = nil, false
    end
  end
  if inherited then
    places[#places + 1] = { key = "fork" }
  end
  places[#places + 1] = { key = "foot" }
  return places
end

--- The range in which two lists of keys differ: both begin at `first`, and end at `old_last` and `new_last`.
---@param old string[]
---@param new string[]
---@return integer first, integer old_last, integer new_last
function M.difference(old, new)
  local first, old_last, new_last = 1, #old, #new
  while first <= old_last and first <= new_last and old[first] == new[first] do
    first = first + 1
  end
  while old_last >= first and new_last >= first and old[old_last] == new[new_last] do
    old_last, new_last = old_last - 1, new_last - 1
  end
  return first, old_last, new_last
end

return M
