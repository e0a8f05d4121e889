--- What the user says to an agent, and what goes with it.
local client = require("midstream.client")

local M = {}

---@param buffer integer
---@param line integer from 0
---@param byte integer
---@return midstream.protocol.Position
local function position(buffer, line, byte)
  local text = vim.api.nvim_buf_get_lines(buffer, line, line + 1, false)[1] or ""
  return { line = line, character = vim.str_utfindex(text, "utf-16", math.min(byte, #text)) }
end

--- The lines of a range, with the text as it stands in the buffer, saved or not.
---@param buffer integer
---@param first integer from 1
---@param last integer from 1, inclusive
---@return midstream.protocol.SelectionAttachment
function M.selection(buffer, first, last)
  local lines = vim.api.nvim_buf_get_lines(buffer, first - 1, last, false)
  local range = { start = position(buffer, first - 1, 0), ["end"] = position(buffer, last - 1, #(lines[#lines] or "")) }
  return { type = "selection", uri = vim.uri_from_bufnr(buffer), range = range, text = table.concat(lines, "\n") }
end

--- The diagnostics of a buffer, as LSP's own records.
---@param buffer integer
---@return midstream.protocol.DiagnosticsAttachment|nil nil where there are none
function M.diagnostics(buffer)
  local items = vim.tbl_map(function(known)
    return {
      range = {
        start = position(buffer, known.lnum, known.col),
        ["end"] = position(buffer, known.end_lnum or known.lnum, known.end_col or known.col),
      },
      severity = known.severity,
      message = known.message,
      source = known.source,
    }
  end, vim.diagnostic.get(buffer))
  return #items > 0 and { type = "diagnostics", uri = vim.uri_from_bufnr(buffer), items = items } or nil
end

--- Start a run, or give the text to the active one.
---@param thread_id string
---@param text string
---@param delivery? midstream.protocol.Delivering
---@param extra? {attachments?: table[], handoffIds?: string[], context?: string, allowStaleHandoff?: boolean}
---@return midstream.protocol.RunStartResult
function M.say(thread_id, text, delivery, extra)
  extra = extra or {}
  local attachments = #(extra.attachments or {}) > 0 and extra.attachments or nil
  return client.call("run/start", {
    threadId = thread_id,
    message = { text = text, attachments = attachments },
    delivery = delivery,
    handoffIds = extra.handoffIds,
    context = extra.context,
    allowStaleHandoff = extra.allowStaleHandoff,
  })
end

return M
