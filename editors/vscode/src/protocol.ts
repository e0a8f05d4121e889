// Generated from protocol/schema.json by `npm run generate`.

export type Attachment = FileAttachment | SelectionAttachment | DiagnosticsAttachment | ImageAttachment;
export type Resolution = NativeForkResolution | HandoffResolution;
export type ForkPoint = FromLatestStable | FromRun | FromCheckpoint | FromSubagent;
export type Item =
  | UserMessageItem
  | AgentMessageItem
  | ReasoningItem
  | PlanItem
  | TodoItem
  | CommandItem
  | FileChangeItem
  | ToolItem
  | WebSearchItem
  | ApprovalItem
  | QuestionItem
  | SubagentItem
  | CheckpointItem
  | HandoffItem
  | ForkItem
  | MergeBackItem
  | CompactionItem
  | NoticeItem
  | ErrorItem;
export type StoredAttachment = FileAttachment | SelectionAttachment | DiagnosticsAttachment | StoredImage;
/**
 * One durable event of a thread: the whole record as it now stands.
 */
export type ThreadEvent =
  | {
      commandId: string | null;
      record: Thread;
      sequence: number;
      threadId: string;
      type: "thread";
    }
  | {
      commandId: string | null;
      record: Run;
      sequence: number;
      threadId: string;
      type: "run";
    }
  | {
      commandId: string | null;
      record: Item;
      sequence: number;
      threadId: string;
      type: "item";
    }
  | {
      commandId: string | null;
      record: ProviderThread;
      sequence: number;
      threadId: string;
      type: "providerThread";
    }
  | {
      commandId: string | null;
      record: ProviderSession;
      sequence: number;
      threadId: string;
      type: "providerSession";
    }
  | {
      commandId: string | null;
      record: ContextTransfer;
      sequence: number;
      threadId: string;
      type: "transfer";
    }
  | {
      commandId: string | null;
      record: HandoffInfo;
      sequence: number;
      threadId: string;
      type: "handoff";
    }
  | {
      commandId: string | null;
      record: Checkpoint;
      sequence: number;
      threadId: string;
      type: "checkpoint";
    }
  | {
      commandId: string | null;
      record: RuntimeRequest;
      sequence: number;
      threadId: string;
      type: "request";
    };

/**
 * What the agent said.
 */
export interface AgentMessageItem {
  completedAt: string | null;
  id: string;
  nativeRef: string | null;
  ordinal: number;
  parentItemId: string | null;
  providerThreadId: string | null;
  runId: string | null;
  shortened?: Shortened[];
  startedAt: string;
  status: "pending" | "running" | "waiting" | "completed" | "failed" | "cancelled" | "interrupted";
  text: string;
  threadId: string;
  type: "agentMessage";
}
/**
 * A field that stands shortened in the record: its first `head_length` code points, then those from
 * `tail_offset` of the whole on. `path` names one of several values of the field (a change's path).
 */
export interface Shortened {
  field: string;
  headLength: number;
  path?: string;
  tailOffset: number;
}
/**
 * The user's answer to one question.
 */
export interface Answer {
  questionId: string;
  values: string[];
}
/**
 * A permission that the agent asked for.
 */
export interface ApprovalItem {
  completedAt: string | null;
  decision: ("accept" | "acceptForSession" | "decline" | "cancel") | null;
  id: string;
  kind: "command" | "fileRead" | "fileChange" | "tool" | "userInput" | "permission";
  nativeRef: string | null;
  ordinal: number;
  parentItemId: string | null;
  prompt: string;
  providerThreadId: string | null;
  requestId: string;
  runId: string | null;
  shortened?: Shortened[];
  startedAt: string;
  status: "pending" | "running" | "waiting" | "completed" | "failed" | "cancelled" | "interrupted";
  threadId: string;
  type: "approval";
}
/**
 * A file, or a stretch of it, that the user points at.
 */
export interface FileAttachment {
  range?: Range;
  type: "file";
  uri: string;
}
/**
 * A half-open stretch of a document, as LSP's Range.
 */
export interface Range {
  end: Position;
  start: Position;
}
/**
 * A place in a document, as LSP counts: zero-based line and UTF-16 character.
 */
export interface Position {
  character: number;
  line: number;
}
/**
 * Text that the user had selected in an editor.
 */
export interface SelectionAttachment {
  range: Range;
  text: string;
  type: "selection";
  uri: string;
}
/**
 * LSP diagnostics of a document, as the editor showed them.
 */
export interface DiagnosticsAttachment {
  items: {
    [k: string]: unknown;
  }[];
  type: "diagnostics";
  uri: string;
}
/**
 * An image as a client sends it: its bytes in base64, or where they are.
 */
export interface ImageAttachment {
  base64?: string;
  mimeType: string;
  type: "image";
  uri?: string;
}
/**
 * What a provider can do. Capability, not name, decides.
 */
export interface Capabilities {
  approvals: boolean;
  fork: boolean;
  forkAtTurn: boolean;
  handoff: HandoffCapability;
  images: boolean;
  interrupt: boolean;
  mcpServers: boolean;
  models: boolean;
  nativeIds: "strong" | "weak";
  plans: boolean;
  questions: boolean;
  resume: boolean;
  rollback: boolean;
  steer: boolean;
  subagents: boolean;
  summarize: boolean;
  todos: boolean;
}
/**
 * How a provider takes handoffs; `context_window` in tokens.
 */
export interface HandoffCapability {
  channel: ("nativeData" | "embeddedResource" | "separateBlock" | "inlinePreamble") | null;
  contextWindow: number | null;
  delta: boolean;
  full: boolean;
}
/**
 * One file of a change; `diff` is unified.
 */
export interface ChangedFile {
  diff?: string;
  kind: "add" | "modify" | "delete" | "rename";
  oldPath?: string;
  path: string;
}
/**
 * The workspace's files at a point; `files` are the changes since the parent checkpoint.
 */
export interface Checkpoint {
  capturedAt: string;
  files: FileSummary[];
  id: string;
  kind: "baseline" | "run" | "manual" | "safety" | "subagent";
  label: string | null;
  mixed: boolean;
  parentCheckpointId: string | null;
  problem: string | null;
  ref: string;
  runId: string | null;
  runOrdinal: number | null;
  scopeId: string;
  skipped: SkippedFile[];
  status: "ready" | "missing" | "error";
  threadId: string;
}
/**
 * One changed file. `path_base64` holds its name's bytes where they are not UTF-8; `path` is then for display.
 */
export interface FileSummary {
  additions: number | null;
  binary: boolean;
  deletions: number | null;
  oldPath?: string;
  path: string;
  pathBase64?: string;
  status: "added" | "modified" | "deleted" | "renamed" | "typeChanged";
}
/**
 * A file that the checkpoint does not hold, and why.
 */
export interface SkippedFile {
  path: string;
  reason: string;
}
/**
 * A checkpoint was taken; `patch` shows what changed since the run's baseline.
 */
export interface CheckpointCaptured {
  checkpoint: Checkpoint;
  patch: string | null;
  runId: string | null;
  threadId: string;
  truncated: boolean;
}
/**
 * Whether checkpoints are taken, the largest untracked file in bytes, and how long they are kept.
 */
