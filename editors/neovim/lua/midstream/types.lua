---@meta
-- Generated from protocol/schema.json by editors/neovim/scripts/generate_types.py.

---@class midstream.protocol.AgentMessageItem What the agent said.
---@field completedAt string|nil
---@field id string
---@field nativeRef string|nil
---@field ordinal integer
---@field parentItemId string|nil
---@field providerThreadId string|nil
---@field runId string|nil
---@field shortened? midstream.protocol.Shortened[]
---@field startedAt string
---@field status "pending"|"running"|"waiting"|"completed"|"failed"|"cancelled"|"interrupted"
---@field text string
---@field threadId string
---@field type "agentMessage"

---@class midstream.protocol.Answer The user's answer to one question.
---@field questionId string
---@field values string[]

---@class midstream.protocol.ApprovalItem A permission that the agent asked for.
---@field completedAt string|nil
---@field decision "accept"|"acceptForSession"|"decline"|"cancel"|nil
---@field id string
---@field kind "command"|"fileRead"|"fileChange"|"tool"|"userInput"|"permission"
---@field nativeRef string|nil
---@field ordinal integer
---@field parentItemId string|nil
---@field prompt string
---@field providerThreadId string|nil
---@field requestId string
---@field runId string|nil
---@field shortened? midstream.protocol.Shortened[]
---@field startedAt string
---@field status "pending"|"running"|"waiting"|"completed"|"failed"|"cancelled"|"interrupted"
---@field threadId string
---@field type "approval"

---@alias midstream.protocol.Attachment midstream.protocol.FileAttachment|midstream.protocol.SelectionAttachment|midstream.protocol.DiagnosticsAttachment|midstream.protocol.ImageAttachment

---@class midstream.protocol.Capabilities What a provider can do. Capability, not name, decides.
---@field approvals boolean
---@field fork boolean
---@field forkAtTurn boolean
---@field handoff midstream.protocol.HandoffCapability
---@field images boolean
---@field interrupt boolean
---@field mcpServers boolean
---@field models boolean
---@field nativeIds "strong"|"weak"
---@field plans boolean
---@field questions boolean
---@field resume boolean
---@field rollback boolean
---@field steer boolean
---@field subagents boolean
---@field summarize boolean
---@field todos boolean

---@class midstream.protocol.ChangedFile One file of a change; `diff` is unified.
---@field diff? string
---@field kind "add"|"modify"|"delete"|"rename"
---@field oldPath? string
---@field path string

---@class midstream.protocol.Checkpoint The workspace's files at a point; `files` are the changes since the parent checkpoint.
---@field capturedAt string
---@field files midstream.protocol.FileSummary[]
---@field id string
---@field kind "baseline"|"run"|"manual"|"safety"|"subagent"
---@field label string|nil
---@field mixed boolean
---@field parentCheckpointId string|nil
---@field problem string|nil
---@field ref string
---@field runId string|nil
---@field runOrdinal integer|nil
---@field scopeId string
---@field skipped midstream.protocol.SkippedFile[]
---@field status "ready"|"missing"|"error"
---@field threadId string

---@class midstream.protocol.CheckpointCaptured A checkpoint was taken; `patch` shows what changed since the run's baseline.
---@field checkpoint midstream.protocol.Checkpoint
---@field patch string|nil
---@field runId string|nil
---@field threadId string
---@field truncated boolean

---@class midstream.protocol.CheckpointConfig Whether checkpoints are taken, the largest untracked file in bytes, and how long they are kept.
---@field enabled? boolean
---@field keep? integer
---@field keepDays? integer
---@field maxUntrackedBytes? integer

---@class midstream.protocol.CheckpointCreateParams Capture the workspace now.
---@field commandId? string
---@field label? string
---@field threadId string
---@field workDoneToken? string|integer

---@class midstream.protocol.CheckpointDiffParams Compare two checkpoints, or one with the workspace as it is (`to`: "workspace"); `context` in lines.
---@field context? integer
---@field from string
---@field patch? boolean
---@field path? string
---@field threadId string
---@field to string
---@field workDoneToken? string|integer

---@class midstream.protocol.CheckpointDiffResult What differs; `patch` null unless asked for; `truncated` where more differs than is shown.
---@field files midstream.protocol.FileSummary[]
---@field patch string|nil
---@field truncated boolean

---@class midstream.protocol.CheckpointFileParams A file as a checkpoint holds it.
---@field checkpointId string
---@field path string
---@field workDoneToken? string|integer

---@class midstream.protocol.CheckpointFileResult The file's content; `mode` is git's, `bytes` its size.
---@field bytes integer
---@field content string
---@field encoding "utf-8"|"base64"
---@field mode string

---@class midstream.protocol.CheckpointItem A checkpoint, with the files that changed since the run's baseline.
---@field checkpointId string
---@field completedAt string|nil
---@field files midstream.protocol.FileSummary[]
---@field id string
---@field nativeRef string|nil
---@field ordinal integer
---@field parentItemId string|nil
---@field providerThreadId string|nil
---@field runId string|nil
---@field shortened? midstream.protocol.Shortened[]
---@field startedAt string
---@field status "pending"|"running"|"waiting"|"completed"|"failed"|"cancelled"|"interrupted"
---@field threadId string
---@field type "checkpoint"

---@class midstream.protocol.CheckpointListParams A thread whose checkpoints to list.
---@field threadId string
---@field workDoneToken? string|integer

---@class midstream.protocol.CheckpointListResult A thread's checkpoints, oldest first.
---@field checkpoints midstream.protocol.Checkpoint[]

---@class midstream.protocol.CheckpointRestoreParams Bring files, or single hunks, back to a checkpoint; `dirty_paths` have unsaved edits in the editor.
---@field checkpointId string
---@field commandId? string
---@field dirtyPaths? string[]
---@field dryRun? boolean
---@field force? boolean
---@field hunks? midstream.protocol.Hunk[]
---@field paths? string[]
---@field workDoneToken? string|integer

---@class midstream.protocol.CheckpointRestored Files were brought back.
---@field checkpointId string
---@field deleted string[]
---@field safetyCheckpointId string|nil
---@field threadId string
---@field written string[]

---@class midstream.protocol.CheckpointResult The checkpoint.
---@field checkpoint midstream.protocol.Checkpoint

---@class midstream.protocol.CommandItem A command that the agent ran. `exit_code` is null until it ended, or where nobody told.
---@field command string
---@field completedAt string|nil
---@field cwd string
---@field exitCode integer|nil
---@field id string
---@field nativeRef string|nil
---@field ordinal integer
---@field output string
---@field parentItemId string|nil
---@field providerThreadId string|nil
---@field runId string|nil
---@field shortened? midstream.protocol.Shortened[]
---@field startedAt string
---@field status "pending"|"running"|"waiting"|"completed"|"failed"|"cancelled"|"interrupted"
---@field threadId string
---@field type "command"

