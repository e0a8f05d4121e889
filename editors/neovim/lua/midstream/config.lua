--- What the user set in `vim.g.midstream`, laid over the defaults and checked.
local M = {}

---@class midstream.Config
---@field cmd string[] how the daemon is started
---@field data_dir? string where the daemon keeps its data
---@field daemon? midstream.protocol.Config the daemon's own configuration
---@field runtime_mode midstream.protocol.RuntimeMode what agents may do unasked in new threads
---@field provider? string who answers the first run of a new thread
---@field page integer how many items are loaded at a time
---@field refresh_ms integer how often text that is being written is painted
---@field maps boolean whether Midstream's own buffers have keys
---@field signs table<string, string> a provider's sign, at most two cells wide
---@field open string the command that opens a thread's window

---@type midstream.Config
local defaults = {
  cmd = { "midstream", "serve" },
  runtime_mode = "approvalRequired",
  page = 100,
  refresh_ms = 40,
  maps = true,
  signs = {},
  open = "botright vsplit",
}

local MODES = { "approvalRequired", "autoAcceptEdits", "fullAccess", "readOnly" }

local function all_strings(value)
  return type(value) == "table"
    and vim.iter(pairs(value)):all(function(_, entry)
      return type(entry) == "string"
    end)
end

---@type table<string, {[1]: fun(value: any): boolean, [2]: string}>
local rules = {
  cmd = {
    function(value)
      return all_strings(value) and vim.islist(value) and #value > 0
    end,
    "a list of strings, the daemon's command",
  },
  data_dir = {
    function(value)
      return type(value) == "string"
    end,
    "a folder",
  },
  daemon = {
    function(value)
      return type(value) == "table"
    end,
    "a table, as in PROTOCOL.md, Configuration",
  },
  runtime_mode = {
    function(value)
      return vim.list_contains(MODES, value)
    end,
    "one of " .. table.concat(MODES, ", "),
  },
  provider = {
    function(value)
      return type(value) == "string"
    end,
    "the name of a provider",
  },
  page = {
    function(value)
      return type(value) == "number" and value >= 1 and value <= 500 and value % 1 == 0
    end,
    "an integer from 1 to 500",
  },
  refresh_ms = {
    function(value)
      return type(value) == "number" and value >= 0
    end,
    "milliseconds",
  },
  maps = {
    function(value)
      return type(value) == "boolean"
    end,
    "true or false",
  },
  signs = { all_strings, "a table from a provider's name to a sign" },
  open = {
    function(value)
      return type(value) == "string"
    end,
    "a command, such as `tabnew` or `botright vsplit`",
  },
}

--- Lay what the user set over the defaults; what does not fit is left out and named.
---@param given any
---@return midstream.Config config, string[] problems
function M.resolve(given)
  if type(given) == "function" then
    given = given()
  end
  local config, problems = vim.deepcopy(defaults), {}
  if type(given) ~= "table" then
    return config, given == nil and {} or { "vim.g.midstream: expected a table or a function that returns one" }
  end
  for key, value in vim.spairs(given) do
    local rule = rules[key]
    if not rule then
      problems[#problems + 1] = ("vim.g.midstream.%s: there is no such option; see :help midstream-config"):format(key)
    elseif not rule[1](value) then
      problems[#problems + 1] = ("vim.g.midstream.%s: expected %s, got %s"):format(key, rule[2], vim.inspect(value))
    else
      config[key] = value
    end
  end
  return config, problems
end

local warned = {}

--- The configuration as it now stands; each problem in it is told once.
---@return midstream.Config
function M.get()
  local config, problems = M.resolve(vim.g.midstream)
  for _, problem in ipairs(problems) do
    if not warned[problem] then
      warned[problem] = true
      require("midstream.notify").warn(problem)
    end
  end
  return config
end

return M
