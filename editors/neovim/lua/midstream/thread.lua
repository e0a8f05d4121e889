--- What is held of a thread: records as they now stand, and the loaded items. No I/O.

---@class midstream.Gap items that are not loaded, between two that are
---@field after? midstream.protocol.Item the last one above; nil: from the thread's beginning
---@field before midstream.protocol.Item the first one below

---@class midstream.Thread
---@field id string
---@field sequence integer the last event that is contained
---@field record midstream.protocol.Thread
---@field runs table<string, midstream.protocol.Run>
---@field handoffs table<string, midstream.protocol.HandoffInfo>
---@field checkpoints midstream.protocol.Checkpoint[] oldest first
---@field requests table<string, midstream.protocol.RuntimeRequest>
---@field transfers table<string, midstream.protocol.ContextTransfer>
---@field items table<string, midstream.protocol.Item>
---@field order midstream.protocol.Item[] the loaded items, by ordinal
---@field gap midstream.Gap|nil
---@field deleted? boolean it is gone for every client
---@field private seen table<string, integer> the event that each item is of
---@field private written table<string, integer> how many code points are held of a field that is being written
local Thread = {}
Thread.__index = Thread

local TERMINAL = { completed = true, interrupted = true, failed = true, cancelled = true, rolled_back = true }
local ACTIVE = { starting = true, running = true, waiting = true }

local function by_id(records)
  local found = {}
  for _, record in ipairs(records) do
    found[record.id] = record
  end
  return found
end

---@param read midstream.protocol.ThreadRead
---@return midstream.Thread
function Thread.new(read)
  local self = setmetatable({ id = read.thread.id }, Thread)
  self:replace(read)
  return self
end

--- Discard all that is held, and take a snapshot.
---@param read midstream.protocol.ThreadRead
function Thread:replace(read)
  self.sequence, self.record = read.sequence, read.thread
  self.runs, self.handoffs, self.requests = by_id(read.runs), by_id(read.handoffs), by_id(read.requests)
  self.transfers, self.checkpoints = by_id(read.transfers), read.checkpoints
  self.items, self.order, self.seen, self.written, self.gap = {}, {}, {}, {}, nil
end

--- Put an item in its place. Returns whether it is new.
---@param item midstream.protocol.Item
---@return boolean
function Thread:put(item)
  local known = self.items[item.id]
  self.items[item.id] = item
  self.written[item.id] = nil
  local low, high = 1, #self.order + 1
  while low < high do
    local middle = math.floor((low + high) / 2)
    if self.order[middle].ordinal < item.ordinal then
      low = middle + 1
    else
      high = middle
    end
  end
  if known then
    self.order[low] = item
  else
    table.insert(self.order, low, item)
  end
  return not known
end

--- Whether an event is the next one; one that was taken before is not, nor one with others missing before it.
---@param event midstream.protocol.ThreadEvent
---@return "next"|"known"|"ahead"
function Thread:place(event)
  local step = event.sequence - self.sequence
  return step == 1 and "next" or step < 1 and "known" or "ahead"
end

--- Take the next event. Returns the id of the item that changed, if it is held.
---@param event midstream.protocol.ThreadEvent
---@return string|nil
function Thread:apply(event)
  local record = event.record
  self.sequence = event.sequence
  if event.type == "thread" then
    self.record = record
  elseif event.type == "run" then
    self.runs[record.id] = record
  elseif event.type == "handoff" then
    self.handoffs[record.id] = record
  elseif event.type == "transfer" then
    self.transfers[record.id] = record
  elseif event.type == "request" then
    self.requests[record.id] = record
    return record.itemId
  elseif event.type == "checkpoint" then
    self:put_checkpoint(record)
  elseif event.type == "item" and not self:in_gap(record) and event.sequence > (self.seen[record.id] or 0) then
    self.seen[record.id] = event.sequence
    self:put(record)
    return record.id
  end
end