---@class midstream.protocol.CompactionItem The provider compacted its own history.
---@field completedAt string|nil
---@field id string
---@field nativeRef string|nil
---@field ordinal integer
---@field parentItemId string|nil
---@field providerThreadId string|nil
---@field runId string|nil
---@field shortened? midstream.protocol.Shortened[]
---@field startedAt string
---@field status "pending"|"running"|"waiting"|"completed"|"failed"|"cancelled"|"interrupted"
---@field summary? string
---@field threadId string
---@field type "compaction"

---@class midstream.protocol.Config The whole configuration.
---@field checkpoints? midstream.protocol.CheckpointConfig
---@field daemon? midstream.protocol.DaemonConfig
---@field handoff? midstream.protocol.HandoffConfig
---@field log? midstream.protocol.LogConfig
---@field providers? table<string, midstream.protocol.ProviderConfig>
---@field reader? midstream.protocol.ReaderConfig
---@field sessions? midstream.protocol.SessionConfig
---@field store? midstream.protocol.StoreConfig

---@class midstream.protocol.ConfigProblem A key of the configuration that was not taken, and why.
---@field key string
---@field message string

---@class midstream.protocol.Conflict A path that a restore would have overwritten.
---@field path string
---@field reason string

---@class midstream.protocol.ContextHandoff The materialised text that a provider receives: superseded, never edited in place.
---@field coveredRunOrdinals midstream.protocol.RunRange|nil
---@field coveredThreadId string|nil
---@field createdAt string
---@field createdBy "deterministic"|"provider"|"user"
---@field createdByProvider string|nil
---@field delivery midstream.protocol.Delivery|nil
---@field fallbackReason string|nil
---@field fromProviderThreadIds string[]
---@field id string
---@field madeFor? midstream.protocol.HandoffPurpose
---@field redactions integer
---@field runOrdinals integer[]
---@field sections midstream.protocol.HandoffSection[]
---@field sentText string
---@field status "pending"|"ready"|"failed"|"superseded"
---@field strategy "delta_since_target_last_seen"|"full_thread_summary"|"checkpoint_summary"|"manual_context"
---@field summaryText string
---@field supersededBy string|nil
---@field targetRunId string|nil
---@field threadId string
---@field toProviderThreadId string|nil
---@field tokens midstream.protocol.HandoffTokens
---@field transferId string|nil
---@field updatedAt string

---@class midstream.protocol.ContextTransfer The cheap record that context has to move from a source point to a target; pending until a run needs it.
---@field basePoint midstream.protocol.SourcePoint|nil
---@field consumedAt string|nil
---@field createdAt string
---@field createdBy "user"|"agent"|"system"
---@field error string|nil
---@field id string
---@field resolution midstream.protocol.Resolution|nil
---@field sourcePoint midstream.protocol.SourcePoint
---@field sourceProvider string|nil
---@field sourceThreadId string
---@field status "pending"|"resolved_native"|"resolved_portable"|"consumed"|"failed"|"superseded"
---@field targetProvider string|nil
---@field targetRunId string|nil
---@field targetThreadId string
---@field type "fork"|"provider_handoff"|"merge_back"|"subagent_spawn"|"subagent_result"

---@class midstream.protocol.DaemonConfig Minutes that the daemon stays after its last client has left and its last run has ended.
---@field idleMinutes? number

---@class midstream.protocol.Delivery How far the bytes came; `sha256` is that of the sent text in UTF-8, in hexadecimal.
---@field channel "nativeData"|"embeddedResource"|"separateBlock"|"inlinePreamble"
---@field nativeThreadRef string|nil
---@field sha256 string
---@field status "pending"|"delivered"|"uncertain"

---@class midstream.protocol.DiagnosticsAttachment LSP diagnostics of a document, as the editor showed them.
---@field items table<string, any>[]
---@field type "diagnostics"
---@field uri string

---@class midstream.protocol.ErrorData `data` of an error of ours; ids and values that the message names stand beside these fields.
---@field capability? string
---@field conflicts? midstream.protocol.Conflict[]
---@field failure? midstream.protocol.Failure
---@field kind "threadNotFound"|"runNotFound"|"itemNotFound"|"handoffNotFound"|"checkpointNotFound"|"requestNotFound"|"transferNotFound"|"providerUnknown"|"providerUnavailable"|"providerUnauthenticated"|"unsupported"|"invalidState"|"requestNotResumable"|"workspaceInvalid"|"restoreConflict"|"commandIdConflict"|"handoffOverBudget"|"storeLocked"|"storeCorrupt"|"storeNewer"|"providerFailed"|"handoffStale"
---@field missedRunOrdinals? integer[]
---@field plan? midstream.protocol.SwitchPlan
---@field request? midstream.protocol.RuntimeRequest
---@field status? string

---@class midstream.protocol.ErrorItem Something that went wrong.
---@field completedAt string|nil
---@field failure? midstream.protocol.Failure
---@field id string
---@field message string
---@field nativeRef string|nil
---@field ordinal integer
---@field parentItemId string|nil
---@field providerThreadId string|nil
---@field runId string|nil
---@field shortened? midstream.protocol.Shortened[]
---@field startedAt string
---@field status "pending"|"running"|"waiting"|"completed"|"failed"|"cancelled"|"interrupted"
---@field threadId string
---@field type "error"

---@class midstream.protocol.Failure Why a run or a provider failed. `retryable` is null where nobody knows.
---@field class "usage_limit"|"provider_error"|"transport_error"|"permission_error"|"authentication"|"context_overflow"|"validation_error"|"unknown"
---@field message string
---@field resetAt? string
---@field retryable boolean|nil

---@class midstream.protocol.FileAttachment A file, or a stretch of it, that the user points at.
---@field range? midstream.protocol.Range
---@field type "file"
---@field uri string

---@class midstream.protocol.FileChangeItem Files that the agent changed with a tool of its own.
---@field changes midstream.protocol.ChangedFile[]
---@field completedAt string|nil
---@field id string
---@field nativeRef string|nil
---@field ordinal integer
---@field parentItemId string|nil
---@field providerThreadId string|nil
---@field runId string|nil
---@field shortened? midstream.protocol.Shortened[]
---@field startedAt string
---@field status "pending"|"running"|"waiting"|"completed"|"failed"|"cancelled"|"interrupted"
---@field threadId string
---@field type "fileChange"

