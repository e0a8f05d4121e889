--- How each type of item is shown. Text of agents and users is shown, never obeyed: only rows that are made here act.
local Block = require("midstream.render.block")
local long = require("midstream.render.long")
local request = require("midstream.render.request")

local M = {}

local MARKS = { pending = "[ ]", running = "[-]", completed = "[x]" }
local CHANGES = { add = "A", modify = "M", delete = "D", rename = "R", added = "A", modified = "M", deleted = "D" }

--- Say where an attachment points, as `src/a.lua:3-7`.
---@param attachment midstream.protocol.StoredAttachment
---@return string
function M.attachment(attachment)
  local name = attachment.uri and vim.fn.fnamemodify(vim.uri_to_fname(attachment.uri), ":~:.") or attachment.mimeType
  if attachment.range then
    local last = attachment.range["end"]
    local until_line = last.character == 0 and last.line or last.line + 1
    name = ("%s:%d-%d"):format(name, attachment.range.start.line + 1, until_line)
  end
  return attachment.type == "diagnostics" and ("%s (%d diagnostics)"):format(name, #attachment.items) or name
end

---@param title string
---@return midstream.Block
local function tool(title)
  return Block.new(2):add(title, "MidstreamTool")
end

---@param block midstream.Block
---@param files midstream.protocol.FileSummary[]|midstream.protocol.ChangedFile[]
---@param action fun(path: string): midstream.Action|nil
local function list_files(block, files, action)
  for _, file in ipairs(files) do
    local counts = file.additions and ("  +%d −%d"):format(file.additions, file.deletions) or ""
    local kind = CHANGES[file.kind or file.status] or "M"
    block:add(("  %s %s%s"):format(kind, file.path, counts), "MidstreamFile", action(file.path))
  end
  return block
end

---@param item midstream.protocol.NoticeItem|midstream.protocol.ErrorItem
---@param highlight string
---@return midstream.Block
local function message(item, highlight)
  local block = Block.new()
  long.add(block, item, "message", function(text)
    block:add("! " .. text, highlight)
  end)
  return block
end

---@type table<string, fun(item: table, thread: midstream.Thread): midstream.Block>
M.by_type = {
  userMessage = function(item)
    local block = Block.new()
    if item.intent == "steer" then
      block:add("*steered:*", "Comment")
    end
    long.add(block, item, "text", function(text)
      for line in vim.gsplit(text, "\n", { plain = true }) do
        block:add("> " .. line, "MidstreamUser")
      end
    end)
    for _, attachment in ipairs(item.attachments) do
      local action = attachment.uri and { kind = "attachment", attachment = attachment }
      block:add("> ↳ " .. M.attachment(attachment), "MidstreamContext", action)
    end
    return block
  end,
  agentMessage = function(item)
    local block = Block.new()
    long.add(block, item, "text", function(text)
      block:add(text)
    end)
    return block
  end,
  reasoning = function(item)
    local block = tool("▸ thinking")
    long.add(block, item, "text", function(text)
      block:add(text, "Comment")
    end)
    return block
  end,
  plan = function(item)
    local block = Block.new():add("**A plan:**")
    long.add(block, item, "markdown", function(text)
      block:add(text)
    end)
    return block
  end,
  todo = function(item)
    local block = Block.new():add("**To do**", "MidstreamTool")
    for _, step in ipairs(item.steps) do
      block:add(("- %s %s"):format(MARKS[step.status], step.text), step.status == "completed" and "Comment" or nil)
    end
    return block
  end,
  command = function(item)
    local ended = item.exitCode and (" · exit %d"):format(item.exitCode) or " · " .. item.status
    local block = tool("▸ $ " .. item.command:gsub("\n", " ⏎ ") .. ended)
    if item.output ~= "" then
      long.add(block, item, "output", function(text)
        block:fenced(text, "text")
      end)
    end
    return block
  end,
  fileChange = function(item)
    local count = #item.changes
    local block = tool(("▸ %s %s"):format(count == 1 and item.changes[1].path or count .. " files", item.status))
    for _, change in ipairs(item.changes) do
      local action = { kind = "file", path = change.path, thread = item.threadId }
      block:add(("  %s %s"):format(CHANGES[change.kind], change.path), "MidstreamFile", action)
      if change.diff then
        block:fenced(change.diff, "diff")
      end
    end
    return block
  end,
  tool = function(item)
    local block = tool(("▸ %s%s · %s"):format(item.server and item.server .. ": " or "", item.name, item.status))
    block:fenced(type(item.input) == "string" and item.input or vim.json.encode(item.input), "json")
    if item.output and item.output ~= "" then
      long.add(block, item, "output", function(text)
        block:fenced(text, "text")
      end)
    end
    return block
  end,
  webSearch = function(item)
    local block = tool("▸ search: " .. item.query)
    for _, result in ipairs(item.results or {}) do
      block:add(("- %s <%s>"):format(result.title or "", result.url))
    end
    return block
  end,
  approval = function(item, thread)
    return request.render(thread.requests[item.requestId], item)
  end,
  question = function(item, thread)
    return request.render(thread.requests[item.requestId], item)
  end,
  subagent = function(item)
    local block = tool(("▸ subagent of %s: %s · %s"):format(item.provider, item.title, item.status))
    if item.childThreadId then
      block.actions[1] = { kind = "thread", thread = item.childThreadId }
    end
    if item.result then
      long.add(block, item, "result", function(text)
        block:add(text)
      end)
    end
    return block
  end,
  checkpoint = function(item)
    local count = #item.files
    local block = tool(("▸ checkpoint · %d file%s changed"):format(count, count == 1 and "" or "s"))
    block.actions[1] = { kind = "diff", run = item.runId }
    return list_files(block, item.files, function(path)
      return { kind = "diff", run = item.runId, path = path }
    end)
  end,
  handoff = function(item, thread)
    local handoff = thread.handoffs[item.handoffId]
    local from = #item.fromProviders > 0 and table.concat(item.fromProviders, ", ") .. " " or ""
    local title = ("⇄ handoff %s→ %s · %s"):format(from, item.toProvider, item.strategy)
    local block = Block.new():add(title, "MidstreamHandoff", { kind = "handoff", handoff = item.handoffId })
    for _, reason in ipairs(item.reasons) do
      block:add("  because: " .. reason.message, "MidstreamContext", { kind = "handoff", handoff = item.handoffId })
    end
    if handoff then
      local delivered = handoff.delivery and handoff.delivery.status or handoff.status
      local line = ("  %d tokens · %s · <CR> opens the exact text"):format(handoff.tokens.estimated, delivered)
      block:add(line, "Comment", { kind = "handoff", handoff = item.handoffId })
    end
    return block
  end,
  fork = function(item)
    return Block.new()
      :add("⑂ a fork leaves here", "MidstreamHandoff", { kind = "thread", thread = item.otherThreadId })
  end,
  mergeBack = function(item)
    return Block.new()
      :add("⑂ a fork's work comes back", "MidstreamHandoff", { kind = "thread", thread = item.otherThreadId })
  end,
  compaction = function(item)
    return Block.new():add("⋯ the agent compacted its own history: " .. (item.summary or ""), "Comment")
  end,
  notice = function(item)
    return message(item, "DiagnosticWarn")
  end,
  error = function(item)
    return message(item, "DiagnosticError")
  end,
}

---@param item midstream.protocol.Item
---@param thread midstream.Thread
---@return midstream.Block
function M.render(item, thread)
  local block = M.by_type[item.type](item, thread)
  long.add_rest(block, item)
  if item.type ~= "userMessage" and item.status == "interrupted" then
    block:add("*interrupted*", "DiagnosticWarn")
  end
  return block:add("")
end

return M