export interface CheckpointConfig {
  enabled?: boolean;
  keep?: number;
  keepDays?: number;
  maxUntrackedBytes?: number;
}
/**
 * Capture the workspace now.
 */
export interface CheckpointCreateParams {
  commandId?: string;
  label?: string;
  threadId: string;
  workDoneToken?: string | number;
}
/**
 * Compare two checkpoints, or one with the workspace as it is (`to`: "workspace"); `context` in lines.
 */
export interface CheckpointDiffParams {
  context?: number;
  from: string;
  patch?: boolean;
  path?: string;
  threadId: string;
  to: string;
  workDoneToken?: string | number;
}
/**
 * What differs; `patch` null unless asked for; `truncated` where more differs than is shown.
 */
export interface CheckpointDiffResult {
  files: FileSummary[];
  patch: string | null;
  truncated: boolean;
}
/**
 * A file as a checkpoint holds it.
 */
export interface CheckpointFileParams {
  checkpointId: string;
  path: string;
  workDoneToken?: string | number;
}
/**
 * The file's content; `mode` is git's, `bytes` its size.
 */
export interface CheckpointFileResult {
  bytes: number;
  content: string;
  encoding: "utf-8" | "base64";
  mode: string;
}
/**
 * A checkpoint, with the files that changed since the run's baseline.
 */
export interface CheckpointItem {
  checkpointId: string;
  completedAt: string | null;
  files: FileSummary[];
  id: string;
  nativeRef: string | null;
  ordinal: number;
  parentItemId: string | null;
  providerThreadId: string | null;
  runId: string | null;
  shortened?: Shortened[];
  startedAt: string;
  status: "pending" | "running" | "waiting" | "completed" | "failed" | "cancelled" | "interrupted";
  threadId: string;
  type: "checkpoint";
}
/**
 * A thread whose checkpoints to list.
 */
export interface CheckpointListParams {
  threadId: string;
  workDoneToken?: string | number;
}
/**
 * A thread's checkpoints, oldest first.
 */
export interface CheckpointListResult {
  checkpoints: Checkpoint[];
}
/**
 * Bring files, or single hunks, back to a checkpoint; `dirty_paths` have unsaved edits in the editor.
 */
export interface CheckpointRestoreParams {
  checkpointId: string;
  commandId?: string;
  dirtyPaths?: string[];
  dryRun?: boolean;
  force?: boolean;
  hunks?: Hunk[];
  paths?: string[];
  workDoneToken?: string | number;
}
/**
 * A hunk of a diff with no context, as git counts its lines.
 */
export interface Hunk {
  newLines: number;
  newStart: number;
  oldLines: number;
  oldStart: number;
  path: string;
}
/**
 * Files were brought back.
 */
export interface CheckpointRestored {
  checkpointId: string;
  deleted: string[];
  safetyCheckpointId: string | null;
  threadId: string;
  written: string[];
}
/**
 * The checkpoint.
 */
export interface CheckpointResult {
  checkpoint: Checkpoint;
}
/**
 * A command that the agent ran. `exit_code` is null until it ended, or where nobody told.
 */
export interface CommandItem {
  command: string;
  completedAt: string | null;
  cwd: string;
  exitCode: number | null;
  id: string;
  nativeRef: string | null;
  ordinal: number;
  output: string;
  parentItemId: string | null;
  providerThreadId: string | null;
  runId: string | null;
  shortened?: Shortened[];
  startedAt: string;
  status: "pending" | "running" | "waiting" | "completed" | "failed" | "cancelled" | "interrupted";
  threadId: string;
  type: "command";
}
/**
 * The provider compacted its own history.
 */
export interface CompactionItem {
  completedAt: string | null;
  id: string;
  nativeRef: string | null;
  ordinal: number;
  parentItemId: string | null;
  providerThreadId: string | null;
  runId: string | null;
  shortened?: Shortened[];
  startedAt: string;
  status: "pending" | "running" | "waiting" | "completed" | "failed" | "cancelled" | "interrupted";
  summary?: string;
  threadId: string;
  type: "compaction";
}
/**
 * The whole configuration.
 */
export interface Config {
  checkpoints?: CheckpointConfig1;
  daemon?: DaemonConfig;
  handoff?: HandoffConfig;
  log?: LogConfig;
  providers?: {
    [k: string]: ProviderConfig;
  };
  reader?: ReaderConfig;
  sessions?: SessionConfig;
  store?: StoreConfig;
}
/**
 * Whether checkpoints are taken, the largest untracked file in bytes, and how long they are kept.
 */
export interface CheckpointConfig1 {
  enabled?: boolean;
  keep?: number;
  keepDays?: number;
  maxUntrackedBytes?: number;
}
/**
 * Minutes that the daemon stays after its last client has left and its last run has ended.
 */
export interface DaemonConfig {
  idleMinutes?: number;
}
/**
 * Budget in tokens, the summariser and its time, and the thresholds of staleness (counts).
 */
export interface HandoffConfig {
  budgetTokens?: number;
  maxDeltaChain?: number;
  maxHandoffs?: number;
  maxMissedRuns?: number;
  summarizer?: string;
  summarySeconds?: number;
}
/**
 * Whether the log file may quote what users, agents and files say.
 */
export interface LogConfig {
  bodies?: boolean;
}
/**
 * One configured provider. `command` is the agent's argv; `settings` are the driver's own.
 */
export interface ProviderConfig {
  command?: string[];
  driver: "codex" | "claude" | "acp";
  env?: {
    [k: string]: string;
  };
  label?: string;
  model?: string;
  settings?: {
    [k: string]: unknown;
  };
}
/**
 * The providers to which an agent may give work, by the reader's one writing tool; none unless it is configured.
 */
export interface ReaderConfig {
  delegateTo?: string[];
}
/**
 * Minutes after which an idle agent process is ended, and a run whose question nobody can see.
 */
export interface SessionConfig {
  idleMinutes?: number;
  unattendedMinutes?: number;
}
/**
 * Whether each commit is on the disk before it is acknowledged, so that a power cut loses none.
 */
export interface StoreConfig {
  durable?: boolean;
}
/**
 * A key of the configuration that was not taken, and why.
 */
export interface ConfigProblem {
  key: string;
  message: string;
}
/**
 * A path that a restore would have overwritten.
 */
export interface Conflict {
  path: string;
  reason: string;
}
/**
 * The materialised text that a provider receives: superseded, never edited in place.
 */
export interface ContextHandoff {
  coveredRunOrdinals: RunRange | null;
  coveredThreadId: string | null;
  createdAt: string;
  createdBy: "deterministic" | "provider" | "user";
  createdByProvider: string | null;
  delivery: Delivery | null;
  fallbackReason: string | null;
  fromProviderThreadIds: string[];
  id: string;
  madeFor?: HandoffPurpose;
  redactions: number;
  runOrdinals: number[];
  sections: HandoffSection[];
  sentText: string;
  status: "pending" | "ready" | "failed" | "superseded";
  strategy: "delta_since_target_last_seen" | "full_thread_summary" | "checkpoint_summary" | "manual_context";
  summaryText: string;
  supersededBy: string | null;
  targetRunId: string | null;
  threadId: string;
  toProviderThreadId: string | null;
  tokens: HandoffTokens;
  transferId: string | null;
  updatedAt: string;
}
/**
 * A closed range of run ordinals.
 */