---@class midstream.protocol.FileSummary One changed file. `path_base64` holds its name's bytes where they are not UTF-8; `path` is then for display.
---@field additions integer|nil
---@field binary boolean
---@field deletions integer|nil
---@field oldPath? string
---@field path string
---@field pathBase64? string
---@field status "added"|"modified"|"deleted"|"renamed"|"typeChanged"

---@class midstream.protocol.ForkItem The point where this thread left another, or another left it.
---@field completedAt string|nil
---@field id string
---@field nativeRef string|nil
---@field ordinal integer
---@field otherThreadId string
---@field parentItemId string|nil
---@field providerThreadId string|nil
---@field runId string|nil
---@field shortened? midstream.protocol.Shortened[]
---@field startedAt string
---@field status "pending"|"running"|"waiting"|"completed"|"failed"|"cancelled"|"interrupted"
---@field threadId string
---@field transferId string
---@field type "fork"

---@alias midstream.protocol.ForkPoint midstream.protocol.FromLatestStable|midstream.protocol.FromRun|midstream.protocol.FromCheckpoint|midstream.protocol.FromSubagent

---@class midstream.protocol.FoundSession A native session that can be imported.
---@field importedThreadId string|nil
---@field nativeId string
---@field path string
---@field provider string
---@field runs integer|nil
---@field title string
---@field updatedAt string
---@field workspace string|nil

---@class midstream.protocol.FromCheckpoint Fork from a checkpoint.
---@field checkpointId string
---@field type "checkpoint"

---@class midstream.protocol.FromLatestStable Fork from the last run that ended.
---@field type "latestStable"

---@class midstream.protocol.FromRun Fork after a run.
---@field runId string
---@field type "run"

---@class midstream.protocol.FromSubagent Fork from a subagent's conversation.
---@field itemId string
---@field type "subagent"

---@class midstream.protocol.HandoffCapability How a provider takes handoffs; `context_window` in tokens.
---@field channel "nativeData"|"embeddedResource"|"separateBlock"|"inlinePreamble"|nil
---@field contextWindow integer|nil
---@field delta boolean
---@field full boolean

---@class midstream.protocol.HandoffChangeParams A handoff to change.
---@field commandId? string
---@field handoffId string
---@field workDoneToken? string|integer

---@class midstream.protocol.HandoffConfig Budget in tokens, the summariser and its time, and the thresholds of staleness (counts).
---@field budgetTokens? integer
---@field maxDeltaChain? integer
---@field maxHandoffs? integer
---@field maxMissedRuns? integer
---@field summarizer? string
---@field summarySeconds? number

---@class midstream.protocol.HandoffEditParams Replace what a handoff says by the user's own words.
---@field commandId? string
---@field handoffId string
---@field summaryText string
---@field workDoneToken? string|integer

---@class midstream.protocol.HandoffEntry One statement of a section, with the run and the items that it was taken from.
---@field itemIds string[]
---@field runOrdinal integer|nil
---@field text string

---@class midstream.protocol.HandoffIdParams A handoff to read.
---@field handoffId string
---@field workDoneToken? string|integer

---@class midstream.protocol.HandoffInfo A handoff without its text.
---@field coveredRunOrdinals midstream.protocol.RunRange|nil
---@field coveredThreadId string|nil
---@field createdAt string
---@field createdBy "deterministic"|"provider"|"user"
---@field createdByProvider string|nil
---@field delivery midstream.protocol.Delivery|nil
---@field fallbackReason string|nil
---@field fromProviderThreadIds string[]
---@field id string
---@field madeFor? midstream.protocol.HandoffPurpose
---@field redactions integer
---@field runOrdinals integer[]
---@field status "pending"|"ready"|"failed"|"superseded"
---@field strategy "delta_since_target_last_seen"|"full_thread_summary"|"checkpoint_summary"|"manual_context"
---@field supersededBy string|nil
---@field targetRunId string|nil
---@field threadId string
---@field toProviderThreadId string|nil
---@field tokens midstream.protocol.HandoffTokens
---@field transferId string|nil
---@field updatedAt string

---@class midstream.protocol.HandoffItem A handoff that the run consumed.
---@field completedAt string|nil
---@field fromProviders string[]
---@field handoffId string
---@field id string
---@field nativeRef string|nil
---@field ordinal integer
---@field parentItemId string|nil
---@field providerThreadId string|nil
---@field reasons midstream.protocol.Reason[]
---@field runId string|nil
---@field shortened? midstream.protocol.Shortened[]
---@field startedAt string
---@field status "pending"|"running"|"waiting"|"completed"|"failed"|"cancelled"|"interrupted"
---@field strategy "delta_since_target_last_seen"|"full_thread_summary"|"checkpoint_summary"|"manual_context"
---@field threadId string
---@field toProvider string
---@field transferId string
---@field type "handoff"

---@class midstream.protocol.HandoffListResult A thread's handoffs, oldest first, without their texts.
---@field handoffs midstream.protocol.HandoffInfo[]

---@class midstream.protocol.HandoffPreviewParams Build what the next run would be told, and store it.
---@field budgetTokens? integer
---@field commandId? string
---@field context? "auto"|"clean"
---@field selection? midstream.protocol.ModelSelection
---@field strategy? "delta_since_target_last_seen"|"full_thread_summary"|"checkpoint_summary"|"manual_context"
---@field summarizer? string
---@field threadId string
---@field workDoneToken? string|integer

---@class midstream.protocol.HandoffPreviewResult The plan, and the handoffs in the order they would be sent.
---@field handoffs midstream.protocol.ContextHandoff[]
---@field plan midstream.protocol.SwitchPlan

---@class midstream.protocol.HandoffProgress How far a handoff is; `percentage` from 0 to 100.
---@field commandId string|nil
---@field handoffId string|nil
---@field message string
---@field percentage integer|nil
---@field phase "deciding"|"collecting"|"summarizing"|"ready"|"delivering"|"delivered"|"failed"|"cancelled"
---@field runId string|nil
---@field threadId string

---@class midstream.protocol.HandoffPurpose Whom a handoff was made for, and a digest of all that it was made from.
---@field basis string
---@field context "auto"|"clean"
---@field selection midstream.protocol.ModelSelection

---@class midstream.protocol.HandoffRegenerateParams Build a handoff anew, otherwise.
---@field budgetTokens? integer
---@field commandId? string
---@field handoffId string
---@field strategy? "delta_since_target_last_seen"|"full_thread_summary"|"checkpoint_summary"|"manual_context"
---@field summarizer? string
---@field workDoneToken? string|integer

