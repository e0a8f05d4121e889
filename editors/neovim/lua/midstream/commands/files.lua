--- Files: checkpoints, diffs, and taking changes back.
local client = require("midstream.client")
local current = require("midstream.current")
local diff = require("midstream.diff")
local history = require("midstream.history")
local notify = require("midstream.notify")

---@param thread midstream.Thread
---@param word string
---@return midstream.protocol.Run
local function run_of(thread, word)
  for _, run in ipairs(thread:started_runs()) do
    if tostring(run.ordinal) == word then
      return run
    end
  end
  error({ message = ("There is no run %s in this thread."):format(word) }, 0)
end

---@type table<string, midstream.Command>
return {
  checkpoints = {
    complete = { "create" },
    run = function(call)
      local thread = current.thread()
      if call.words[1] == "create" then
        local label = call.rest:match("^create%s+(.+)$")
        client.call("checkpoint/create", { threadId = thread.id, label = label })
        return notify.info("A checkpoint was taken.")
      end
      local chosen = history.pick(thread, "Compare the files with")
      if chosen then
        diff.open({ thread = thread, from = chosen.id, to = "workspace" })
      end
    end,
  },
  diff = {
    run = function(call)
      local thread = current.thread()
      if call.words[1] and vim.startswith(call.words[1], "ckp_") then
        return diff.open({ thread = thread, from = call.words[1], to = call.words[2] or "workspace" })
      end
      local runs = thread:started_runs()
      diff.of_run(thread, call.words[1] and run_of(thread, call.words[1]) or runs[#runs])
    end,
  },
  accept = {
    complete = { "file" },
    run = function(call)
      diff.accept(call.words[1] == "file")
    end,
  },
  reject = {
    complete = { "file" },
    run = function(call)
      diff.reject(call.words[1] == "file")
    end,
  },
  restore = {
    run = function(call)
      local thread = current.thread()
      local id = call.words[1]
      if not id then
        local chosen = history.pick(thread, "Bring back the files of")
        id = chosen and chosen.id
      end
      if id then
        history.restore(thread, id, call.words[2] and vim.list_slice(call.words, 2) or nil)
      end
    end,
  },
}
