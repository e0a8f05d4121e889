--- What the next provider will be told: looked at, edited and sent from buffers, one for each handoff.
local actions = require("midstream.actions")
local async = require("midstream.async")
local client = require("midstream.client")
local notify = require("midstream.notify")
local providers = require("midstream.providers")

local M = {}

---@class midstream.Preview
---@field thread string
---@field selection midstream.protocol.ModelSelection
---@field plan midstream.protocol.SwitchPlan
---@field buffers integer[] in the order in which they would be sent

---@class midstream.Page
---@field handoff midstream.protocol.ContextHandoff
---@field preview midstream.Preview

---@type table<integer, midstream.Page> by buffer
local pages = {}

---@param plan midstream.protocol.SwitchPlan
---@return string
local function why(plan)
  return table.concat(
    vim.tbl_map(function(reason)
      return reason.message
    end, plan.reasons),
    " "
  )
end

---@param buffer integer
local function title(buffer)
  local page = pages[buffer]
  local handoff = page.handoff
  local words = ("⇄ %s · %s · :w keep :q leave :Midstream send · %d of %d tokens · %s"):format(
    providers.show(page.preview.selection),
    handoff.strategy,
    handoff.tokens.estimated,
    handoff.tokens.budget,
    why(page.preview.plan)
  )
  for _, window in ipairs(vim.fn.win_findbuf(buffer)) do
    vim.wo[window].winbar = words:gsub("%%", "%%%%") .. "%<" -- cut at the end, where the reasons are
  end
end

---@param buffer integer
---@param handoff midstream.protocol.ContextHandoff
local function hold(buffer, handoff)
  pages[buffer].handoff = handoff
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, vim.split(handoff.summaryText, "\n", { plain = true }))
  vim.bo[buffer].modified = false
  title(buffer)
end

--- By the grammar: the older highlighting takes the underscore in an id for an error.
---@param buffer integer
local function highlight(buffer)
  pcall(vim.treesitter.start, buffer, "markdown")
end

--- Keep what was edited: a new handoff, in the place of the one shown.
---@param buffer integer
local function keep(buffer)
  local text = table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), "\n")
  local params = { handoffId = pages[buffer].handoff.id, summaryText = text }
  hold(buffer, client.call("handoff/edit", params).handoff)
end

---@param preview midstream.Preview
---@param handoff midstream.protocol.ContextHandoff
---@return integer
local function create(preview, handoff)
  vim.cmd("belowright split")
  local buffer = vim.api.nvim_create_buf(false, false)
  pages[buffer] = { handoff = handoff, preview = preview }
  table.insert(preview.buffers, buffer)
  vim.api.nvim_win_set_buf(0, buffer)
  vim.api.nvim_buf_set_name(buffer, ("midstream://handoff/%s"):format(handoff.id))
  vim.bo[buffer].buftype, vim.bo[buffer].bufhidden = "acwrite", "wipe"
  vim.b[buffer].midstream_thread = preview.thread
  hold(buffer, handoff)
  vim.bo[buffer].filetype = "markdown"
  highlight(buffer)
  vim.api.nvim_create_autocmd("BufWriteCmd", {
    buffer = buffer,
    callback = function()
      async.run(function()
        keep(buffer)
      end)
    end,
  })
  vim.api.nvim_create_autocmd("BufWipeout", {
    buffer = buffer,
    callback = function()
      pages[buffer] = nil
    end,
  })
  return buffer
end

--- Preview what a provider would be told before the next run.
---@param thread_id string
---@param selection midstream.protocol.ModelSelection
---@param options {strategy?: string, budgetTokens?: integer, summarizer?: string, context?: string}
function M.preview(thread_id, selection, options)
  local params = vim.tbl_extend("error", { threadId = thread_id, selection = selection }, options)
  local answer = client.call("handoff/preview", params)
  local preview = { thread = thread_id, selection = selection, plan = answer.plan, buffers = {} }
  if #answer.handoffs == 0 then
    return notify.info(("Nothing would be handed over (%s): %s"):format(answer.plan.strategy, why(answer.plan)))
  end
  for _, handoff in ipairs(answer.handoffs) do
    create(preview, handoff)
  end
end

---@param buffer integer
---@return midstream.Page|nil
function M.page(buffer)
  return pages[buffer]
end

--- Send a message with the handoffs of a preview; what was edited and not written yet is kept first.
---@param buffer integer
---@param text string
---@param extra table further params of `run/start`
function M.send(buffer, text, extra)
  local preview = pages[buffer].preview
  local ids, open = {}, vim.tbl_filter(vim.api.nvim_buf_is_valid, preview.buffers)
  for _, page in ipairs(open) do
    if vim.bo[page].modified then
      keep(page)
    end
    ids[#ids + 1] = pages[page].handoff.id
  end
  local params =
    { threadId = preview.thread, message = { text = text }, selection = preview.selection, handoffIds = ids }
  client.call("run/start", vim.tbl_extend("force", params, extra))
  for _, page in ipairs(open) do
    vim.api.nvim_buf_delete(page, { force = true })
  end
end

--- Make the shown handoff anew, in another way.
---@param buffer integer
---@param options {strategy?: string, budgetTokens?: integer, summarizer?: string}
function M.regenerate(buffer, options)
  local params = vim.tbl_extend("error", { handoffId = pages[buffer].handoff.id }, options)
  hold(buffer, client.call("handoff/regenerate", params).handoff)
end

--- Withdraw the shown handoff and close its buffer.
---@param buffer integer
function M.discard(buffer)
  client.call("handoff/discard", { handoffId = pages[buffer].handoff.id })
  vim.api.nvim_buf_delete(buffer, { force = true })
end

--- Open exactly what was sent.
---@param id string
function M.show(id)
  local handoff = client.call("handoff/read", { handoffId = id }).handoff
  actions.show_text("sent/" .. id, handoff.sentText, "markdown")
  highlight(vim.api.nvim_get_current_buf())
  local runs = table.concat(handoff.runOrdinals, ", ")
  local words = ("⇄ sent as is · %s · runs %s · %d tokens"):format(
    handoff.strategy,
    runs,
    handoff.tokens.estimated
  )
  words = handoff.fallbackReason and ("%s · %s"):format(words, handoff.fallbackReason) or words
  vim.wo.winbar = (words:gsub("%%", "%%%%"))
end

return M
