--- Changing who answers, and what they are told first.
local async = require("midstream.async")
local client = require("midstream.client")
local current = require("midstream.current")
local handoff = require("midstream.handoff")
local notify = require("midstream.notify")
local providers = require("midstream.providers")

local STRATEGIES = { "delta_since_target_last_seen", "full_thread_summary", "checkpoint_summary" }
local MODES = { "approvalRequired", "autoAcceptEdits", "fullAccess", "readOnly" }

---@return midstream.protocol.ModelSelection|nil
local function pick()
  local chosen = async.select(providers.list(), "Who goes on", function(provider)
    local problem = provider.problem and " · " .. provider.problem.message or ""
    return ("%s · %s%s"):format(provider.kind, provider.label, problem)
  end)
  if not chosen then
    return nil
  end
  local models = vim.list_extend({ { id = nil, label = "its own choice" } }, chosen.models)
  local model = #models == 1 and models[1]
    or async.select(models, "Model", function(model)
      return model.label
    end)
  return model and { provider = chosen.kind, model = model.id or vim.NIL }
end

---@param call midstream.Call
---@return {strategy?: string, budgetTokens?: integer, summarizer?: string}
local function ways(call)
  local budget = call.options.budget and tonumber(call.options.budget) or nil
  return { strategy = call.options.strategy, budgetTokens = budget, summarizer = call.options.summarizer }
end

---@return integer buffer
local function shown_handoff()
  local buffer = vim.api.nvim_get_current_buf()
  if not handoff.page(buffer) then
    error({ message = "This buffer shows no handoff: `:Midstream handoff` opens one." }, 0)
  end
  return buffer
end

---@type table<string, midstream.Command>
return {
  switch = {
    complete = providers.names,
    options = { "clean" },
    run = function(call)
      local thread = current.thread()
      local selection = call.words[1] and providers.parse(call.words[1]) or pick()
      if not selection then
        return
      end
      local context = call.options.clean and "clean" or nil
      local params = { threadId = thread.id, selection = selection, context = context }
      local plan = client.call("provider/switch", params).plan
      local reason = plan.reasons[1] and ": " .. plan.reasons[1].message or ""
      notify.info(("%s goes on, by %s%s"):format(selection.provider, plan.strategy, reason))
    end,
  },
  handoff = {
    complete = providers.names,
    options = { "budget", "clean", "strategy", "summarizer" },
    run = function(call)
      local thread = current.thread()
      local selection = call.words[1] and providers.parse(call.words[1]) or thread.record.selection
      local context = call.options.clean and "clean" or nil
      handoff.preview(thread.id, selection, vim.tbl_extend("error", ways(call), { context = context }))
    end,
  },
  regenerate = {
    complete = STRATEGIES,
    options = { "budget", "strategy", "summarizer" },
    run = function(call)
      local options = ways(call)
      options.strategy = options.strategy or call.words[1]
      handoff.regenerate(shown_handoff(), options)
    end,
  },
  discard = {
    run = function()
      handoff.discard(shown_handoff())
    end,
  },
  mode = {
    complete = MODES,
    run = function(call)
      local mode = call.words[1] or async.select(MODES, "What agents may do unasked", tostring)
      if mode then
        client.call("thread/update", { threadId = current.thread().id, runtimeMode = mode })
      end
    end,
  },
}
