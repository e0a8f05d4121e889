--- `:checkhealth midstream`: what was found, and what to do about the rest.
local async = require("midstream.async")
local client = require("midstream.client")
local config = require("midstream.config")
local providers = require("midstream.providers")

local M = {}

---@param found midstream.protocol.Provider
local function report(found)
  local version = found.version and " " .. found.version or ""
  if not found.problem then
    return vim.health.ok(("agent %s: %s%s"):format(found.kind, found.label, version))
  end
  local action = found.problem.action and { found.problem.action } or nil
  vim.health.warn(("agent %s: %s"):format(found.kind, found.problem.message), action)
end

local function daemon()
  local done, found = false, nil
  async.run(function()
    local ok, result = pcall(providers.list)
    done, found = true, { ok = ok, result = result }
  end)
  vim.wait(30000, function()
    return done
  end, 20)
  if not found then
    return vim.health.error("the daemon did not answer within 30 seconds")
  elseif not found.ok then
    return vim.health.error("the daemon does not answer: " .. (found.result.message or tostring(found.result)))
  end
  vim.health.ok(("daemon: version %s, protocol %s"):format(client.version(), client.told().protocolVersion))
  for _, problem in ipairs(client.told().configProblems) do
    vim.health.warn(("configuration key %s: %s"):format(problem.key, problem.message))
  end
  for _, provider in ipairs(found.result) do
    report(provider)
  end
end

function M.check()
  vim.health.start("midstream")
  if vim.fn.has("nvim-0.11") == 1 then
    vim.health.ok("Neovim 0.11 or newer")
  else
    vim.health.error("Neovim is too old", "Midstream needs Neovim 0.11 or newer")
  end
  local options, problems = config.resolve(vim.g.midstream)
  for _, problem in ipairs(problems) do
    vim.health.error(problem, "see :help midstream-config")
  end
  if #problems == 0 then
    vim.health.ok("vim.g.midstream is valid")
  end
  local path = vim.fn.exepath(options.cmd[1])
  if path == "" then
    local advice = { "install Midstream: pip install midstream", "or set vim.g.midstream.cmd" }
    return vim.health.error(("`%s` cannot be executed"):format(options.cmd[1]), advice)
  end
  vim.health.ok("command: " .. path)
  daemon()
end

return M
