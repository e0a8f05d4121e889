--- What stands around the items: the thread's head, each run's head, the gap, and the foot.
local Block = require("midstream.render.block")
local providers = require("midstream.providers")

local M = {}

local WORDS = { rolled_back = "rolled back" }

---@param thread midstream.Thread
---@return midstream.Block
function M.head(thread)
  local record = thread.record
  local block = Block.new()
    :add("# " .. (record.title ~= "" and record.title:gsub("\n", " ") or "A new thread"), "Title")
  block:add(
    ("%s · %s"):format(vim.fn.fnamemodify(vim.uri_to_fname(record.workspace), ":~"), record.runtimeMode),
    "Comment"
  )
  if record.lineage.relationshipToParent then
    local action = { kind = "thread", thread = record.lineage.parentThreadId }
    block:add(
      ("⑂ a %s: <CR> opens its parent"):format(record.lineage.relationshipToParent),
      "MidstreamHandoff",
      action
    )
  end
  return block:add("")
end

---@param usage midstream.protocol.Usage
---@return string
local function show_usage(usage)
  local words = { ("%d in, %d out"):format(usage.inputTokens, usage.outputTokens) }
  if usage.contextTokens and usage.contextWindow and usage.contextWindow > 0 then
    words[2] = ("context %d %%"):format(math.floor(100 * usage.contextTokens / usage.contextWindow + 0.5))
  end
  if usage.costUsd then
    words[#words + 1] = ("$%.2f"):format(usage.costUsd)
  end
  return table.concat(words, " · ")
end

---@param run midstream.protocol.Run
---@param thread midstream.Thread
---@return midstream.Block
function M.run(run, thread)
  local words = { ("## Run %s · %s"):format(run.ordinal or "…", providers.show(run.selection)) }
  words[#words + 1] = WORDS[run.status] or run.status
  if run.threadId ~= thread.id then
    words[#words + 1] = "inherited"
  end
  if run.usage then
    words[#words + 1] = show_usage(run.usage)
  end
  local highlight = providers.highlight(run.provider)
  local block = Block.new(1):add(table.concat(words, " · "), highlight, { kind = "run", run = run.id })
  block.sign = { providers.sign(run.provider), highlight }
  if run.failure then
    block:add(
      ("! %s: %s"):format(run.failure.class, run.failure.message),
      "DiagnosticError",
      { kind = "run", run = run.id }
    )
  end
  return block:add("")
end

--- Where what a fork inherits ends.
---@param thread midstream.Thread
---@return midstream.Block
function M.fork(thread)
  local action = { kind = "thread", thread = thread.record.lineage.parentThreadId }
  return Block.new():add("⑂ forked from here on; above is inherited", "MidstreamHandoff", action):add("")
end

---@return midstream.Block
function M.gap()
  return Block.new(1):add("⋯ more items: come here to load them", "Comment", { kind = "load" }):add("")
end

---@param thread midstream.Thread
---@param connected boolean
---@return midstream.Block
function M.foot(thread, connected)
  local block = Block.new(1)
  local queue = thread:queue()
  if #queue > 0 then
    block:add(
      "## Queue" .. (thread.record.queueHeld and " · held: `:Midstream resume` lets it go on" or ""),
      "MidstreamRequest"
    )
    for index, run in ipairs(queue) do
      local words = ("%d. %s → %s"):format(index, run.message.text:gsub("\n", " "), providers.show(run.selection))
      block:add(words, nil, { kind = "queued", run = run.id })
    end
    block:add("")
  end
  local state = thread.record.status
  if thread.deleted then
    state = "deleted"
  elseif not connected then
    state = "the daemon has ended; the next command starts it again"
  end
  local next_ = providers.show(thread.record.selection)
  local clean = thread.record.nextContext == "clean" and " with a clean context" or ""
  block:add(("— %s · next: %s%s"):format(state, next_, clean), providers.highlight(thread.record.selection.provider))
  block.sign =
    { providers.sign(thread.record.selection.provider), providers.highlight(thread.record.selection.provider) }
  return block
end

return M
