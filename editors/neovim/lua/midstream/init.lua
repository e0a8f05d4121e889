--- What a user's configuration may call. All else is `:Midstream`.
local M = {}

--- The parts of a status line for the current buffer's or workspace's thread; nil where there is none.
---@return {provider: string, state: string, waiting: integer, context: integer|nil}|nil
function M.status()
  local thread = package.loaded["midstream.threads"] and require("midstream.current").known()
  if not thread then
    return nil
  end
  local context
  for _, run in ipairs(thread:started_runs()) do
    local usage = run.usage
    if usage and usage.contextTokens and usage.contextWindow and usage.contextWindow > 0 then
      context = math.floor(100 * usage.contextTokens / usage.contextWindow + 0.5)
    end
  end
  return {
    provider = require("midstream.providers").show(thread.record.selection),
    state = require("midstream.client").is_connected() and thread.record.status or "disconnected",
    waiting = #thread:open_requests(),
    context = context,
  }
end

--- A component for 'statusline': provider, run state, context use; empty where no thread is followed.
---@return string
function M.statusline()
  local status = M.status()
  if not status then
    return ""
  end
  local words = { status.provider, status.state }
  if status.context then
    words[#words + 1] = status.context .. "%"
  end
  return (table.concat(words, " · "):gsub("%%", "%%%%"))
end

return M