---@class midstream.protocol.HandoffResolution A transfer that a stored handoff carries.
---@field handoffId string
---@field strategy "portable_context"|"delta_context"|"checkpoint_context"

---@class midstream.protocol.HandoffResult The whole handoff.
---@field handoff midstream.protocol.ContextHandoff

---@class midstream.protocol.HandoffSection The entries of one kind; `omitted` counts those that the budget left out, `shortened` those told in part.
---@field entries midstream.protocol.HandoffEntry[]
---@field kind "goals"|"constraints"|"decisions"|"files"|"commands"|"plan"|"open"|"checkpoint"|"failures"|"subagents"|"conversation"
---@field omitted integer
---@field shortened? integer
---@field title string

---@class midstream.protocol.HandoffTokens Sizes in tokens.
---@field budget integer
---@field estimated integer

---@class midstream.protocol.Hunk A hunk of a diff with no context, as git counts its lines.
---@field newLines integer
---@field newStart integer
---@field oldLines integer
---@field oldStart integer
---@field path string

---@class midstream.protocol.ImageAttachment An image as a client sends it: its bytes in base64, or where they are.
---@field base64? string
---@field mimeType string
---@field type "image"
---@field uri? string

---@class midstream.protocol.InitializationOptions `initializationOptions` of `initialize`; `native` says that the client speaks this protocol itself.
---@field config? midstream.protocol.Config
---@field dataDir? string
---@field native? boolean

---@class midstream.protocol.InvalidParamsData `data` of -32602: `path` names the field, and is empty where the params as a whole do not fit.
---@field path string

---@alias midstream.protocol.Item midstream.protocol.UserMessageItem|midstream.protocol.AgentMessageItem|midstream.protocol.ReasoningItem|midstream.protocol.PlanItem|midstream.protocol.TodoItem|midstream.protocol.CommandItem|midstream.protocol.FileChangeItem|midstream.protocol.ToolItem|midstream.protocol.WebSearchItem|midstream.protocol.ApprovalItem|midstream.protocol.QuestionItem|midstream.protocol.SubagentItem|midstream.protocol.CheckpointItem|midstream.protocol.HandoffItem|midstream.protocol.ForkItem|midstream.protocol.MergeBackItem|midstream.protocol.CompactionItem|midstream.protocol.NoticeItem|midstream.protocol.ErrorItem

---@class midstream.protocol.ItemOutputParams Part of a long field, counted in code points; `path` names a file change's file.
---@field field string
---@field itemId string
---@field limit? integer
---@field offset? integer
---@field path? string
---@field workDoneToken? string|integer

---@class midstream.protocol.ItemOutputResult The text from `offset` on; `next_offset` null where the field ends.
---@field nextOffset integer|nil
---@field text string

---@class midstream.protocol.Lineage Where a thread stands in the thread graph.
---@field parentThreadId string|nil
---@field relationshipToParent "fork"|"subagent"|nil
---@field rootThreadId string

---@class midstream.protocol.LogConfig Whether the log file may quote what users, agents and files say.
---@field bodies? boolean

---@class midstream.protocol.MergeBackItem A fork's work that waits for this thread's next run.
---@field completedAt string|nil
---@field id string
---@field nativeRef string|nil
---@field ordinal integer
---@field otherThreadId string
---@field parentItemId string|nil
---@field providerThreadId string|nil
---@field runId string|nil
---@field shortened? midstream.protocol.Shortened[]
---@field startedAt string
---@field status "pending"|"running"|"waiting"|"completed"|"failed"|"cancelled"|"interrupted"
---@field threadId string
---@field transferId string
---@field type "mergeBack"

---@class midstream.protocol.Message The user's message of a run, unchanged.
---@field attachments midstream.protocol.StoredAttachment[]
---@field text string

---@class midstream.protocol.MessageInput A message as a client sends it.
---@field attachments? midstream.protocol.Attachment[]
---@field text string

---@class midstream.protocol.MidstreamCapabilities `capabilities.experimental.midstream` of the answer: exactly what this build answers and sends.
---@field configProblems midstream.protocol.ConfigProblem[]
---@field methods string[]
---@field notifications string[]
---@field protocolVersion integer

---@class midstream.protocol.ModelSelection Which provider answers, with which of its models and options; a null model is the provider's default.
---@field model string|nil
---@field options? table<string, any>
---@field provider string

---@class midstream.protocol.NativeForkResolution A fork that the provider made itself.
---@field nativeThreadRef string
---@field strategy "native_fork"

---@class midstream.protocol.NoticeItem Something the user should know.
---@field completedAt string|nil
---@field failure? midstream.protocol.Failure
---@field id string
---@field message string
---@field nativeRef string|nil
---@field ordinal integer
---@field parentItemId string|nil
---@field providerThreadId string|nil
---@field runId string|nil
---@field shortened? midstream.protocol.Shortened[]
---@field startedAt string
---@field status "pending"|"running"|"waiting"|"completed"|"failed"|"cancelled"|"interrupted"
---@field threadId string
---@field type "notice"

---@class midstream.protocol.PlanItem A plan that the agent proposes.
---@field completedAt string|nil
---@field id string
---@field markdown string
---@field nativeRef string|nil
---@field ordinal integer
---@field parentItemId string|nil
---@field providerThreadId string|nil
---@field runId string|nil
---@field shortened? midstream.protocol.Shortened[]
---@field startedAt string
---@field status "pending"|"running"|"waiting"|"completed"|"failed"|"cancelled"|"interrupted"
---@field threadId string
---@field type "plan"

---@class midstream.protocol.Position A place in a document, as LSP counts: zero-based line and UTF-16 character.
---@field character integer
---@field line integer

---@class midstream.protocol.ProposedChange A file change that a permission is asked for; `diff` is unified.
---@field diff? string
---@field kind "add"|"modify"|"delete"|"rename"
---@field oldPath? string
---@field path string

---@class midstream.protocol.Provider A configured agent and the state it is in.
---@field authenticated boolean|nil
---@field capabilities midstream.protocol.Capabilities
---@field driver string
---@field installed boolean
---@field kind string
---@field label string
---@field models midstream.protocol.ProviderModel[]
---@field problem midstream.protocol.ProviderProblem|nil
---@field version string|nil

---@class midstream.protocol.ProviderChanged A provider's state changed.
---@field provider midstream.protocol.Provider

---@class midstream.protocol.ProviderConfig One configured provider. `command` is the agent's argv; `settings` are the driver's own.
---@field command? string[]
---@field driver "codex"|"claude"|"acp"
---@field env? table<string, string>
---@field label? string
---@field model? string
---@field settings? table<string, any>

