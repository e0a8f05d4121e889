--- Which requests change something, and the ids by which they can be repeated.
local M = {}

local CHANGING = {
  checkpoint = { "create", "restore" },
  handoff = { "discard", "edit", "preview", "regenerate" },
  provider = { "switch" },
  queue = { "resume" },
  request = { "respond" },
  run = { "cancel", "edit", "interrupt", "reorder", "retry", "start", "steer" },
  thread = { "create", "fork", "mergeBack", "rollback", "update" },
}

local UUID = ("xxxx-xx-xx-xx-xxxxxx"):gsub("x", "%%02x")

--- Whether a method takes a `commandId`.
---@param method string
---@return boolean
function M.changes(method)
  local subject, verb = method:match("^(%a+)/(%a+)$")
  return vim.list_contains(CHANGING[subject] or {}, verb)
end

--- A random UUID.
---@return string
function M.command_id()
  local bytes = { assert(vim.uv.random(16)):byte(1, 16) }
  bytes[7] = bit.bor(bit.band(bytes[7], 0x0f), 0x40)
  bytes[9] = bit.bor(bit.band(bytes[9], 0x3f), 0x80)
  return UUID:format(unpack(bytes))
end

return M
