--- Opening threads and talking in them.
local async = require("midstream.async")
local client = require("midstream.client")
local current = require("midstream.current")
local handoff = require("midstream.handoff")
local notify = require("midstream.notify")
local prompt = require("midstream.prompt")
local providers = require("midstream.providers")
local queue = require("midstream.queue")
local send = require("midstream.send")

---@param thread midstream.Thread
---@return midstream.protocol.Run
local function active(thread)
  local run = thread:active_run()
  if not run then
    error({ message = "No run is active." }, 0)
  end
  return run
end

---@param call midstream.Call
---@return table[]
local function attachments(call)
  local found, buffer = {}, vim.api.nvim_get_current_buf()
  if call.has_range then
    found[1] = send.selection(buffer, call.line1, call.line2)
  end
  if call.options.diagnostics then
    found[#found + 1] = send.diagnostics(buffer)
  end
  if call.options.file then
    found[#found + 1] = { type = "file", uri = vim.uri_from_bufnr(buffer) }
  end
  return found
end

---@param options table<string, string|true>
---@return midstream.protocol.Delivering|nil
local function delivery(options)
  return options.queue and "queue" or options.restart and "restart" or options.steer and "steer" or nil
end

---@type table<string, midstream.Command>
return {
  open = {
    complete = { "last", "new", "pick" },
    run = function(call)
      local which = call.words[1] or "last"
      local id = which
      if which == "new" then
        id = current.create()
      elseif which == "pick" then
        id = current.pick()
      elseif which == "last" then
        id = current.newest() or current.create()
      end
      if id then
        current.open(id)
      end
    end,
  },
  send = {
    options = { "clean", "diagnostics", "file", "queue", "restart", "stale", "steer" },
    run = function(call)
      local buffer = vim.api.nvim_get_current_buf()
      local context = call.options.clean and "clean" or nil
      if prompt.draft(buffer) and call.rest == "" then
        return prompt.submit(buffer)
      end
      if handoff.page(buffer) then
        local text = call.rest ~= "" and call.rest or async.input("Message: ")
        local extra = { allowStaleHandoff = call.options.stale, context = context }
        return text and text ~= "" and handoff.send(buffer, text, extra)
      end
      local draft = { attachments = attachments(call), delivery = delivery(call.options), context = context }
      draft.thread = current.thread().id
      if call.rest ~= "" then
        return send.say(draft.thread, call.rest, draft.delivery, draft)
      end
      prompt.open(draft, providers.show(current.thread().record.selection))
    end,
  },
  steer = {
    run = function(call)
      local run = active(current.thread())
      local text = call.rest ~= "" and call.rest or async.input("Steer: ")
      if text and text ~= "" then
        client.call("run/steer", { runId = run.id, text = text })
      end
    end,
  },
  interrupt = {
    run = function()
      client.call("run/interrupt", { runId = active(current.thread()).id })
    end,
  },
  retry = {
    run = function(call)
      local runs = current.thread():started_runs()
      local run = runs[#runs]
      if not run then
        error({ message = "No run has started yet." }, 0)
      end
      local selection = call.words[1] and providers.parse(call.words[1])
      client.call("run/retry", { runId = run.id, selection = selection })
    end,
  },
  queue = {
    run = function()
      queue.open(current.thread())
    end,
  },
  resume = {
    run = function()
      client.call("queue/resume", { threadId = current.thread().id })
    end,
  },
  request = {
    run = function()
      current.open(current.thread().id)
      require("midstream.actions").go_to_request()
    end,
  },
  stop = {
    run = function()
      client.stop()
      notify.info("Disconnected; the next command connects again.")
    end,
  },
  health = {
    run = function()
      vim.schedule(function()
        vim.cmd.checkhealth("midstream")
      end)
    end,
  },
}