export interface RunRange {
  from: number;
  to: number;
}
/**
 * How far the bytes came; `sha256` is that of the sent text in UTF-8, in hexadecimal.
 */
export interface Delivery {
  channel: "nativeData" | "embeddedResource" | "separateBlock" | "inlinePreamble";
  nativeThreadRef: string | null;
  sha256: string;
  status: "pending" | "delivered" | "uncertain";
}
/**
 * Whom a handoff was made for, and a digest of all that it was made from.
 */
export interface HandoffPurpose {
  basis: string;
  context: "auto" | "clean";
  selection: ModelSelection;
}
/**
 * Which provider answers, with which of its models and options; a null model is the provider's default.
 */
export interface ModelSelection {
  model: string | null;
  options?: {
    [k: string]: unknown;
  };
  provider: string;
}
/**
 * The entries of one kind; `omitted` counts those that the budget left out, `shortened` those told in part.
 */
export interface HandoffSection {
  entries: HandoffEntry[];
  kind:
    | "goals"
    | "constraints"
    | "decisions"
    | "files"
    | "commands"
    | "plan"
    | "open"
    | "checkpoint"
    | "failures"
    | "subagents"
    | "conversation";
  omitted: number;
  shortened?: number;
  title: string;
}
/**
 * One statement of a section, with the run and the items that it was taken from.
 */
export interface HandoffEntry {
  itemIds: string[];
  runOrdinal: number | null;
  text: string;
}
/**
 * Sizes in tokens.
 */
export interface HandoffTokens {
  budget: number;
  estimated: number;
}
/**
 * The cheap record that context has to move from a source point to a target; pending until a run needs it.
 */
export interface ContextTransfer {
  basePoint: SourcePoint | null;
  consumedAt: string | null;
  createdAt: string;
  createdBy: "user" | "agent" | "system";
  error: string | null;
  id: string;
  resolution: Resolution | null;
  sourcePoint: SourcePoint;
  sourceProvider: string | null;
  sourceThreadId: string;
  status: "pending" | "resolved_native" | "resolved_portable" | "consumed" | "failed" | "superseded";
  targetProvider: string | null;
  targetRunId: string | null;
  targetThreadId: string;
  type: "fork" | "provider_handoff" | "merge_back" | "subagent_spawn" | "subagent_result";
}
/**
 * The point of a thread that a transfer or a fork starts from.
 *
 * `sequence` is the thread's own when the point was taken, `item_id` the last item up to it.
 */
export interface SourcePoint {
  checkpointId?: string;
  itemId?: string;
  nativeThreadRef?: string;
  nativeTurnRef?: string;
  providerThreadId?: string;
  runId?: string;
  sequence?: number;
  threadId: string;
}
/**
 * A fork that the provider made itself.
 */
export interface NativeForkResolution {
  nativeThreadRef: string;
  strategy: "native_fork";
}
/**
 * A transfer that a stored handoff carries.
 */
export interface HandoffResolution {
  handoffId: string;
  strategy: "portable_context" | "delta_context" | "checkpoint_context";
}
/**
 * Minutes that the daemon stays after its last client has left and its last run has ended.
 */
export interface DaemonConfig1 {
  idleMinutes?: number;
}
/**
 * `data` of an error of ours; ids and values that the message names stand beside these fields.
 */
export interface ErrorData {
  capability?: string;
  conflicts?: Conflict[];
  failure?: Failure;
  kind:
    | "threadNotFound"
    | "runNotFound"
    | "itemNotFound"
    | "handoffNotFound"
    | "checkpointNotFound"
    | "requestNotFound"
    | "transferNotFound"
    | "providerUnknown"
    | "providerUnavailable"
    | "providerUnauthenticated"
    | "unsupported"
    | "invalidState"
    | "requestNotResumable"
    | "workspaceInvalid"
    | "restoreConflict"
    | "commandIdConflict"
    | "handoffOverBudget"
    | "storeLocked"
    | "storeCorrupt"
    | "storeNewer"
    | "providerFailed"
    | "handoffStale";
  missedRunOrdinals?: number[];
  plan?: SwitchPlan;
  request?: RuntimeRequest;
  status?: string;
}
/**
 * Why a run or a provider failed. `retryable` is null where nobody knows.
 */
export interface Failure {
  class:
    | "usage_limit"
    | "provider_error"
    | "transport_error"
    | "permission_error"
    | "authentication"
    | "context_overflow"
    | "validation_error"
    | "unknown";
  message: string;
  resetAt?: string;
  retryable: boolean | null;
}
/**
 * How the next provider catches up; all but the last three fields speak of the run's own switch or fork.
 */
export interface SwitchPlan {
  channel: ("nativeData" | "embeddedResource" | "separateBlock" | "inlinePreamble") | null;
  coveredRunOrdinals: RunRange | null;
  coveredThreadId: string | null;
  providerThreadId: string | null;
  reasons: Reason[];
  runOrdinals: number[];
  strategy:
    | "none"
    | "delta_since_target_last_seen"
    | "full_thread_summary"
    | "checkpoint_summary"
    | "manual_context"
    | "native_fork"
    | "unsupported";
  transferIds: string[];
}
/**
 * Why a plan or a record is as it is: a code, and words for the user.
 */
export interface Reason {
  code:
    | "first_use"
    | "already_covered"
    | "missed_runs"
    | "missing_items"
    | "delta_chain_too_long"
    | "too_many_missed_runs"
    | "too_many_handoffs"
    | "incompatible_settings"
    | "resume_failed"
    | "divergent"
    | "clean_context"
    | "over_budget"
    | "delivery_uncertain"
    | "native_fork"
    | "portable_fork"
    | "merge_back"
    | "no_handoff_capability"
    | "workspace_moved";
  message: string;
}
/**
 * A permission or a question that waits for the user.
 */
export interface RuntimeRequest {
  acceptsMessage: boolean;
  answers: Answer[] | null;
  createdAt: string;
  decision: ("accept" | "acceptForSession" | "decline" | "cancel") | null;
  detail: RequestDetail;
  id: string;
  itemId: string;
  kind: "command" | "fileRead" | "fileChange" | "tool" | "userInput" | "permission";
  message: string | null;
  options: RequestOption[];
  prompt: string;
  questions?: Question[];
  resolvedAt: string | null;
  runId: string;
  status: "pending" | "resolved" | "expired" | "cancelled";
  targetItemId: string | null;
  threadId: string;
}
/**
 * All that is asked for.
 */
export interface RequestDetail {
  changes?: ProposedChange[];
  command?: string;
  cwd?: string;
  reason?: string;
  tool?: ToolCall;
}
/**
 * A file change that a permission is asked for; `diff` is unified.
 */
export interface ProposedChange {
  diff?: string;
  kind: "add" | "modify" | "delete" | "rename";
  oldPath?: string;
  path: string;
}
/**
 * The tool call that a permission is asked for.
 */
export interface ToolCall {
  input: unknown;
  name: string;
  server?: string;
}
/**
 * A way to decide that the agent offers, with its own label.
 */