---@class midstream.protocol.ProviderListParams The configured providers; `refresh` probes them anew.
---@field refresh? boolean
---@field workDoneToken? string|integer
---@field workspace? string

---@class midstream.protocol.ProviderListResult The configured providers.
---@field providers midstream.protocol.Provider[]

---@class midstream.protocol.ProviderModel A model that a provider offers; `context_window` in tokens, `efforts` what its option `effort` may be.
---@field contextWindow? integer
---@field efforts? string[]
---@field id string
---@field label string

---@class midstream.protocol.ProviderProblem Why a provider cannot be used, and what the user can do.
---@field action? string
---@field message string

---@class midstream.protocol.ProviderSession A live agent process, or the record of one.
---@field capabilities midstream.protocol.Capabilities
---@field id string
---@field lastError string|nil
---@field pid integer|nil
---@field provider string
---@field status "starting"|"ready"|"running"|"stopped"|"error"
---@field workspace string

---@class midstream.protocol.ProviderSwitchParams Choose the provider of the next run; starts no provider.
---@field commandId? string
---@field context? "auto"|"clean"
---@field selection midstream.protocol.ModelSelection
---@field threadId string
---@field workDoneToken? string|integer

---@class midstream.protocol.ProviderSwitchResult The thread, and how the next run would catch up.
---@field plan midstream.protocol.SwitchPlan
---@field thread midstream.protocol.Thread

---@class midstream.protocol.ProviderThread One native conversation of one provider, with its coverage: what it lived and what it was told. `selection` and `runtime_mode` are those that it last ran with; `compacted` is true from the provider's own compaction on until the standing constraints were repeated to it. `subagent_item_id` is the item of the subagent whose conversation it is: the daemon speaks to none of those, so they cover nothing.
---@field compacted? boolean
---@field firstRunOrdinal integer|nil
---@field forkedFrom string|nil
---@field handoffIds string[]
---@field id string
---@field lastRunOrdinal integer|nil
---@field missingItemIds string[]
---@field model string|nil
---@field nativeRef string|nil
---@field nativeRunOrdinals integer[]
---@field provider string
---@field runtimeMode? "approvalRequired"|"autoAcceptEdits"|"fullAccess"|"readOnly"
---@field selection? midstream.protocol.ModelSelection
---@field sessionId string|nil
---@field staleReasons midstream.protocol.Reason[]
---@field status "idle"|"active"|"not_loaded"|"closed"|"error"|"divergent"
---@field subagentItemId? string
---@field threadId string

---@class midstream.protocol.Question A question to the user.
---@field freeText boolean
---@field header? string
---@field id string
---@field multiple boolean
---@field options midstream.protocol.QuestionOption[]
---@field text string

---@class midstream.protocol.QuestionItem Questions that the agent asked the user.
---@field answers midstream.protocol.Answer[]|nil
---@field completedAt string|nil
---@field id string
---@field nativeRef string|nil
---@field ordinal integer
---@field parentItemId string|nil
---@field providerThreadId string|nil
---@field questions midstream.protocol.Question[]
---@field requestId string
---@field runId string|nil
---@field shortened? midstream.protocol.Shortened[]
---@field startedAt string
---@field status "pending"|"running"|"waiting"|"completed"|"failed"|"cancelled"|"interrupted"
---@field threadId string
---@field type "question"

---@class midstream.protocol.QuestionOption One answer that the agent offers.
---@field description? string
---@field label string

---@class midstream.protocol.QueueResumeParams Let held queued runs go on.
---@field commandId? string
---@field threadId string
---@field workDoneToken? string|integer

---@class midstream.protocol.Range A half-open stretch of a document, as LSP's Range.
---@field end midstream.protocol.Position
---@field start midstream.protocol.Position

---@class midstream.protocol.ReaderConfig The providers to which an agent may give work, by the reader's one writing tool; none unless it is configured.
---@field delegateTo? string[]

---@class midstream.protocol.Reason Why a plan or a record is as it is: a code, and words for the user.
---@field code "first_use"|"already_covered"|"missed_runs"|"missing_items"|"delta_chain_too_long"|"too_many_missed_runs"|"too_many_handoffs"|"incompatible_settings"|"resume_failed"|"divergent"|"clean_context"|"over_budget"|"delivery_uncertain"|"native_fork"|"portable_fork"|"merge_back"|"no_handoff_capability"|"workspace_moved"
---@field message string

---@class midstream.protocol.ReasoningItem What the agent thought aloud: shown, never handed off.
---@field completedAt string|nil
---@field id string
---@field nativeRef string|nil
---@field ordinal integer
---@field parentItemId string|nil
---@field providerThreadId string|nil
---@field runId string|nil
---@field shortened? midstream.protocol.Shortened[]
---@field startedAt string
---@field status "pending"|"running"|"waiting"|"completed"|"failed"|"cancelled"|"interrupted"
---@field text string
---@field threadId string
---@field type "reasoning"

---@class midstream.protocol.ReplacedHandoff A named handoff that was rebuilt because the thread had moved on.
---@field from string
---@field to string

---@class midstream.protocol.RequestClosed A request was answered, expired or withdrawn.
---@field request midstream.protocol.RuntimeRequest

---@class midstream.protocol.RequestDetail All that is asked for.
---@field changes? midstream.protocol.ProposedChange[]
---@field command? string
---@field cwd? string
---@field reason? string
---@field tool? midstream.protocol.ToolCall

---@class midstream.protocol.RequestListParams The pending requests of one thread, or of all.
---@field threadId? string
---@field workDoneToken? string|integer

---@class midstream.protocol.RequestListResult The pending requests, oldest first.
---@field requests midstream.protocol.RuntimeRequest[]

---@class midstream.protocol.RequestOpened An agent asks.
---@field request midstream.protocol.RuntimeRequest

---@class midstream.protocol.RequestOption A way to decide that the agent offers, with its own label.
---@field decision "accept"|"acceptForSession"|"decline"|"cancel"
---@field label string
---@field optionId string

---@class midstream.protocol.RequestRespondParams Answer a request; `option_id` where several options mean the same decision.
---@field answers? midstream.protocol.Answer[]
---@field commandId? string
---@field decision? "accept"|"acceptForSession"|"decline"|"cancel"
---@field message? string
---@field optionId? string
---@field requestId string
---@field workDoneToken? string|integer

---@class midstream.protocol.RequestResult The request as it now stands.
---@field request midstream.protocol.RuntimeRequest

---@alias midstream.protocol.Resolution midstream.protocol.NativeForkResolution|midstream.protocol.HandoffResolution

