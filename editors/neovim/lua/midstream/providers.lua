--- How a provider looks: its sign and its colour, the same wherever it is shown.
local async = require("midstream.async")
local client = require("midstream.client")
local config = require("midstream.config")

local M = {}

local COLOURS = { "DiagnosticInfo", "DiagnosticWarn", "DiagnosticOk", "Special", "DiagnosticHint", "Constant" }
---@type string[] in the order in which they were first seen
local seen = {}

---@param provider string
---@return integer
local function place(provider)
  for index, known in ipairs(seen) do
    if known == provider then
      return index
    end
  end
  seen[#seen + 1] = provider
  return #seen
end

--- The highlight group of a provider: `MidstreamProvider1`, `2`… in the order in which they were first seen.
---@param provider string
---@return string
function M.highlight(provider)
  local number = (place(provider) - 1) % #COLOURS + 1
  local group = "MidstreamProvider" .. number
  vim.api.nvim_set_hl(0, group, { link = COLOURS[number], default = true })
  return group
end

---@param provider string
---@return string at most two cells wide
function M.sign(provider)
  return config.get().signs[provider] or vim.fn.strcharpart(provider, 0, 1):upper() .. "▌"
end

---@type midstream.protocol.Provider[] as last told; completion cannot wait
local known = {}

--- All providers of the daemon.
---@return midstream.protocol.Provider[]
function M.list()
  known = client.call("provider/list", {}).providers
  return known
end

--- The names of providers and of their models, as far as they are known: `codex`, `codex/gpt-5`.
---@return string[]
function M.names()
  local names = {}
  for _, provider in ipairs(known) do
    names[#names + 1] = provider.kind
    for _, model in ipairs(provider.models) do
      names[#names + 1] = ("%s/%s"):format(provider.kind, model.id)
    end
  end
  return names
end

--- `codex/gpt-5` or `codex` as a selection.
---@param words string
---@return midstream.protocol.ModelSelection
function M.parse(words)
  local provider, model = words:match("^([^/]+)/(.+)$")
  return { provider = provider or words, model = model or vim.NIL }
end

---@param selection midstream.protocol.ModelSelection
---@return string
function M.show(selection)
  local model = selection.model
  return model and model ~= vim.NIL and ("%s/%s"):format(selection.provider, model) or selection.provider
end

client.on_connect(function()
  async.run(M.list)
end)

return M
