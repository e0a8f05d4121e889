--- What waits for an answer of the user, as rows of the thread's buffer: one for each way to answer, in its own words.
local Block = require("midstream.render.block")

local M = {}

local COLOURS = {
  accept = "MidstreamAccept",
  acceptForSession = "MidstreamAccept",
  decline = "MidstreamDecline",
  cancel = "MidstreamDecline",
}
local OVER = { resolved = "answered", expired = "expired: its agent is gone", cancelled = "withdrawn" }

---@param block midstream.Block
---@param detail midstream.protocol.RequestDetail
local function show_detail(block, detail)
  if detail.reason then
    block:add("  " .. detail.reason)
  end
  if detail.command then
    block:fenced(detail.command, "sh")
    block:add("  in " .. (detail.cwd or "."), "Comment")
  end
  for _, change in ipairs(detail.changes or {}) do
    local from = change.oldPath and change.oldPath .. " → " or ""
    block:add(("  %s %s%s"):format(change.kind, from, change.path), "MidstreamFile")
    if change.diff then
      block:fenced(change.diff, "diff")
    end
  end
  if detail.tool then
    block:add(("  %s%s"):format(detail.tool.server and detail.tool.server .. ": " or "", detail.tool.name))
    block:fenced(vim.json.encode(detail.tool.input), "json")
  end
end

---@param block midstream.Block
---@param request midstream.protocol.RuntimeRequest
local function show_questions(block, request)
  local simple = #request.questions == 1 and not request.questions[1].multiple
  for _, question in ipairs(request.questions) do
    block:add("  " .. question.text, "MidstreamRequest")
    for _, option in ipairs(question.options) do
      local words = option.description and ("%s: %s"):format(option.label, option.description) or option.label
      local answers = { { questionId = question.id, values = { option.label } } }
      local action = simple and { kind = "answer", request = request.id, answers = answers }
      block:add("  ▢ " .. words, "MidstreamAccept", action or { kind = "ask", request = request.id })
    end
  end
  if not simple or request.questions[1].freeText or #request.questions[1].options == 0 then
    block:add("  ▢ Answer in your own words …", "MidstreamAccept", { kind = "ask", request = request.id })
  end
end

--- What was answered, in a line.
---@param request midstream.protocol.RuntimeRequest
---@return string
local function outcome(request)
  local words = { OVER[request.status] }
  for _, option in ipairs(request.options) do
    if option.decision == request.decision then
      words[2] = option.label
      break
    end
  end
  for _, answer in ipairs(request.answers or {}) do
    vim.list_extend(words, answer.values)
  end
  words[#words + 1] = request.message
  return table.concat(words, " · ")
end

---@param request midstream.protocol.RuntimeRequest|nil nil: it is not held any more
---@param item midstream.protocol.ApprovalItem|midstream.protocol.QuestionItem
---@return midstream.Block
function M.render(request, item)
  local prompt = item.prompt or "The agent asks"
  if not request then
    return Block.new():add(("? %s · %s"):format(prompt, item.decision or item.status), "Comment")
  end
  if request.status ~= "pending" then
    local block = Block.new(2):add(("? %s · %s"):format(request.prompt, outcome(request)), "Comment")
    show_detail(block, request.detail)
    return block
  end
  local block = Block.new():add("? WAITS FOR YOU: " .. request.prompt, "MidstreamRequest")
  show_detail(block, request.detail)
  if request.questions then
    show_questions(block, request)
  end
  for _, option in ipairs(request.options) do
    local action = { kind = "answer", request = request.id, option = option }
    block:add("  ▢ " .. option.label, COLOURS[option.decision], action)
  end
  if #request.options > 0 then
    block:add("  <CR> on a row answers · R on it: with a reason", "Comment")
  end
  return block
end

return M