export interface RequestOption {
  decision: "accept" | "acceptForSession" | "decline" | "cancel";
  label: string;
  optionId: string;
}
/**
 * A question to the user.
 */
export interface Question {
  freeText: boolean;
  header?: string;
  id: string;
  multiple: boolean;
  options: QuestionOption[];
  text: string;
}
/**
 * One answer that the agent offers.
 */
export interface QuestionOption {
  description?: string;
  label: string;
}
/**
 * Something that went wrong.
 */
export interface ErrorItem {
  completedAt: string | null;
  failure?: Failure;
  id: string;
  message: string;
  nativeRef: string | null;
  ordinal: number;
  parentItemId: string | null;
  providerThreadId: string | null;
  runId: string | null;
  shortened?: Shortened[];
  startedAt: string;
  status: "pending" | "running" | "waiting" | "completed" | "failed" | "cancelled" | "interrupted";
  threadId: string;
  type: "error";
}
/**
 * Files that the agent changed with a tool of its own.
 */
export interface FileChangeItem {
  changes: ChangedFile[];
  completedAt: string | null;
  id: string;
  nativeRef: string | null;
  ordinal: number;
  parentItemId: string | null;
  providerThreadId: string | null;
  runId: string | null;
  shortened?: Shortened[];
  startedAt: string;
  status: "pending" | "running" | "waiting" | "completed" | "failed" | "cancelled" | "interrupted";
  threadId: string;
  type: "fileChange";
}
/**
 * The point where this thread left another, or another left it.
 */
export interface ForkItem {
  completedAt: string | null;
  id: string;
  nativeRef: string | null;
  ordinal: number;
  otherThreadId: string;
  parentItemId: string | null;
  providerThreadId: string | null;
  runId: string | null;
  shortened?: Shortened[];
  startedAt: string;
  status: "pending" | "running" | "waiting" | "completed" | "failed" | "cancelled" | "interrupted";
  threadId: string;
  transferId: string;
  type: "fork";
}
/**
 * Fork from the last run that ended.
 */
export interface FromLatestStable {
  type: "latestStable";
}
/**
 * Fork after a run.
 */
export interface FromRun {
  runId: string;
  type: "run";
}
/**
 * Fork from a checkpoint.
 */
export interface FromCheckpoint {
  checkpointId: string;
  type: "checkpoint";
}
/**
 * Fork from a subagent's conversation.
 */
export interface FromSubagent {
  itemId: string;
  type: "subagent";
}
/**
 * A native session that can be imported.
 */
export interface FoundSession {
  importedThreadId: string | null;
  nativeId: string;
  path: string;
  provider: string;
  runs: number | null;
  title: string;
  updatedAt: string;
  workspace: string | null;
}
/**
 * A handoff to change.
 */
export interface HandoffChangeParams {
  commandId?: string;
  handoffId: string;
  workDoneToken?: string | number;
}
/**
 * Budget in tokens, the summariser and its time, and the thresholds of staleness (counts).
 */
export interface HandoffConfig1 {
  budgetTokens?: number;
  maxDeltaChain?: number;
  maxHandoffs?: number;
  maxMissedRuns?: number;
  summarizer?: string;
  summarySeconds?: number;
}
/**
 * Replace what a handoff says by the user's own words.
 */
export interface HandoffEditParams {
  commandId?: string;
  handoffId: string;
  summaryText: string;
  workDoneToken?: string | number;
}
/**
 * A handoff to read.
 */
export interface HandoffIdParams {
  handoffId: string;
  workDoneToken?: string | number;
}
/**
 * A handoff without its text.
 */
export interface HandoffInfo {
  coveredRunOrdinals: RunRange | null;
  coveredThreadId: string | null;
  createdAt: string;
  createdBy: "deterministic" | "provider" | "user";
  createdByProvider: string | null;
  delivery: Delivery | null;
  fallbackReason: string | null;
  fromProviderThreadIds: string[];
  id: string;
  madeFor?: HandoffPurpose;
  redactions: number;
  runOrdinals: number[];
  status: "pending" | "ready" | "failed" | "superseded";
  strategy: "delta_since_target_last_seen" | "full_thread_summary" | "checkpoint_summary" | "manual_context";
  supersededBy: string | null;
  targetRunId: string | null;
  threadId: string;
  toProviderThreadId: string | null;
  tokens: HandoffTokens;
  transferId: string | null;
  updatedAt: string;
}
/**
 * A handoff that the run consumed.
 */
export interface HandoffItem {
  completedAt: string | null;
  fromProviders: string[];
  handoffId: string;
  id: string;
  nativeRef: string | null;
  ordinal: number;
  parentItemId: string | null;
  providerThreadId: string | null;
  reasons: Reason[];
  runId: string | null;
  shortened?: Shortened[];
  startedAt: string;
  status: "pending" | "running" | "waiting" | "completed" | "failed" | "cancelled" | "interrupted";
  strategy: "delta_since_target_last_seen" | "full_thread_summary" | "checkpoint_summary" | "manual_context";
  threadId: string;
  toProvider: string;
  transferId: string;
  type: "handoff";
}
/**
 * A thread's handoffs, oldest first, without their texts.
 */
export interface HandoffListResult {
  handoffs: HandoffInfo[];
}
/**
 * Build what the next run would be told, and store it.
 */
export interface HandoffPreviewParams {
  budgetTokens?: number;
  commandId?: string;
  context?: "auto" | "clean";
  selection?: ModelSelection;
  strategy?: "delta_since_target_last_seen" | "full_thread_summary" | "checkpoint_summary" | "manual_context";
  summarizer?: string;
  threadId: string;
  workDoneToken?: string | number;
}
/**
 * The plan, and the handoffs in the order they would be sent.
 */
export interface HandoffPreviewResult {
  handoffs: ContextHandoff[];
  plan: SwitchPlan;
}
/**
 * How far a handoff is; `percentage` from 0 to 100.
 */
export interface HandoffProgress {
  commandId: string | null;
  handoffId: string | null;
  message: string;
  percentage: number | null;
  phase: "deciding" | "collecting" | "summarizing" | "ready" | "delivering" | "delivered" | "failed" | "cancelled";
  runId: string | null;
  threadId: string;
}
/**
 * Build a handoff anew, otherwise.
 */
export interface HandoffRegenerateParams {
  budgetTokens?: number;
  commandId?: string;
  handoffId: string;
  strategy?: "delta_since_target_last_seen" | "full_thread_summary" | "checkpoint_summary" | "manual_context";
  summarizer?: string;
  workDoneToken?: string | number;
}
/**
 * The whole handoff.
 */
export interface HandoffResult {
  handoff: ContextHandoff;
}
/**
 * `initializationOptions` of `initialize`; `native` says that the client speaks this protocol itself.
 */
export interface InitializationOptions {
  config?: Config;
  dataDir?: string;
  native?: boolean;
}
/**
 * `data` of -32602: `path` names the field, and is empty where the params as a whole do not fit.
 */
export interface InvalidParamsData {
  path: string;
}
/**
 * What the user said.
 */
