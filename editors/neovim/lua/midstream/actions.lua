--- What choosing a row of a thread's buffer does.
local async = require("midstream.async")
local client = require("midstream.client")
local notify = require("midstream.notify")
local view = require("midstream.view")

local M = {}

--- Open read-only text in a window of its own.
---@param name string
---@param text string
---@param filetype string
function M.show_text(name, text, filetype)
  vim.cmd.split()
  local buffer = vim.fn.bufadd("midstream://" .. name)
  vim.fn.bufload(buffer)
  vim.bo[buffer].buftype, vim.bo[buffer].bufhidden, vim.bo[buffer].swapfile = "nofile", "wipe", false
  vim.bo[buffer].modifiable = true
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, vim.split(text, "\n", { plain = true }))
  vim.bo[buffer].modifiable = false
  vim.bo[buffer].filetype = filetype
  vim.api.nvim_win_set_buf(0, buffer)
end

---@param params table
local function respond(params)
  client.call("request/respond", params)
end

--- Ask each question of a request in turn.
---@param request midstream.protocol.RuntimeRequest
local function ask(request)
  local answers = {}
  for _, question in ipairs(request.questions or {}) do
    local values
    if #question.options > 0 and not question.freeText and not question.multiple then
      local chosen = async.select(question.options, question.text, function(option)
        return option.label
      end)
      values = chosen and { chosen.label }
    else
      local labels = vim.tbl_map(function(option)
        return option.label
      end, question.options)
      local hint = #labels > 0 and (" [%s]"):format(table.concat(labels, "; ")) or ""
      local words = async.input(question.text .. hint .. " ")
      values = words and (question.multiple and vim.split(words, "%s*;%s*") or { words })
    end
    if not values then
      return
    end
    answers[#answers + 1] = { questionId = question.id, values = values }
  end
  respond({ requestId = request.id, answers = answers })
end

---@type table<string, fun(action: table, thread: midstream.Thread)>
local by_kind = {
  answer = function(action)
    respond({
      requestId = action.request,
      optionId = action.option and action.option.optionId,
      answers = action.answers,
    })
  end,
  ask = function(action, thread)
    ask(thread.requests[action.request])
  end,
  output = function(action)
    local pieces, offset = {}, 0
    repeat
      local params = { itemId = action.item, field = action.field, path = action.path, offset = offset }
      local answer = client.call("item/output", params)
      pieces[#pieces + 1], offset = answer.text, answer.nextOffset
    until not offset
    M.show_text(action.item, table.concat(pieces), "")
  end,
  handoff = function(action)
    require("midstream.handoff").show(action.handoff)
  end,
  thread = function(action)
    view.open(action.thread)
  end,
  diff = function(action, thread)
    require("midstream.diff").of_run(thread, thread.runs[action.run], action.path)
  end,
  file = function(action, thread)
    vim.cmd("aboveleft split " .. vim.fn.fnameescape(vim.uri_to_fname(thread.record.workspace) .. "/" .. action.path))
  end,
  attachment = function(action)
    vim.cmd("aboveleft split " .. vim.fn.fnameescape(vim.uri_to_fname(action.attachment.uri)))
    if action.attachment.range then
      vim.api.nvim_win_set_cursor(0, { action.attachment.range.start.line + 1, 0 })
    end
  end,
  run = function(action, thread)
    require("midstream.diff").of_run(thread, thread.runs[action.run])
  end,
  queued = function(action, thread)
    require("midstream.queue").act(thread, thread.runs[action.run])
  end,
  load = function()
    view.load_near(vim.api.nvim_get_current_buf())
  end,
}

---@return midstream.Action|nil action, midstream.View|nil
local function under_cursor()
  local shown = view.get(vim.api.nvim_get_current_buf())
  local block, row = nil, nil
  if shown then
    block, row = shown.painting:at(vim.api.nvim_win_get_cursor(0)[1])
  end
  return block and block.actions[row], shown
end

--- Do what the row under the cursor says.
function M.choose()
  local action, shown = under_cursor()
  if action and shown then
    async.run(function()
      by_kind[action.kind](action, shown.thread)
    end)
  end
end

--- Answer with the row under the cursor, and give the agent a reason: with the answer where it takes
--- one, otherwise as a message behind it.
function M.choose_with_reason()
  local action, shown = under_cursor()
  if not (action and action.kind == "answer" and action.option and shown) then
    return notify.info("A reason goes with an answer: put the cursor on one of its rows.")
  end
  async.run(function()
    local reason = async.input(action.option.label .. ", because: ")
    if not reason or reason == "" then
      return
    end
    local request = shown.thread.requests[action.request]
    local takes = request.acceptsMessage
    respond({ requestId = request.id, optionId = action.option.optionId, message = takes and reason or nil })
    if not takes then
      require("midstream.send").say(shown.thread.id, reason, "queue")
    end
  end)
end

--- Move to the head of the next or the previous run.
---@param step 1|-1
function M.go_to_run(step)
  local shown = view.get(vim.api.nvim_get_current_buf())
  local line, last = vim.api.nvim_win_get_cursor(0)[1] + step, vim.api.nvim_buf_line_count(0)
  while shown and line >= 1 and line <= last do
    local block, row, key = shown.painting:at(line)
    if block and row == 1 and key:sub(1, 4) == "run:" then
      vim.cmd("normal! m'")
      return vim.api.nvim_win_set_cursor(0, { line, 0 })
    end
    line = line + step
  end
end

--- Move to the oldest thing that waits for an answer; nowhere if nothing does.
function M.go_to_request()
  local shown = view.get(vim.api.nvim_get_current_buf())
  local request = shown and shown.thread:open_requests()[1]
  for index, key in ipairs(request and shown.painting.keys or {}) do
    if key == request.itemId then
      return vim.api.nvim_win_set_cursor(0, { shown.painting:start(index) + 1, 0 })
    end
  end
  notify.info("Nothing waits for an answer here.")
end

return M
