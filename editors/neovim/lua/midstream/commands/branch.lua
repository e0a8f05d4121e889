--- Going back in a thread, branching off, and taking it elsewhere.
local async = require("midstream.async")
local current = require("midstream.current")
local history = require("midstream.history")
local providers = require("midstream.providers")

--- The ordinal that was typed, or that of the run which the user chooses.
---@param thread midstream.Thread
---@param word string|nil
---@param prompt string
---@return integer|nil
local function ordinal(thread, word, prompt)
  if word then
    local number = tonumber(word)
    if not number or number < 0 or number % 1 ~= 0 then
      error({ message = ("`%s` is no run's number."):format(word) }, 0)
    end
    return number
  end
  local chosen = async.select(vim.iter(thread:started_runs()):rev():totable(), prompt, function(run)
    return ("%d · %s · %s"):format(run.ordinal, providers.show(run.selection), run.message.text:gsub("\n", " "))
  end)
  return chosen and chosen.ordinal
end

---@type table<string, midstream.Command>
return {
  rollback = {
    options = { "files" },
    run = function(call)
      local thread = current.thread()
      local last = ordinal(thread, call.words[1], "The last run to keep")
      if last then
        history.rollback(thread, last, call.options.files == true)
      end
    end,
  },
  fork = {
    run = function(call)
      local thread = current.thread()
      local after = call.words[1] and ordinal(thread, call.words[1], "") or nil
      current.open(history.fork(thread, after).id)
    end,
  },
  merge = {
    run = function()
      history.merge(current.thread())
    end,
  },
  export = {
    complete = { "jsonl", "markdown" },
    run = function(call)
      history.export(current.thread(), call.words[1] == "jsonl" and "jsonl" or "markdown")
    end,
  },
}