export interface UserMessageItem {
  attachments: StoredAttachment[];
  attempt?: number;
  completedAt: string | null;
  id: string;
  intent: "start" | "queued" | "steer";
  nativeRef: string | null;
  ordinal: number;
  parentItemId: string | null;
  providerThreadId: string | null;
  runId: string | null;
  shortened?: Shortened[];
  startedAt: string;
  status: "pending" | "running" | "waiting" | "completed" | "failed" | "cancelled" | "interrupted";
  text: string;
  threadId: string;
  type: "userMessage";
}
/**
 * An image as it is kept and returned: described, never repeated in full. `bytes` is its size.
 */
export interface StoredImage {
  bytes: number;
  mimeType: string;
  sha256: string;
  type: "image";
  uri: string | null;
}
/**
 * What the agent thought aloud: shown, never handed off.
 */
export interface ReasoningItem {
  completedAt: string | null;
  id: string;
  nativeRef: string | null;
  ordinal: number;
  parentItemId: string | null;
  providerThreadId: string | null;
  runId: string | null;
  shortened?: Shortened[];
  startedAt: string;
  status: "pending" | "running" | "waiting" | "completed" | "failed" | "cancelled" | "interrupted";
  text: string;
  threadId: string;
  type: "reasoning";
}
/**
 * A plan that the agent proposes.
 */
export interface PlanItem {
  completedAt: string | null;
  id: string;
  markdown: string;
  nativeRef: string | null;
  ordinal: number;
  parentItemId: string | null;
  providerThreadId: string | null;
  runId: string | null;
  shortened?: Shortened[];
  startedAt: string;
  status: "pending" | "running" | "waiting" | "completed" | "failed" | "cancelled" | "interrupted";
  threadId: string;
  type: "plan";
}
/**
 * The agent's todo list as it now stands.
 */
export interface TodoItem {
  completedAt: string | null;
  id: string;
  nativeRef: string | null;
  ordinal: number;
  parentItemId: string | null;
  providerThreadId: string | null;
  runId: string | null;
  shortened?: Shortened[];
  startedAt: string;
  status: "pending" | "running" | "waiting" | "completed" | "failed" | "cancelled" | "interrupted";
  steps: TodoStep[];
  threadId: string;
  type: "todo";
}
/**
 * One step of a todo list.
 */
export interface TodoStep {
  status: "pending" | "running" | "completed";
  text: string;
}
/**
 * A call of any other tool.
 */
export interface ToolItem {
  completedAt: string | null;
  id: string;
  input: unknown;
  name: string;
  nativeRef: string | null;
  ordinal: number;
  output?: string;
  parentItemId: string | null;
  providerThreadId: string | null;
  runId: string | null;
  server?: string;
  shortened?: Shortened[];
  startedAt: string;
  status: "pending" | "running" | "waiting" | "completed" | "failed" | "cancelled" | "interrupted";
  threadId: string;
  type: "tool";
}
/**
 * A search of the web.
 */
export interface WebSearchItem {
  completedAt: string | null;
  id: string;
  nativeRef: string | null;
  ordinal: number;
  parentItemId: string | null;
  providerThreadId: string | null;
  query: string;
  results?: WebResult[];
  runId: string | null;
  shortened?: Shortened[];
  startedAt: string;
  status: "pending" | "running" | "waiting" | "completed" | "failed" | "cancelled" | "interrupted";
  threadId: string;
  type: "webSearch";
}
/**
 * One hit of a web search.
 */
export interface WebResult {
  title?: string;
  url: string;
}
/**
 * Questions that the agent asked the user.
 */
export interface QuestionItem {
  answers: Answer[] | null;
  completedAt: string | null;
  id: string;
  nativeRef: string | null;
  ordinal: number;
  parentItemId: string | null;
  providerThreadId: string | null;
  questions: Question[];
  requestId: string;
  runId: string | null;
  shortened?: Shortened[];
  startedAt: string;
  status: "pending" | "running" | "waiting" | "completed" | "failed" | "cancelled" | "interrupted";
  threadId: string;
  type: "question";
}
/**
 * Work that the agent gave to a subagent; the subagent's items are its children.
 */
export interface SubagentItem {
  childThreadId: string | null;
  completedAt: string | null;
  id: string;
  nativeRef: string | null;
  ordinal: number;
  parentItemId: string | null;
  prompt: string;
  provider: string;
  providerThreadId: string | null;
  result: string | null;
  runId: string | null;
  shortened?: Shortened[];
  startedAt: string;
  status: "pending" | "running" | "waiting" | "completed" | "failed" | "cancelled" | "interrupted";
  threadId: string;
  title: string;
  type: "subagent";
}
/**
 * A fork's work that waits for this thread's next run.
 */
export interface MergeBackItem {
  completedAt: string | null;
  id: string;
  nativeRef: string | null;
  ordinal: number;
  otherThreadId: string;
  parentItemId: string | null;
  providerThreadId: string | null;
  runId: string | null;
  shortened?: Shortened[];
  startedAt: string;
  status: "pending" | "running" | "waiting" | "completed" | "failed" | "cancelled" | "interrupted";
  threadId: string;
  transferId: string;
  type: "mergeBack";
}
/**
 * Something the user should know.
 */
export interface NoticeItem {
  completedAt: string | null;
  failure?: Failure;
  id: string;
  message: string;
  nativeRef: string | null;
  ordinal: number;
  parentItemId: string | null;
  providerThreadId: string | null;
  runId: string | null;
  shortened?: Shortened[];
  startedAt: string;
  status: "pending" | "running" | "waiting" | "completed" | "failed" | "cancelled" | "interrupted";
  threadId: string;
  type: "notice";
}
/**
 * Part of a long field, counted in code points; `path` names a file change's file.
 */
export interface ItemOutputParams {
  field: string;
  itemId: string;
  limit?: number;
  offset?: number;
  path?: string;
  workDoneToken?: string | number;
}
/**
 * The text from `offset` on; `next_offset` null where the field ends.
 */
export interface ItemOutputResult {
  nextOffset: number | null;
  text: string;
}
/**
 * Where a thread stands in the thread graph.
 */
export interface Lineage {
  parentThreadId: string | null;
  relationshipToParent: ("fork" | "subagent") | null;
  rootThreadId: string;
}
/**
 * Whether the log file may quote what users, agents and files say.
 */
export interface LogConfig1 {
  bodies?: boolean;
}
/**
 * The user's message of a run, unchanged.
 */
export interface Message {
  attachments: StoredAttachment[];
  text: string;
}
/**
 * A message as a client sends it.
 */
export interface MessageInput {
  attachments?: Attachment[];
  text: string;
}
/**
 * `capabilities.experimental.midstream` of the answer: exactly what this build answers and sends.
 */
export interface MidstreamCapabilities {
  configProblems: ConfigProblem[];
  methods: string[];
  notifications: string[];
  protocolVersion: number;
}
/**
 * A configured agent and the state it is in.
 */
export interface Provider {
  authenticated: boolean | null;
  capabilities: Capabilities;
  driver: string;
  installed: boolean;
  kind: string;
  label: string;
  models: ProviderModel[];
  problem: ProviderProblem | null;
  version: string | null;
}
/**
 * A model that a provider offers; `context_window` in tokens, `efforts` what its option `effort` may be.
 */
