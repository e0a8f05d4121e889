--- Reads unified diffs: which lines of which files. Pure.
local M = {}

---@class midstream.PatchHunk : midstream.protocol.Hunk
---@field text string its heading and first changed line, for a list

---@param count string
---@return integer
local function lines(count)
  return count == "" and 1 or assert(tonumber(count))
end

--- A file's name as `+++ b/name` or `--- a/name` gives it; git quotes names with odd bytes.
---@param words string
---@return string|nil nil: there is no such file on this side
local function name(words)
  words = words:gsub("\t$", "")
  local quoted = words:match('^"(.*)"$')
  if quoted then
    words = quoted:gsub("\\(%d%d%d)", function(digits)
      return string.char(assert(tonumber(digits, 8)))
    end)
    words = words:gsub('\\(["\\])', "%1")
  end
  return words:match("^[ab]/(.*)$")
end

--- All hunks of a patch, in order.
---@param patch string
---@return midstream.PatchHunk[]
function M.hunks(patch)
  local found, path, left, right = {}, nil, 0, 0
  for line in vim.gsplit(patch, "\n", { plain = true }) do
    if left > 0 or right > 0 then
      local sign, hunk = line:sub(1, 1), found[#found]
      left = left - ((sign == "-" or sign == " ") and 1 or 0)
      right = right - ((sign == "+" or sign == " ") and 1 or 0)
      if hunk.text == "" and (sign == "-" or sign == "+") then
        hunk.text = line
      end
    elseif line:sub(1, 4) == "--- " then
      path = name(line:sub(5))
    elseif line:sub(1, 4) == "+++ " then
      path = name(line:sub(5)) or path
    else
      local old, old_count, new, new_count = line:match("^@@ %-(%d+),?(%d*) %+(%d+),?(%d*) @@")
      if old and path then
        left, right = lines(old_count), lines(new_count)
        found[#found + 1] = {
          path = path,
          oldStart = tonumber(old),
          oldLines = left,
          newStart = tonumber(new),
          newLines = right,
          text = "",
        }
      end
    end
  end
  return found
end

--- The hunk that a line of the new file stands in; a deletion stands at the line before it.
---@param hunks midstream.PatchHunk[]
---@param line integer
---@return midstream.PatchHunk|nil
function M.at(hunks, line)
  for _, hunk in ipairs(hunks) do
    local first = math.max(hunk.newStart, 1)
    local last = math.max(hunk.newStart + math.max(hunk.newLines, 1) - 1, 1)
    local after_deletion = hunk.newLines == 0 and line == hunk.newStart + 1
    if (line >= first and line <= last) or after_deletion then
      return hunk
    end
  end
end

return M
