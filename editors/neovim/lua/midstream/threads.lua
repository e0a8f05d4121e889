--- The threads that are followed: subscriptions, pages, and who is told of changes.
local Thread = require("midstream.thread")
local async = require("midstream.async")
local client = require("midstream.client")
local config = require("midstream.config")
local notify = require("midstream.notify")

local M = {}

---@class midstream.Listener
---@field changed fun(item_id: string|nil) an item's record or text, or something else of the thread
---@field replaced fun() all of it

---@type table<string, midstream.Thread>
local followed = {}
---@type table<string, midstream.Listener>
local listeners = {}

---@param id string
---@param item_id string|nil
local function changed(id, item_id)
  if listeners[id] then
    listeners[id].changed(item_id)
  end
end

---@param id string
---@return midstream.Thread|nil
function M.get(id)
  return followed[id]
end

--- Load the page that ends the thread.
---@param thread midstream.Thread
local function load_end(thread)
  local page = client.call("thread/items", { threadId = thread.id, last = true, limit = config.get().page })
  thread:take_page(page, "below")
end

--- Take the answer of a subscription: nothing where the events follow, or all of it anew.
---@param id string
local function subscribe(id)
  local known = followed[id]
  local params = { threadId = id, afterSequence = known and known.sequence or nil }
  local answer = client.call("thread/subscribe", params)
  if not answer.snapshot then
    return
  end
  if known then
    known:replace(answer.snapshot)
  else
    followed[id] = Thread.new(answer.snapshot)
  end
  load_end(followed[id])
  if listeners[id] then
    listeners[id].replaced()
  end
end

---@type table<string, true>
local catching_up = {}

--- Ask for the events that are missing, once for all of which that is noticed until they come.
---@param id string
local function catch_up(id)
  if catching_up[id] then
    return
  end
  catching_up[id] = true
  async.run(function()
    local ok, problem = pcall(subscribe, id)
    catching_up[id] = nil
    if not ok then
      error(problem, 0)
    end
  end)
end

--- Follow a thread and load its end.
---@param id string
---@return midstream.Thread
function M.follow(id)
  if not followed[id] then
    subscribe(id)
  end
  return followed[id]
end

---@param id string
---@param listener midstream.Listener
function M.watch(id, listener)
  listeners[id] = listener
end

--- Let go of a thread that nobody looks at any more.
---@param id string
function M.leave(id)
  followed[id], listeners[id] = nil, nil
  if client.is_connected() then
    async.run(function()
      client.call("thread/unsubscribe", { threadId = id })
    end)
  end
end

--- Load a page of the gap, from its upper or its lower end.
---@param thread midstream.Thread
---@param from "above"|"below"
function M.load(thread, from)
  local gap = thread.gap
  if not gap then
    return
  end
  local params = { threadId = thread.id, limit = config.get().page }
  if from == "below" then
    params.beforeItemId = gap.before.id
  elseif gap.after then
    params.afterItemId = gap.after.id
  end
  local page = client.call("thread/items", params)
  if thread.gap == gap then
    thread:take_page(page, from)
  end
end

--- Read what is missing of a field that is being written.
---@param output midstream.protocol.RunOutput
---@param offset integer
local function fill(output, offset)
  local thread = followed[output.threadId]
  local answer = client.call("item/output", { itemId = output.itemId, field = output.field, offset = offset })
  thread:write({ itemId = output.itemId, field = output.field, offset = offset, text = answer.text })
  changed(output.threadId, output.itemId)
end

--- Tell the user's autocommands what an event means.
---@param thread midstream.Thread
---@param event midstream.protocol.ThreadEvent
---@param before midstream.protocol.Run|midstream.protocol.Thread|nil
local function fire(thread, event, before)
  local record = event.record
  if event.type == "run" and (not before or before.status ~= record.status) then
    local data = { threadId = thread.id, runId = record.id, provider = record.provider, status = record.status }
    if record.status == "running" then
      notify.fire("RunStarted", data)
    elseif Thread.is_over(record) then
      notify.fire("RunEnded", data)
    end
  elseif event.type == "thread" and before and before.selection.provider ~= record.selection.provider then
    local from, to = before.selection.provider, record.selection.provider
    notify.fire("ProviderSwitched", { threadId = thread.id, from = from, to = to })
  end
end

client.listen("thread/event", function(event)
  local thread = followed[event.threadId]
  local place = thread and thread:place(event)
  if place == "ahead" then
    return catch_up(event.threadId)
  elseif not thread or place == "known" then
    return
  end
  local before = event.type == "thread" and thread.record or thread.runs[event.record.id]
  local item_id = thread:apply(event)
  changed(event.threadId, item_id)
  fire(thread, event, before)
end)

client.listen("run/output", function(output)
  local thread = followed[output.threadId]
  if not thread then
    return
  end
  local item_id, gap = thread:write(output)
  if item_id then
    changed(output.threadId, item_id)
  elseif gap then
    async.run(function()
      fill(output, gap)
    end)
  end
end)

client.listen("thread/reset", function(reset)
  async.run(function()
    subscribe(reset.threadId)
  end)
end)

client.listen("thread/deleted", function(deleted)
  if followed[deleted.threadId] then
    followed[deleted.threadId].deleted = true
    changed(deleted.threadId)
  end
end)

for method, event in pairs({ ["request/opened"] = "RequestOpened", ["request/closed"] = "RequestClosed" }) do
  client.listen(method, function(params)
    notify.fire(event, { request = params.request })
  end)
end

client.on_connect(function()
  for id in pairs(followed) do
    async.run(function()
      subscribe(id)
    end)
  end
end)

vim.api.nvim_create_autocmd("User", {
  group = vim.api.nvim_create_augroup("midstream.threads", {}),
  pattern = "MidstreamDisconnected",
  callback = function()
    for id in pairs(followed) do
      changed(id)
    end
  end,
})

return M
