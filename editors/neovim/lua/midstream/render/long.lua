--- Long texts, which records hold without their middle: a row opens the whole.
local M = {}

-- Fields whose row stands where their middle is missing; that of all others stands at the item's end.
local INLINE = { markdown = true, message = true, output = true, result = true, text = true }

---@param block midstream.Block
---@param item midstream.protocol.Item
---@param part midstream.protocol.Shortened
local function add_opener(block, item, part)
  local action = { kind = "output", item = item.id, field = part.field, path = part.path }
  block:add(("⋯ %s shortened: <CR> opens the whole"):format(part.path or part.field), "Comment", action)
end

--- Add a field of an item: its text, or its head, the row, and its tail.
---@param block midstream.Block
---@param item midstream.protocol.Item
---@param field string
---@param add fun(text: string)
function M.add(block, item, field, add)
  local text = item[field] or ""
  local part = vim.iter(item.shortened or {}):find(function(part)
    return part.field == field
  end)
  if not part then
    return add(text)
  end
  local cut = vim.str_byteindex(text, "utf-32", part.headLength)
  add(text:sub(1, cut))
  add_opener(block, item, part)
  add(text:sub(cut + 1))
end

--- Add the rows of fields that are shown another way, such as a tool's input.
---@param block midstream.Block
---@param item midstream.protocol.Item
function M.add_rest(block, item)
  for _, part in ipairs(item.shortened or {}) do
    if not INLINE[part.field] then
      add_opener(block, item, part)
    end
  end
end

return M
