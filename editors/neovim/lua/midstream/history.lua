--- Going back and branching: checkpoints, restore, rollback, forks and what they give back.
local async = require("midstream.async")
local buffers = require("midstream.buffers")
local client = require("midstream.client")
local notify = require("midstream.notify")

local M = {}

local RUN = { baseline = "before run %d", run = "after run %d" }

---@param checkpoint midstream.protocol.Checkpoint
---@return string
function M.describe(checkpoint)
  local name = RUN[checkpoint.kind] and checkpoint.runOrdinal and RUN[checkpoint.kind]:format(checkpoint.runOrdinal)
  local count = #checkpoint.files
  local time = checkpoint.capturedAt:sub(1, 19):gsub("T", " ")
  local words = { time, name or checkpoint.kind, ("%d file%s"):format(count, count == 1 and "" or "s") }
  if checkpoint.label then
    table.insert(words, 3, checkpoint.label)
  end
  if checkpoint.status ~= "ready" then
    words[#words + 1] = checkpoint.problem or checkpoint.status
  end
  return table.concat(words, " · ")
end

--- Let the user choose a checkpoint, newest first.
---@param thread midstream.Thread
---@param prompt string
---@return midstream.protocol.Checkpoint|nil
function M.pick(thread, prompt)
  local answer = client.call("checkpoint/list", { threadId = thread.id })
  local newest_first = vim.iter(answer.checkpoints):rev():totable()
  if #newest_first == 0 then
    notify.info("There is no checkpoint yet.")
    return nil
  end
  return async.select(newest_first, prompt, M.describe)
end

---@param entries {path: string, reason: string}[]
---@return string
local function show_conflicts(entries)
  return table.concat(
    vim.tbl_map(function(conflict)
      return ("  %s: %s"):format(conflict.path, conflict.reason)
    end, entries),
    "\n"
  )
end

--- Ask before something that has conflicts is forced. Leaving means no.
---@param conflicts midstream.protocol.Conflict[]
---@return boolean
local function may_force(conflicts)
  local prompt = "These would be overwritten:\n" .. show_conflicts(conflicts)
  local chosen = async.select({ "No, change nothing", "Yes, overwrite them" }, prompt, tostring)
  return chosen == "Yes, overwrite them"
end

---@param restore midstream.protocol.RestoreResult
---@param workspace string
local function tell(restore, workspace)
  buffers.refresh(workspace, vim.list_extend(vim.list_extend({}, restore.written), restore.deleted))
  local written = #restore.written
  local words = ("%d file%s written, %d deleted"):format(written, written == 1 and "" or "s", #restore.deleted)
  notify.info(restore.safetyCheckpointId and words .. "; `:Midstream restore` can undo it" or words)
end

--- Do something that restores files, asking where unsaved or newer work is in the way.
---@param act fun(force: boolean): midstream.protocol.RestoreResult|nil
---@param workspace string
local function restoring(act, workspace)
  local ok, result = pcall(act, false)
  if not ok then
    local conflicts = type(result) == "table" and result.data and result.data.conflicts
    if not conflicts then
      error(result, 0)
    elseif not may_force(conflicts) then
      return notify.info("Nothing was changed:\n" .. show_conflicts(conflicts))
    end
    result = act(true)
  end
  if result then
    tell(result, workspace)
  end
end

--- Bring a checkpoint's files back.
---@param thread midstream.Thread
---@param checkpoint_id string
---@param paths? string[]
function M.restore(thread, checkpoint_id, paths)
  local workspace = thread.record.workspace
  restoring(function(force)
    return client.call("checkpoint/restore", {
      checkpointId = checkpoint_id,
      paths = paths,
      force = force or nil,
      dirtyPaths = buffers.dirty(workspace),
    })
  end, workspace)
end

--- Take back the runs after one.
---@param thread midstream.Thread
---@param ordinal integer the last run to keep
---@param with_files boolean
function M.rollback(thread, ordinal, with_files)
  local workspace = thread.record.workspace
  restoring(function(force)
    local answer = client.call("thread/rollback", {
      threadId = thread.id,
      toRunOrdinal = ordinal,
      restoreFiles = with_files,
      force = force or nil,
      dirtyPaths = buffers.dirty(workspace),
    })
    notify.info(("Runs that were taken back: %d"):format(#answer.rolledBackRunIds))
    return answer.restore
  end, workspace)
end

--- Branch off after a run, or after the last one that ended.
---@param thread midstream.Thread
---@param ordinal? integer
---@return midstream.protocol.Thread
function M.fork(thread, ordinal)
  local from
  if ordinal then
    local run = vim.iter(thread:started_runs()):find(function(run)
      return run.ordinal == ordinal
    end)
    if not run then
      error({ message = ("There is no run %d in this thread."):format(ordinal) }, 0)
    end
    from = { type = "run", runId = run.id }
  end
  return client.call("thread/fork", { threadId = thread.id, from = from }).thread
end

--- Give a fork's work back to its parent, whose next run takes it in.
---@param thread midstream.Thread
function M.merge(thread)
  local transfer = client.call("thread/mergeBack", { threadId = thread.id }).transfer
  notify.info("The parent's next run is told what this fork did.")
  return transfer
end

--- Open a thread as text.
---@param thread midstream.Thread
---@param format "markdown"|"jsonl"
function M.export(thread, format)
  local answer = client.call("thread/export", { threadId = thread.id, format = format })
  vim.cmd("tabnew")
  vim.api.nvim_buf_set_lines(0, 0, -1, false, vim.split(answer.content, "\n", { plain = true }))
  vim.bo.filetype = format == "jsonl" and "json" or "markdown"
  vim.bo.buftype = ""
end

return M