---@class midstream.protocol.RestoreResult What a restore did, or would do.
---@field conflicts midstream.protocol.Conflict[]
---@field deleted string[]
---@field safetyCheckpointId string|nil
---@field written string[]

---@class midstream.protocol.Run One counted turn of a thread: a user message and all that answers it.
---@field attempts midstream.protocol.RunAttempt[]
---@field baselineCheckpointId string|nil
---@field checkpointId string|nil
---@field completedAt string|nil
---@field contextHandoffId string|nil
---@field failure midstream.protocol.Failure|nil
---@field handoffIds string[]
---@field id string
---@field interruptRequestedAt string|nil
---@field message midstream.protocol.Message
---@field ordinal integer|nil
---@field plan midstream.protocol.SwitchPlan|nil
---@field provider string
---@field providerThreadId string|nil
---@field queuePosition integer|nil
---@field requestedAt string
---@field rolledBackSequence? integer
---@field selection midstream.protocol.ModelSelection
---@field startedAt string|nil
---@field status "queued"|"starting"|"running"|"waiting"|"completed"|"interrupted"|"failed"|"cancelled"|"rolled_back"
---@field threadId string
---@field transferIds string[]
---@field unsentItemIds? string[]
---@field usage midstream.protocol.Usage|nil

---@class midstream.protocol.RunAttempt One try at a run on one provider thread.
---@field ordinal integer
---@field providerThreadId string|nil
---@field providerTurnId string|nil
---@field reason "initial"|"steering_restart"|"retry"|"provider_recovery"
---@field status "pending"|"running"|"completed"|"interrupted"|"failed"|"superseded"

---@class midstream.protocol.RunChangeParams A run to change.
---@field commandId? string
---@field runId string
---@field workDoneToken? string|integer

---@class midstream.protocol.RunEditParams Change the text of a queued run.
---@field commandId? string
---@field runId string
---@field text string
---@field workDoneToken? string|integer

---@class midstream.protocol.RunIdParams A run to read of.
---@field runId string
---@field workDoneToken? string|integer

---@class midstream.protocol.RunOutput Text being written; `offset` counts the code points of the whole field before `text`.
---@field field "text"|"output"|"markdown"
---@field itemId string
---@field offset integer
---@field runId string
---@field text string
---@field threadId string

---@class midstream.protocol.RunRange A closed range of run ordinals.
---@field from integer
---@field to integer

---@class midstream.protocol.RunReorderParams Move a queued run before another; null moves it to the end.
---@field beforeRunId string|nil
---@field commandId? string
---@field runId string
---@field workDoneToken? string|integer

---@class midstream.protocol.RunResult The run as it now stands.
---@field run midstream.protocol.Run

---@class midstream.protocol.RunRetryParams Try a failed or interrupted run again, here or on another provider.
---@field commandId? string
---@field runId string
---@field selection? midstream.protocol.ModelSelection
---@field workDoneToken? string|integer

---@class midstream.protocol.RunRetryResult The run and how its new attempt catches up.
---@field plan midstream.protocol.SwitchPlan
---@field run midstream.protocol.Run

---@class midstream.protocol.RunStartParams Start, queue, steer or restart a run with a message.
---@field allowStaleHandoff? boolean
---@field commandId? string
---@field context? "auto"|"clean"
---@field delivery? "auto"|"queue"|"steer"|"restart"
---@field handoffIds? string[]
---@field message midstream.protocol.MessageInput
---@field selection? midstream.protocol.ModelSelection
---@field threadId string
---@field workDoneToken? string|integer

---@class midstream.protocol.RunStartResult The run that took the message; its plan is provisional until it starts.
---@field plan midstream.protocol.SwitchPlan|nil
---@field replacedHandoffs midstream.protocol.ReplacedHandoff[]
---@field run midstream.protocol.Run

---@class midstream.protocol.RunSteerParams Give text to the active run.
---@field attachments? midstream.protocol.Attachment[]
---@field commandId? string
---@field runId string
---@field text string
---@field workDoneToken? string|integer

---@class midstream.protocol.RuntimeRequest A permission or a question that waits for the user.
---@field acceptsMessage boolean
---@field answers midstream.protocol.Answer[]|nil
---@field createdAt string
---@field decision "accept"|"acceptForSession"|"decline"|"cancel"|nil
---@field detail midstream.protocol.RequestDetail
---@field id string
---@field itemId string
---@field kind "command"|"fileRead"|"fileChange"|"tool"|"userInput"|"permission"
---@field message string|nil
---@field options midstream.protocol.RequestOption[]
---@field prompt string
---@field questions? midstream.protocol.Question[]
---@field resolvedAt string|nil
---@field runId string
---@field status "pending"|"resolved"|"expired"|"cancelled"
---@field targetItemId string|nil
---@field threadId string

---@class midstream.protocol.SearchMatch One place where the query was found.
---@field itemId string
---@field runId string|nil
---@field runOrdinal integer|nil
---@field snippet string
---@field threadId string
---@field threadTitle string

---@class midstream.protocol.SelectionAttachment Text that the user had selected in an editor.
---@field range midstream.protocol.Range
---@field text string
---@field type "selection"
---@field uri string

---@class midstream.protocol.SessionConfig Minutes after which an idle agent process is ended, and a run whose question nobody can see.
---@field idleMinutes? number
---@field unattendedMinutes? number

---@class midstream.protocol.SessionImportParams Make a thread of a native session.
---@field commandId? string
---@field path string
---@field provider? string
---@field workDoneToken? string|integer
---@field workspace? string

---@class midstream.protocol.SessionImportResult The thread, and how many runs and items it took over.
---@field counts table<string, integer>
---@field thread midstream.protocol.Thread

---@class midstream.protocol.SessionScanParams Native sessions on this machine, of one workspace or of all.
---@field workDoneToken? string|integer
---@field workspace? string

---@class midstream.protocol.SessionScanResult What was found, newest first.
---@field sessions midstream.protocol.FoundSession[]