export interface ProviderModel {
  contextWindow?: number;
  efforts?: string[];
  id: string;
  label: string;
}
/**
 * Why a provider cannot be used, and what the user can do.
 */
export interface ProviderProblem {
  action?: string;
  message: string;
}
/**
 * A provider's state changed.
 */
export interface ProviderChanged {
  provider: Provider;
}
/**
 * The configured providers; `refresh` probes them anew.
 */
export interface ProviderListParams {
  refresh?: boolean;
  workDoneToken?: string | number;
  workspace?: string;
}
/**
 * The configured providers.
 */
export interface ProviderListResult {
  providers: Provider[];
}
/**
 * A live agent process, or the record of one.
 */
export interface ProviderSession {
  capabilities: Capabilities;
  id: string;
  lastError: string | null;
  pid: number | null;
  provider: string;
  status: "starting" | "ready" | "running" | "stopped" | "error";
  workspace: string;
}
/**
 * Choose the provider of the next run; starts no provider.
 */
export interface ProviderSwitchParams {
  commandId?: string;
  context?: "auto" | "clean";
  selection: ModelSelection;
  threadId: string;
  workDoneToken?: string | number;
}
/**
 * The thread, and how the next run would catch up.
 */
export interface ProviderSwitchResult {
  plan: SwitchPlan;
  thread: Thread;
}
/**
 * The user's conversation; the source of truth for its whole history.
 */
export interface Thread {
  activeProviderThreadId: string | null;
  archivedAt: string | null;
  createdAt: string;
  forkedFrom: SourcePoint | null;
  id: string;
  lineage: Lineage;
  nextContext: "auto" | "clean";
  origin: "native" | "imported";
  pendingTransferIds: string[];
  queueHeld: boolean;
  runtimeMode: "approvalRequired" | "autoAcceptEdits" | "fullAccess" | "readOnly";
  selection: ModelSelection;
  status: "idle" | "queued" | "starting" | "running" | "waiting";
  title: string;
  updatedAt: string;
  workspace: string;
}
/**
 * One native conversation of one provider, with its coverage: what it lived and what it was told.
 *
 * `selection` and `runtime_mode` are those that it last ran with; `compacted` is true from the provider's own
 * compaction on until the standing constraints were repeated to it. `subagent_item_id` is the item of the subagent
 * whose conversation it is: the daemon speaks to none of those, so they cover nothing.
 */
export interface ProviderThread {
  compacted?: boolean;
  firstRunOrdinal: number | null;
  forkedFrom: string | null;
  handoffIds: string[];
  id: string;
  lastRunOrdinal: number | null;
  missingItemIds: string[];
  model: string | null;
  nativeRef: string | null;
  nativeRunOrdinals: number[];
  provider: string;
  runtimeMode?: "approvalRequired" | "autoAcceptEdits" | "fullAccess" | "readOnly";
  selection?: ModelSelection;
  sessionId: string | null;
  staleReasons: Reason[];
  status: "idle" | "active" | "not_loaded" | "closed" | "error" | "divergent";
  subagentItemId?: string;
  threadId: string;
}
/**
 * Let held queued runs go on.
 */
export interface QueueResumeParams {
  commandId?: string;
  threadId: string;
  workDoneToken?: string | number;
}
/**
 * The providers to which an agent may give work, by the reader's one writing tool; none unless it is configured.
 */
export interface ReaderConfig1 {
  delegateTo?: string[];
}
/**
 * A named handoff that was rebuilt because the thread had moved on.
 */
export interface ReplacedHandoff {
  from: string;
  to: string;
}
/**
 * A request was answered, expired or withdrawn.
 */
export interface RequestClosed {
  request: RuntimeRequest;
}
/**
 * The pending requests of one thread, or of all.
 */
export interface RequestListParams {
  threadId?: string;
  workDoneToken?: string | number;
}
/**
 * The pending requests, oldest first.
 */
export interface RequestListResult {
  requests: RuntimeRequest[];
}
/**
 * An agent asks.
 */
export interface RequestOpened {
  request: RuntimeRequest;
}
/**
 * Answer a request; `option_id` where several options mean the same decision.
 */
export interface RequestRespondParams {
  answers?: Answer[];
  commandId?: string;
  decision?: "accept" | "acceptForSession" | "decline" | "cancel";
  message?: string;
  optionId?: string;
  requestId: string;
  workDoneToken?: string | number;
}
/**
 * The request as it now stands.
 */
export interface RequestResult {
  request: RuntimeRequest;
}
/**
 * What a restore did, or would do.
 */
export interface RestoreResult {
  conflicts: Conflict[];
  deleted: string[];
  safetyCheckpointId: string | null;
  written: string[];
}
/**
 * One counted turn of a thread: a user message and all that answers it.
 */
export interface Run {
  attempts: RunAttempt[];
  baselineCheckpointId: string | null;
  checkpointId: string | null;
  completedAt: string | null;
  contextHandoffId: string | null;
  failure: Failure | null;
  handoffIds: string[];
  id: string;
  interruptRequestedAt: string | null;
  message: Message;
  ordinal: number | null;
  plan: SwitchPlan | null;
  provider: string;
  providerThreadId: string | null;
  queuePosition: number | null;
  requestedAt: string;
  rolledBackSequence?: number;
  selection: ModelSelection;
  startedAt: string | null;
  status:
    | "queued"
    | "starting"
    | "running"
    | "waiting"
    | "completed"
    | "interrupted"
    | "failed"
    | "cancelled"
    | "rolled_back";
  threadId: string;
  transferIds: string[];
  unsentItemIds?: string[];
  usage: Usage | null;
}
/**
 * One try at a run on one provider thread.
 */
export interface RunAttempt {
  ordinal: number;
  providerThreadId: string | null;
  providerTurnId: string | null;
  reason: "initial" | "steering_restart" | "retry" | "provider_recovery";
  status: "pending" | "running" | "completed" | "interrupted" | "failed" | "superseded";
}
/**
 * Tokens as the provider counted them; `cost_usd` in US dollars.
 */
export interface Usage {
  cachedInputTokens?: number;
  contextTokens?: number;
  contextWindow?: number;
  costUsd?: number;
  inputTokens: number;
  outputTokens: number;
}
/**
 * A run to change.
 */
export interface RunChangeParams {
  commandId?: string;
  runId: string;
  workDoneToken?: string | number;
}
/**
 * Change the text of a queued run.
 */
export interface RunEditParams {
  commandId?: string;
  runId: string;
  text: string;
  workDoneToken?: string | number;
}
/**
 * A run to read of.
 */
export interface RunIdParams {
  runId: string;
  workDoneToken?: string | number;
}
/**
 * Text being written; `offset` counts the code points of the whole field before `text`.
 */
export interface RunOutput {
  field: "text" | "output" | "markdown";
  itemId: string;
  offset: number;
  runId: string;
  text: string;
  threadId: string;
}
/**
 * Move a queued run before another; null moves it to the end.
 */
export interface RunReorderParams {
  beforeRunId: string | null;
  commandId?: string;
  runId: string;
  workDoneToken?: string | number;
}
/**
 * The run as it now stands.
 */
