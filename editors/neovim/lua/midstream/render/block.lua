--- A part of a thread's buffer: its lines, what they look like, and what each does when it is chosen.

---@alias midstream.Action {kind: string, [string]: any}

---@class midstream.Block
---@field lines string[]
---@field actions table<integer, midstream.Action> by line, from 1
---@field highlights table<integer, string> the group of a whole line, by line
---@field sign? {[1]: string, [2]: string} on its first line: text and group
---@field level integer folds: 1 begins a run's, 2 a tool call's, 0 is within the one before
local Block = {}
Block.__index = Block

---@param level? integer
---@return midstream.Block
function Block.new(level)
  return setmetatable({ lines = {}, actions = {}, highlights = {}, level = level or 0 }, Block)
end

--- Add text, which may have several lines.
---@param text string
---@param highlight? string
---@param action? midstream.Action what choosing one of these lines does
---@return midstream.Block
function Block:add(text, highlight, action)
  for _, line in ipairs(vim.split(text, "\n", { plain = true })) do
    self.lines[#self.lines + 1] = line
    self.highlights[#self.lines] = highlight
    self.actions[#self.lines] = action
  end
  return self
end

--- Add text in a Markdown fence that nothing in the text can close.
---@param text string
---@param language string
---@return midstream.Block
function Block:fenced(text, language)
  local longest = 2
  for ticks in text:gmatch("`+") do
    longest = math.max(longest, #ticks)
  end
  local fence = ("`"):rep(longest + 1)
  return self:add(fence .. language):add((text:gsub("\n$", ""))):add(fence)
end

return Block