---@param checkpoint midstream.protocol.Checkpoint
function Thread:put_checkpoint(checkpoint)
  for index, known in ipairs(self.checkpoints) do
    if known.id == checkpoint.id then
      self.checkpoints[index] = checkpoint
      return
    end
  end
  table.insert(self.checkpoints, checkpoint)
end

---@param item midstream.protocol.Item
---@return boolean
function Thread:in_gap(item)
  local gap = self.gap
  return gap ~= nil and item.ordinal < gap.before.ordinal and (not gap.after or item.ordinal > gap.after.ordinal)
end

--- Take a page of items that begins or ends at an end of the gap, or is the thread's last.
---@param page midstream.protocol.ThreadItemsResult
---@param from "above"|"below"
function Thread:take_page(page, from)
  local gap, first, last = self.gap, page.items[1], page.items[#page.items]
  for _, item in ipairs(page.items) do
    if (self.seen[item.id] or 0) <= page.sequence then
      self.seen[item.id] = page.sequence
      self:put(item)
    end
  end
  if from == "above" and gap then
    local closed = not page.nextItemId or not last or last.ordinal >= gap.before.ordinal
    self.gap = not closed and { after = last, before = gap.before } or nil
  elseif from == "below" then
    local closed = not page.previousItemId or (gap and gap.after and first.ordinal <= gap.after.ordinal)
    self.gap = not closed and { after = gap and gap.after, before = first } or nil
  end
end

--- How many code points of a field are held. A shortened field holds its head and its tail.
---@param item midstream.protocol.Item
---@param field string
---@return integer
local function held(item, field)
  local length = vim.str_utfindex(item[field] or "", "utf-32")
  for _, part in ipairs(item.shortened or {}) do
    if part.field == field then
      return length - part.headLength + part.tailOffset
    end
  end
  return length
end

--- Take a piece of text that is being written. Returns the item's id, or nil and where a gap begins.
---@param output midstream.protocol.RunOutput
---@return string|nil item_id, integer|nil gap_offset
function Thread:write(output)
  local item = self.items[output.itemId]
  if not item then
    return nil
  end
  local have = self.written[item.id] or held(item, output.field)
  if output.offset > have then
    return nil, have
  end
  local length = vim.str_utfindex(output.text, "utf-32")
  local overlap = have - output.offset
  if overlap < length then
    local rest = output.text:sub(vim.str_byteindex(output.text, "utf-32", overlap) + 1)
    item[output.field] = (item[output.field] or "") .. rest
    have = output.offset + length
  end
  self.written[item.id] = have
  return item.id
end

--- The run that is being answered.
---@return midstream.protocol.Run|nil
function Thread:active_run()
  return vim.iter(vim.tbl_values(self.runs)):find(function(run)
    return ACTIVE[run.status] and run.threadId == self.id
  end)
end

--- The runs that have left the queue, oldest first.
---@return midstream.protocol.Run[]
function Thread:started_runs()
  local found = vim.tbl_filter(function(run)
    return run.ordinal ~= nil
  end, vim.tbl_values(self.runs))
  table.sort(found, function(one, other)
    return one.ordinal < other.ordinal
  end)
  return found
end

--- The runs that wait, in the order in which they will go.
---@return midstream.protocol.Run[]
function Thread:queue()
  local found = vim.tbl_filter(function(run)
    return run.status == "queued"
  end, vim.tbl_values(self.runs))
  table.sort(found, function(one, other)
    return (one.queuePosition or 0) < (other.queuePosition or 0)
  end)
  return found
end

--- What waits for an answer of the user, oldest first.
---@return midstream.protocol.RuntimeRequest[]
function Thread:open_requests()
  local found = vim.tbl_filter(function(request)
    return request.status == "pending"
  end, vim.tbl_values(self.requests))
  table.sort(found, function(one, other)
    return one.id < other.id
  end)
  return found
end

---@param run midstream.protocol.Run
---@return boolean
function Thread.is_over(run)
  return TERMINAL[run.status] == true
end

return Thread
