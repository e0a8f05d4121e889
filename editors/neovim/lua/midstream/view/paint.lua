--- Paints blocks into a buffer, changing only lines that differ, so that nothing flickers and no cursor moves.
local frame = require("midstream.render.frame")
local items = require("midstream.render.items")
local layout = require("midstream.view.layout")

---@class midstream.Painting what a thread's buffer shows
---@field buffer integer
---@field blocks midstream.Block[]
---@field keys string[]
---@field private folds table<integer, string>|nil
---@field private marks table<string, integer[]>
local Painting = {}
Painting.__index = Painting

local NAMESPACE = vim.api.nvim_create_namespace("midstream")

---@param buffer integer
---@return midstream.Painting
function Painting.new(buffer)
  return setmetatable({ buffer = buffer, blocks = {}, keys = {}, marks = {} }, Painting)
end

---@param place midstream.Place
---@param thread midstream.Thread
---@param connected boolean
---@return midstream.Block
local function render(place, thread, connected)
  if place.item then
    return items.render(place.item, thread)
  elseif place.run then
    return frame.run(place.run, thread)
  end
  return frame[place.key](thread, connected)
end

--- Replace lines, leaving those at both ends that stay the same.
---@param start integer from 0
---@param old string[]
---@param new string[]
function Painting:replace(start, old, new)
  local first, old_last, new_last = layout.difference(old, new)
  if first > old_last and first > new_last then
    return
  end
  local lines = vim.list_slice(new, first, new_last)
  vim.api.nvim_buf_set_lines(self.buffer, start + first - 1, start + old_last, false, lines)
end

--- Take a block's sign and colours away.
---@param key string
function Painting:strip(key)
  for _, mark in ipairs(self.marks[key] or {}) do
    vim.api.nvim_buf_del_extmark(self.buffer, NAMESPACE, mark)
  end
  self.marks[key] = nil
end

--- Give a block its sign and its colours.
---@param key string
---@param block midstream.Block
---@param start integer
function Painting:decorate(key, block, start)
  self:strip(key)
  local marks = {}
  local function mark(row, options)
    options.priority = 110
    marks[#marks + 1] = vim.api.nvim_buf_set_extmark(self.buffer, NAMESPACE, row, 0, options)
  end
  if block.sign then
    mark(start, { sign_text = block.sign[1], sign_hl_group = block.sign[2] })
  end
  for row, group in pairs(block.highlights) do
    local at = start + row - 1
    mark(at, { end_row = at, end_col = #block.lines[row], hl_group = group, strict = false })
  end
  self.marks[key] = marks
end

---@param index integer
---@return integer the block's first line, from 0
function Painting:start(index)
  local start = 0
  for before = 1, index - 1 do
    start = start + #self.blocks[before].lines
  end
  return start
end

--- Paint what differs: blocks that came or went, and those that are marked as changed.
---@param thread midstream.Thread
---@param connected boolean
---@param is_changed fun(key: string): boolean
function Painting:paint(thread, connected, is_changed)
  local places = layout.places(thread)
  local keys = vim.tbl_map(function(place)
    return place.key
  end, places)
  local first, old_last, new_last = layout.difference(self.keys, keys)
  local start, old_lines, new_lines, blocks = self:start(first), {}, {}, {}
  for index = first, old_last do
    self:strip(self.keys[index])
    vim.list_extend(old_lines, self.blocks[index].lines)
  end
  for index = first, new_last do
    local block = render(places[index], thread, connected)
    blocks[#blocks + 1] = block
    vim.list_extend(new_lines, block.lines)
  end
  if #self.keys == 0 then
    old_lines = { "" }
  end
  local kept = vim.list_slice(self.blocks, 1, first - 1)
  vim.list_extend(kept, blocks)
  vim.list_extend(kept, self.blocks, old_last + 1)
  self.blocks, self.keys, self.folds = kept, keys, nil -- before the lines: their change asks for their folds
  self:replace(start, old_lines, new_lines)
  for offset, block in ipairs(blocks) do
    self:decorate(keys[first + offset - 1], block, start)
    start = start + #block.lines
  end
  start = 0
  for index, place in ipairs(places) do
    local fresh = index >= first and index <= new_last
    if not fresh and is_changed(place.key) then
      self:repaint(index, render(place, thread, connected), start)
    end
    start = start + #self.blocks[index].lines
  end
end

---@param index integer
---@param block midstream.Block
---@param start integer
function Painting:repaint(index, block, start)
  local before = self.blocks[index].lines
  self.blocks[index], self.folds = block, nil
  self:replace(start, before, block.lines)
  self:decorate(self.keys[index], block, start)
end

--- The block at a line, and the line's place in it.
---@param line integer from 1
---@return midstream.Block|nil block, integer|nil row, string|nil key
function Painting:at(line)
  local start = 0
  for index, block in ipairs(self.blocks) do
    if line <= start + #block.lines then
      return block, line - start, self.keys[index]
    end
    start = start + #block.lines
  end
end

--- The fold expression's value for each line.
---@return table<integer, string>
function Painting:levels()
  if self.folds then
    return self.folds
  end
  local levels, line = {}, 0
  for _, block in ipairs(self.blocks) do
    for row = 1, #block.lines do
      line = line + 1
      if block.level == 1 then
        levels[line] = row == 1 and ">1" or "1"
      elseif block.level == 2 and row < #block.lines then
        levels[line] = row == 1 and ">2" or "2"
      else
        levels[line] = line <= #self.blocks[1].lines and "0" or "1"
      end
    end
  end
  self.folds = levels
  return levels
end

return Painting
