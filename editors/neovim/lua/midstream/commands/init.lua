--- `:Midstream` and its subcommands.
local async = require("midstream.async")
local notify = require("midstream.notify")
-- Loaded for what they hear of the daemon.
require("midstream.buffers")

local M = {}

---@class midstream.Call
---@field words string[] the arguments, without options
---@field rest string the arguments as they were typed, without options
---@field options table<string, string|true> `++name` or `++name=value`
---@field line1 integer
---@field line2 integer
---@field has_range boolean

---@class midstream.Command
---@field run fun(call: midstream.Call)
---@field complete? string[]|fun(): string[] what the first argument may be
---@field options? string[]

---@type table<string, midstream.Command>
M.table = vim.tbl_extend(
  "error",
  require("midstream.commands.talk"),
  require("midstream.commands.switch"),
  require("midstream.commands.files"),
  require("midstream.commands.branch")
)

--- Split what was typed behind the subcommand: leading options, and the rest as it stands.
---@param text string
---@return table<string, string|true> options, string rest
function M.parse(text)
  local options, rest = {}, vim.trim(text)
  while true do
    local option, behind = rest:match("^%+%+(%S+)%s*(.*)$")
    if not option then
      return options, rest
    end
    local name, value = option:match("^([^=]+)=(.*)$")
    options[name or option] = value or true
    rest = behind
  end
end

---@param call vim.api.keyset.create_user_command.command_args
function M.run(call)
  local name, behind = call.args:match("^(%S+)%s*(.*)$")
  local command = M.table[name or "open"]
  if not command then
    return notify.problem({ message = ("There is no `:Midstream %s`; <Tab> lists what there is."):format(name) })
  end
  local options, rest = M.parse(behind or "")
  for option in pairs(options) do
    if not vim.list_contains(command.options or {}, option) then
      return notify.problem({ message = ("`:Midstream %s` has no option ++%s."):format(name, option) })
    end
  end
  async.run(function()
    command.run({
      words = vim.split(rest, "%s+", { trimempty = true }),
      rest = rest,
      options = options,
      line1 = call.line1,
      line2 = call.line2,
      has_range = call.range > 0,
    })
  end)
end

---@param lead string
---@param line string
---@return string[]
function M.complete(lead, line)
  local name = line:match("Midstream!?%s+(%S+)%s")
  local words
  if not name then
    words = vim.tbl_keys(M.table)
  elseif M.table[name] then
    local known = M.table[name].complete or {}
    words = vim.deepcopy(type(known) == "function" and known() or known)
    for _, option in ipairs(M.table[name].options or {}) do
      words[#words + 1] = "++" .. option
    end
  end
  words = vim.tbl_filter(function(word)
    return vim.startswith(word, lead)
  end, words or {})
  table.sort(words)
  return words
end

return M