---@class midstream.protocol.Shortened A field that stands shortened in the record: its first `head_length` code points, then those from `tail_offset` of the whole on. `path` names one of several values of the field (a change's path).
---@field field string
---@field headLength integer
---@field path? string
---@field tailOffset integer

---@class midstream.protocol.SkippedFile A file that the checkpoint does not hold, and why.
---@field path string
---@field reason string

---@class midstream.protocol.SourcePoint The point of a thread that a transfer or a fork starts from. `sequence` is the thread's own when the point was taken, `item_id` the last item up to it.
---@field checkpointId? string
---@field itemId? string
---@field nativeThreadRef? string
---@field nativeTurnRef? string
---@field providerThreadId? string
---@field runId? string
---@field sequence? integer
---@field threadId string

---@class midstream.protocol.StoreConfig Whether each commit is on the disk before it is acknowledged, so that a power cut loses none.
---@field durable? boolean

---@alias midstream.protocol.StoredAttachment midstream.protocol.FileAttachment|midstream.protocol.SelectionAttachment|midstream.protocol.DiagnosticsAttachment|midstream.protocol.StoredImage

---@class midstream.protocol.StoredImage An image as it is kept and returned: described, never repeated in full. `bytes` is its size.
---@field bytes integer
---@field mimeType string
---@field sha256 string
---@field type "image"
---@field uri string|nil

---@class midstream.protocol.SubagentItem Work that the agent gave to a subagent; the subagent's items are its children.
---@field childThreadId string|nil
---@field completedAt string|nil
---@field id string
---@field nativeRef string|nil
---@field ordinal integer
---@field parentItemId string|nil
---@field prompt string
---@field provider string
---@field providerThreadId string|nil
---@field result string|nil
---@field runId string|nil
---@field shortened? midstream.protocol.Shortened[]
---@field startedAt string
---@field status "pending"|"running"|"waiting"|"completed"|"failed"|"cancelled"|"interrupted"
---@field threadId string
---@field title string
---@field type "subagent"

---@class midstream.protocol.SwitchPlan How the next provider catches up; all but the last three fields speak of the run's own switch or fork.
---@field channel "nativeData"|"embeddedResource"|"separateBlock"|"inlinePreamble"|nil
---@field coveredRunOrdinals midstream.protocol.RunRange|nil
---@field coveredThreadId string|nil
---@field providerThreadId string|nil
---@field reasons midstream.protocol.Reason[]
---@field runOrdinals integer[]
---@field strategy "none"|"delta_since_target_last_seen"|"full_thread_summary"|"checkpoint_summary"|"manual_context"|"native_fork"|"unsupported"
---@field transferIds string[]

---@class midstream.protocol.SyncAddParams Add a remote to share threads through.
---@field commandId? string
---@field remote string
---@field workDoneToken? string|integer

---@class midstream.protocol.SyncPullParams Fetch threads from the remote.
---@field commandId? string
---@field threadId? string
---@field workDoneToken? string|integer

---@class midstream.protocol.SyncPushParams Send threads to the remote.
---@field allowSecrets? string[]
---@field commandId? string
---@field threadId? string
---@field workDoneToken? string|integer

---@class midstream.protocol.SyncResult How the threads stand.
---@field threads midstream.protocol.SyncState[]

---@class midstream.protocol.SyncState How one thread stands against the remote; `bytes` is its size there.
---@field bytes integer
---@field error string|nil
---@field holder string|nil
---@field state "local"|"ahead"|"behind"|"diverged"|"held"
---@field threadId string

---@class midstream.protocol.SyncStatusParams How threads stand against the remote.
---@field workDoneToken? string|integer

---@class midstream.protocol.SyncTakeParams Take a thread over from the machine that holds it.
---@field commandId? string
---@field threadId string
---@field workDoneToken? string|integer

---@class midstream.protocol.Thread The user's conversation; the source of truth for its whole history.
---@field activeProviderThreadId string|nil
---@field archivedAt string|nil
---@field createdAt string
---@field forkedFrom midstream.protocol.SourcePoint|nil
---@field id string
---@field lineage midstream.protocol.Lineage
---@field nextContext "auto"|"clean"
---@field origin "native"|"imported"
---@field pendingTransferIds string[]
---@field queueHeld boolean
---@field runtimeMode "approvalRequired"|"autoAcceptEdits"|"fullAccess"|"readOnly"
---@field selection midstream.protocol.ModelSelection
---@field status "idle"|"queued"|"starting"|"running"|"waiting"
---@field title string
---@field updatedAt string
---@field workspace string

---@class midstream.protocol.ThreadChangeParams A thread to change.
---@field commandId? string
---@field threadId string
---@field workDoneToken? string|integer

---@class midstream.protocol.ThreadChanged A thread was made or changed; sent to every client.
---@field thread midstream.protocol.Thread

---@class midstream.protocol.ThreadCreateParams Make a thread in a workspace, a `file://` URI; starts no provider.
---@field commandId? string
---@field runtimeMode? "approvalRequired"|"autoAcceptEdits"|"fullAccess"|"readOnly"
---@field selection? midstream.protocol.ModelSelection
---@field title? string
---@field workDoneToken? string|integer
---@field workspace string

---@class midstream.protocol.ThreadDeleted A thread is gone.
---@field threadId string

---@class midstream.protocol.ThreadEvent One durable event of a thread: the whole record as it now stands.
---@field commandId string|nil
---@field record any
---@field sequence integer
---@field threadId string
---@field type "thread"|"run"|"item"|"providerThread"|"providerSession"|"transfer"|"handoff"|"checkpoint"|"request"

---@class midstream.protocol.ThreadExportParams Export a thread; secrets are taken out of it unless `secrets` is true.
---@field format "markdown"|"jsonl"
---@field secrets? boolean
---@field threadId string
---@field workDoneToken? string|integer

---@class midstream.protocol.ThreadExportResult The exported text.
---@field content string

---@class midstream.protocol.ThreadForkParams Fork a thread; starts no provider.
---@field commandId? string
---@field from? midstream.protocol.ForkPoint
---@field threadId string
---@field title? string
---@field workDoneToken? string|integer

---@class midstream.protocol.ThreadForkResult The fork and its pending transfer.
---@field thread midstream.protocol.Thread
---@field transfer midstream.protocol.ContextTransfer

---@class midstream.protocol.ThreadIdParams A thread to read of.
---@field threadId string
---@field workDoneToken? string|integer

---@class midstream.protocol.ThreadItemsParams A page of items, oldest first; at most one of the four anchors, each exclusive; `limit` up to 500.
---@field afterItemId? string
---@field aroundItemId? string
---@field beforeItemId? string
---@field last? true
---@field limit? integer
---@field runId? string
---@field threadId string
---@field workDoneToken? string|integer

---@class midstream.protocol.ThreadItemsResult The page, and the ids to pass as `beforeItemId` or `afterItemId` for its neighbours.
---@field items midstream.protocol.Item[]
---@field nextItemId string|nil
---@field previousItemId string|nil
---@field sequence integer

---@class midstream.protocol.ThreadListParams Threads, newest first; `archived` false leaves archived ones out, true gives only those.
---@field archived? boolean
---@field cursor? string
---@field limit? integer
---@field query? string
---@field workDoneToken? string|integer
---@field workspace? string

---@class midstream.protocol.ThreadListResult One page of threads.
---@field nextCursor string|nil
---@field threads midstream.protocol.Thread[]

---@class midstream.protocol.ThreadMergeBackParams Give a fork's work, up to a run, to its parent.
---@field commandId? string
---@field threadId string
---@field throughRunId? string
---@field workDoneToken? string|integer

---@class midstream.protocol.ThreadRead A thread with all that belongs to it but its items, as it stood after event `sequence`.
---@field checkpoints midstream.protocol.Checkpoint[]
---@field handoffs midstream.protocol.HandoffInfo[]
---@field providerThreads midstream.protocol.ProviderThread[]
---@field requests midstream.protocol.RuntimeRequest[]
---@field runs midstream.protocol.Run[]
---@field sequence integer
---@field thread midstream.protocol.Thread
---@field transfers midstream.protocol.ContextTransfer[]

---@class midstream.protocol.ThreadReset The client fell too far behind: its subscription has ended, and it subscribes anew.
---@field afterSequence integer
---@field threadId string

---@class midstream.protocol.ThreadResult The thread as it now stands.
---@field thread midstream.protocol.Thread

---@class midstream.protocol.ThreadRollbackParams Take later runs back; ordinal 0 takes all.
---@field commandId? string
---@field dirtyPaths? string[]
---@field dryRun? boolean
---@field force? boolean
---@field restoreFiles? boolean
---@field threadId string
---@field toRunOrdinal integer
---@field workDoneToken? string|integer

---@class midstream.protocol.ThreadRollbackResult What the rollback did, or would do.
---@field cancelledRunIds string[]
---@field providerThreads midstream.protocol.ProviderThread[]
---@field restore midstream.protocol.RestoreResult|nil
---@field rolledBackRunIds string[]
---@field supersededHandoffIds string[]
---@field thread midstream.protocol.Thread

---@class midstream.protocol.ThreadSearchParams Search what was said and done.
---@field limit? integer
---@field query string
---@field workDoneToken? string|integer
---@field workspace? string

---@class midstream.protocol.ThreadSearchResult The places, newest first.
---@field matches midstream.protocol.SearchMatch[]

---@class midstream.protocol.ThreadSubscribeParams Follow a thread's events, from `after_sequence` + 1 where they can be replayed.
---@field afterSequence? integer
---@field threadId string
---@field workDoneToken? string|integer

---@class midstream.protocol.ThreadSubscribeResult Where the stream stands; a snapshot replaces all that the client held of the thread.
---@field sequence integer
---@field snapshot midstream.protocol.ThreadRead|nil

---@class midstream.protocol.ThreadUpdateParams Set a thread's title or runtime mode.
---@field commandId? string
---@field runtimeMode? "approvalRequired"|"autoAcceptEdits"|"fullAccess"|"readOnly"
---@field threadId string
---@field title? string
---@field workDoneToken? string|integer

---@class midstream.protocol.TodoItem The agent's todo list as it now stands.
---@field completedAt string|nil
---@field id string
---@field nativeRef string|nil
---@field ordinal integer
---@field parentItemId string|nil
---@field providerThreadId string|nil
---@field runId string|nil
---@field shortened? midstream.protocol.Shortened[]
---@field startedAt string
---@field status "pending"|"running"|"waiting"|"completed"|"failed"|"cancelled"|"interrupted"
---@field steps midstream.protocol.TodoStep[]
---@field threadId string
---@field type "todo"

---@class midstream.protocol.TodoStep One step of a todo list.
---@field status "pending"|"running"|"completed"
---@field text string

---@class midstream.protocol.ToolCall The tool call that a permission is asked for.
---@field input any
---@field name string
---@field server? string

---@class midstream.protocol.ToolItem A call of any other tool.
---@field completedAt string|nil
---@field id string
---@field input any
---@field name string
---@field nativeRef string|nil
---@field ordinal integer
---@field output? string
---@field parentItemId string|nil
---@field providerThreadId string|nil
---@field runId string|nil
---@field server? string
---@field shortened? midstream.protocol.Shortened[]
---@field startedAt string
---@field status "pending"|"running"|"waiting"|"completed"|"failed"|"cancelled"|"interrupted"
---@field threadId string
---@field type "tool"

---@class midstream.protocol.TransferCancelParams A pending transfer to take back.
---@field commandId? string
---@field transferId string
---@field workDoneToken? string|integer

---@class midstream.protocol.TransferListParams A thread whose transfers to list.
---@field threadId string
---@field workDoneToken? string|integer

---@class midstream.protocol.TransferListResult A thread's transfers, oldest first.
---@field transfers midstream.protocol.ContextTransfer[]

---@class midstream.protocol.TransferResult The transfer as it now stands.
---@field transfer midstream.protocol.ContextTransfer

---@class midstream.protocol.Usage Tokens as the provider counted them; `cost_usd` in US dollars.
---@field cachedInputTokens? integer
---@field contextTokens? integer
---@field contextWindow? integer
---@field costUsd? number
---@field inputTokens integer
---@field outputTokens integer

---@class midstream.protocol.UserMessageItem What the user said.
---@field attachments midstream.protocol.StoredAttachment[]
---@field attempt? integer
---@field completedAt string|nil
---@field id string
---@field intent "start"|"queued"|"steer"
---@field nativeRef string|nil
---@field ordinal integer
---@field parentItemId string|nil
---@field providerThreadId string|nil
---@field runId string|nil
---@field shortened? midstream.protocol.Shortened[]
---@field startedAt string
---@field status "pending"|"running"|"waiting"|"completed"|"failed"|"cancelled"|"interrupted"
---@field text string
---@field threadId string
---@field type "userMessage"

---@class midstream.protocol.WebResult One hit of a web search.
---@field title? string
---@field url string

---@class midstream.protocol.WebSearchItem A search of the web.
---@field completedAt string|nil
---@field id string
---@field nativeRef string|nil
---@field ordinal integer
---@field parentItemId string|nil
---@field providerThreadId string|nil
---@field query string
---@field results? midstream.protocol.WebResult[]
---@field runId string|nil
---@field shortened? midstream.protocol.Shortened[]
---@field startedAt string
---@field status "pending"|"running"|"waiting"|"completed"|"failed"|"cancelled"|"interrupted"
---@field threadId string
---@field type "webSearch"

---@alias midstream.protocol.RuntimeMode "approvalRequired"|"autoAcceptEdits"|"fullAccess"|"readOnly"

---@alias midstream.protocol.NextContext "auto"|"clean"

---@alias midstream.protocol.Delivering "auto"|"queue"|"steer"|"restart"