export interface RunResult {
  run: Run;
}
/**
 * Try a failed or interrupted run again, here or on another provider.
 */
export interface RunRetryParams {
  commandId?: string;
  runId: string;
  selection?: ModelSelection;
  workDoneToken?: string | number;
}
/**
 * The run and how its new attempt catches up.
 */
export interface RunRetryResult {
  plan: SwitchPlan;
  run: Run;
}
/**
 * Start, queue, steer or restart a run with a message.
 */
export interface RunStartParams {
  allowStaleHandoff?: boolean;
  commandId?: string;
  context?: "auto" | "clean";
  delivery?: "auto" | "queue" | "steer" | "restart";
  handoffIds?: string[];
  message: MessageInput;
  selection?: ModelSelection;
  threadId: string;
  workDoneToken?: string | number;
}
/**
 * The run that took the message; its plan is provisional until it starts.
 */
export interface RunStartResult {
  plan: SwitchPlan | null;
  replacedHandoffs: ReplacedHandoff[];
  run: Run;
}
/**
 * Give text to the active run.
 */
export interface RunSteerParams {
  attachments?: Attachment[];
  commandId?: string;
  runId: string;
  text: string;
  workDoneToken?: string | number;
}
/**
 * One place where the query was found.
 */
export interface SearchMatch {
  itemId: string;
  runId: string | null;
  runOrdinal: number | null;
  snippet: string;
  threadId: string;
  threadTitle: string;
}
/**
 * Minutes after which an idle agent process is ended, and a run whose question nobody can see.
 */
export interface SessionConfig1 {
  idleMinutes?: number;
  unattendedMinutes?: number;
}
/**
 * Make a thread of a native session.
 */
export interface SessionImportParams {
  commandId?: string;
  path: string;
  provider?: string;
  workDoneToken?: string | number;
  workspace?: string;
}
/**
 * The thread, and how many runs and items it took over.
 */
export interface SessionImportResult {
  counts: {
    [k: string]: number;
  };
  thread: Thread;
}
/**
 * Native sessions on this machine, of one workspace or of all.
 */
export interface SessionScanParams {
  workDoneToken?: string | number;
  workspace?: string;
}
/**
 * What was found, newest first.
 */
export interface SessionScanResult {
  sessions: FoundSession[];
}
/**
 * Whether each commit is on the disk before it is acknowledged, so that a power cut loses none.
 */
export interface StoreConfig1 {
  durable?: boolean;
}
/**
 * Add a remote to share threads through.
 */
export interface SyncAddParams {
  commandId?: string;
  remote: string;
  workDoneToken?: string | number;
}
/**
 * Fetch threads from the remote.
 */
export interface SyncPullParams {
  commandId?: string;
  threadId?: string;
  workDoneToken?: string | number;
}
/**
 * Send threads to the remote.
 */
export interface SyncPushParams {
  allowSecrets?: string[];
  commandId?: string;
  threadId?: string;
  workDoneToken?: string | number;
}
/**
 * How the threads stand.
 */
export interface SyncResult {
  threads: SyncState[];
}
/**
 * How one thread stands against the remote; `bytes` is its size there.
 */
export interface SyncState {
  bytes: number;
  error: string | null;
  holder: string | null;
  state: "local" | "ahead" | "behind" | "diverged" | "held";
  threadId: string;
}
/**
 * How threads stand against the remote.
 */
export interface SyncStatusParams {
  workDoneToken?: string | number;
}
/**
 * Take a thread over from the machine that holds it.
 */
export interface SyncTakeParams {
  commandId?: string;
  threadId: string;
  workDoneToken?: string | number;
}
/**
 * A thread to change.
 */
export interface ThreadChangeParams {
  commandId?: string;
  threadId: string;
  workDoneToken?: string | number;
}
/**
 * A thread was made or changed; sent to every client.
 */
export interface ThreadChanged {
  thread: Thread;
}
/**
 * Make a thread in a workspace, a `file://` URI; starts no provider.
 */
export interface ThreadCreateParams {
  commandId?: string;
  runtimeMode?: "approvalRequired" | "autoAcceptEdits" | "fullAccess" | "readOnly";
  selection?: ModelSelection;
  title?: string;
  workDoneToken?: string | number;
  workspace: string;
}
/**
 * A thread is gone.
 */
export interface ThreadDeleted {
  threadId: string;
}
/**
 * Export a thread; secrets are taken out of it unless `secrets` is true.
 */
export interface ThreadExportParams {
  format: "markdown" | "jsonl";
  secrets?: boolean;
  threadId: string;
  workDoneToken?: string | number;
}
/**
 * The exported text.
 */
export interface ThreadExportResult {
  content: string;
}
/**
 * Fork a thread; starts no provider.
 */
export interface ThreadForkParams {
  commandId?: string;
  from?: ForkPoint;
  threadId: string;
  title?: string;
  workDoneToken?: string | number;
}
/**
 * The fork and its pending transfer.
 */
export interface ThreadForkResult {
  thread: Thread;
  transfer: ContextTransfer;
}
/**
 * A thread to read of.
 */
export interface ThreadIdParams {
  threadId: string;
  workDoneToken?: string | number;
}
/**
 * A page of items, oldest first; at most one of the four anchors, each exclusive; `limit` up to 500.
 */
export interface ThreadItemsParams {
  afterItemId?: string;
  aroundItemId?: string;
  beforeItemId?: string;
  last?: true;
  limit?: number;
  runId?: string;
  threadId: string;
  workDoneToken?: string | number;
}
/**
 * The page, and the ids to pass as `beforeItemId` or `afterItemId` for its neighbours.
 */
export interface ThreadItemsResult {
  items: Item[];
  nextItemId: string | null;
  previousItemId: string | null;
  sequence: number;
}
/**
 * Threads, newest first; `archived` false leaves archived ones out, true gives only those.
 */
export interface ThreadListParams {
  archived?: boolean;
  cursor?: string;
  limit?: number;
  query?: string;
  workDoneToken?: string | number;
  workspace?: string;
}
/**
 * One page of threads.
 */
export interface ThreadListResult {
  nextCursor: string | null;
  threads: Thread[];
}
/**
 * Give a fork's work, up to a run, to its parent.
 */
export interface ThreadMergeBackParams {
  commandId?: string;
  threadId: string;
  throughRunId?: string;
  workDoneToken?: string | number;
}
/**
 * A thread with all that belongs to it but its items, as it stood after event `sequence`.
 */
export interface ThreadRead {
  checkpoints: Checkpoint[];
  handoffs: HandoffInfo[];
  providerThreads: ProviderThread[];
  requests: RuntimeRequest[];
  runs: Run[];
  sequence: number;
  thread: Thread;
  transfers: ContextTransfer[];
}
/**
 * The client fell too far behind: its subscription has ended, and it subscribes anew.
 */
export interface ThreadReset {
  afterSequence: number;
  threadId: string;
}
/**
 * The thread as it now stands.
 */
export interface ThreadResult {
  thread: Thread;
}
/**
 * Take later runs back; ordinal 0 takes all.
 */
export interface ThreadRollbackParams {
  commandId?: string;
  dirtyPaths?: string[];
  dryRun?: boolean;
  force?: boolean;
  restoreFiles?: boolean;
  threadId: string;
  toRunOrdinal: number;
  workDoneToken?: string | number;
}
/**
 * What the rollback did, or would do.
 */
export interface ThreadRollbackResult {
  cancelledRunIds: string[];
  providerThreads: ProviderThread[];
  restore: RestoreResult | null;
  rolledBackRunIds: string[];
  supersededHandoffIds: string[];
  thread: Thread;
}
/**
 * Search what was said and done.
 */
export interface ThreadSearchParams {
  limit?: number;
  query: string;
  workDoneToken?: string | number;
  workspace?: string;
}
/**
 * The places, newest first.
 */
export interface ThreadSearchResult {
  matches: SearchMatch[];
}
/**
 * Follow a thread's events, from `after_sequence` + 1 where they can be replayed.
 */
export interface ThreadSubscribeParams {
  afterSequence?: number;
  threadId: string;
  workDoneToken?: string | number;
}
/**
 * Where the stream stands; a snapshot replaces all that the client held of the thread.
 */
export interface ThreadSubscribeResult {
  sequence: number;
  snapshot: ThreadRead | null;
}
/**
 * Set a thread's title or runtime mode.
 */
export interface ThreadUpdateParams {
  commandId?: string;
  runtimeMode?: "approvalRequired" | "autoAcceptEdits" | "fullAccess" | "readOnly";
  threadId: string;
  title?: string;
  workDoneToken?: string | number;
}
/**
 * A pending transfer to take back.
 */
export interface TransferCancelParams {
  commandId?: string;
  transferId: string;
  workDoneToken?: string | number;
}
/**
 * A thread whose transfers to list.
 */
export interface TransferListParams {
  threadId: string;
  workDoneToken?: string | number;
}
/**
 * A thread's transfers, oldest first.
 */
export interface TransferListResult {
  transfers: ContextTransfer[];
}
/**
 * The transfer as it now stands.
 */
export interface TransferResult {
  transfer: ContextTransfer;
}

/** The requests: what each takes and answers. */
export interface Methods {
  "checkpoint/create": { params: CheckpointCreateParams; result: CheckpointResult };
  "checkpoint/diff": { params: CheckpointDiffParams; result: CheckpointDiffResult };
  "checkpoint/file": { params: CheckpointFileParams; result: CheckpointFileResult };
  "checkpoint/list": { params: CheckpointListParams; result: CheckpointListResult };
  "checkpoint/restore": { params: CheckpointRestoreParams; result: RestoreResult };
  "handoff/discard": { params: HandoffChangeParams; result: HandoffResult };
  "handoff/edit": { params: HandoffEditParams; result: HandoffResult };
  "handoff/list": { params: ThreadIdParams; result: HandoffListResult };
  "handoff/preview": { params: HandoffPreviewParams; result: HandoffPreviewResult };
  "handoff/read": { params: HandoffIdParams; result: HandoffResult };
  "handoff/regenerate": { params: HandoffRegenerateParams; result: HandoffResult };
  "item/output": { params: ItemOutputParams; result: ItemOutputResult };
  "provider/list": { params: ProviderListParams; result: ProviderListResult };
  "provider/switch": { params: ProviderSwitchParams; result: ProviderSwitchResult };
  "queue/resume": { params: QueueResumeParams; result: ThreadResult };
  "request/list": { params: RequestListParams; result: RequestListResult };
  "request/respond": { params: RequestRespondParams; result: RequestResult };
  "run/cancel": { params: RunChangeParams; result: RunResult };
  "run/edit": { params: RunEditParams; result: RunResult };
  "run/interrupt": { params: RunChangeParams; result: RunResult };
  "run/reorder": { params: RunReorderParams; result: RunResult };
  "run/retry": { params: RunRetryParams; result: RunRetryResult };
  "run/start": { params: RunStartParams; result: RunStartResult };
  "run/steer": { params: RunSteerParams; result: RunResult };
  "run/wait": { params: RunIdParams; result: RunResult };
  "session/import": { params: SessionImportParams; result: SessionImportResult };
  "session/scan": { params: SessionScanParams; result: SessionScanResult };
  "sync/add": { params: SyncAddParams; result: SyncResult };
  "sync/pull": { params: SyncPullParams; result: SyncResult };
  "sync/push": { params: SyncPushParams; result: SyncResult };
  "sync/status": { params: SyncStatusParams; result: SyncResult };
  "sync/take": { params: SyncTakeParams; result: SyncResult };
  "thread/archive": { params: ThreadChangeParams; result: ThreadResult };
  "thread/create": { params: ThreadCreateParams; result: ThreadResult };
  "thread/delete": { params: ThreadChangeParams; result: null };
  "thread/export": { params: ThreadExportParams; result: ThreadExportResult };
  "thread/fork": { params: ThreadForkParams; result: ThreadForkResult };
  "thread/items": { params: ThreadItemsParams; result: ThreadItemsResult };
  "thread/list": { params: ThreadListParams; result: ThreadListResult };
  "thread/mergeBack": { params: ThreadMergeBackParams; result: TransferResult };
  "thread/read": { params: ThreadIdParams; result: ThreadRead };
  "thread/rollback": { params: ThreadRollbackParams; result: ThreadRollbackResult };
  "thread/search": { params: ThreadSearchParams; result: ThreadSearchResult };
  "thread/subscribe": { params: ThreadSubscribeParams; result: ThreadSubscribeResult };
  "thread/unarchive": { params: ThreadChangeParams; result: ThreadResult };
  "thread/unsubscribe": { params: ThreadIdParams; result: null };
  "thread/update": { params: ThreadUpdateParams; result: ThreadResult };
  "transfer/cancel": { params: TransferCancelParams; result: TransferResult };
  "transfer/list": { params: TransferListParams; result: TransferListResult };
}

/** The requests that change something, and so take a commandId. */
export const CHANGING: ReadonlySet<keyof Methods> = new Set<keyof Methods>([
  "checkpoint/create",
  "checkpoint/restore",
  "handoff/discard",
  "handoff/edit",
  "handoff/preview",
  "handoff/regenerate",
  "provider/switch",
  "queue/resume",
  "request/respond",
  "run/cancel",
  "run/edit",
  "run/interrupt",
  "run/reorder",
  "run/retry",
  "run/start",
  "run/steer",
  "session/import",
  "sync/add",
  "sync/pull",
  "sync/push",
  "sync/take",
  "thread/archive",
  "thread/create",
  "thread/delete",
  "thread/fork",
  "thread/mergeBack",
  "thread/rollback",
  "thread/unarchive",
  "thread/update",
  "transfer/cancel",
]);

/** The notifications of the daemon. */
export interface Notifications {
  "checkpoint/captured": CheckpointCaptured;
  "checkpoint/restored": CheckpointRestored;
  "handoff/progress": HandoffProgress;
  "provider/changed": ProviderChanged;
  "request/closed": RequestClosed;
  "request/opened": RequestOpened;
  "run/output": RunOutput;
  "thread/changed": ThreadChanged;
  "thread/deleted": ThreadDeleted;
  "thread/event": ThreadEvent;
  "thread/reset": ThreadReset;
}
