/** The checkpoints of the open thread: a list, their files as virtual documents, and diffs against the real files. */
import * as vscode from "vscode";
import type { Daemon } from "./client";
import type { Checkpoint, FileSummary, Run } from "./protocol";

export const CHECKPOINT_SCHEME = "midstream-checkpoint";

export interface CheckpointFile {
  readonly checkpoint: Checkpoint;
  readonly file: FileSummary;
}
export type CheckpointNode = Checkpoint | CheckpointFile;

export class CheckpointTree implements vscode.TreeDataProvider<CheckpointNode>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.changed.event;

  constructor(private readonly daemon: () => Daemon | undefined, private readonly threadId: () => string | undefined) {}

  refresh(): void {
    this.changed.fire(undefined);
  }

  async getChildren(parent?: CheckpointNode): Promise<CheckpointNode[]> {
    if (parent !== undefined) return "file" in parent ? [] : parent.files.map((file) => ({ checkpoint: parent, file }));
    const [daemon, threadId] = [this.daemon(), this.threadId()];
    if (daemon === undefined || threadId === undefined) return [];
    const { checkpoints } = await daemon.request("checkpoint/list", { threadId });
    return checkpoints.toReversed();
  }

  getTreeItem(node: CheckpointNode): vscode.TreeItem {
    const { None, Collapsed } = vscode.TreeItemCollapsibleState;
    if ("file" in node) {
      const item = new vscode.TreeItem(node.file.path, None);
      item.description = node.file.binary ? node.file.status : `${node.file.status} +${node.file.additions ?? 0} −${node.file.deletions ?? 0}`;
      item.contextValue = "checkpointFile";
      return item;
    }
    const name = node.label ?? nameOf(node);
    const item = new vscode.TreeItem(name, node.files.length > 0 ? Collapsed : None);
    item.description = `${new Date(node.capturedAt).toLocaleTimeString()}${node.mixed ? vscode.l10n.t(" · mixed with another thread's work") : ""}`;
    item.iconPath = new vscode.ThemeIcon(node.kind === "safety" ? "shield" : "history");
    item.contextValue = node.status === "ready" ? "checkpoint" : "missingCheckpoint";
    // An empty tooltip would leave the row without a name for screen readers.
    if (node.problem !== null) item.tooltip = node.problem;
    return item;
  }

  dispose(): void {
    this.changed.dispose();
  }
}

function nameOf({ kind, runOrdinal }: Checkpoint): string {
  if (kind === "safety") return vscode.l10n.t("Before a restore");
  if (runOrdinal === null) return kind;
  return kind === "baseline" ? vscode.l10n.t("Before run {0}", runOrdinal) : vscode.l10n.t("After run {0}", runOrdinal);
}

/** The text of a checkpoint's file. */
export class CheckpointDocuments implements vscode.TextDocumentContentProvider {
  constructor(private readonly daemon: () => Daemon) {}

  static uri(checkpointId: string, path: string): vscode.Uri {
    return vscode.Uri.from({ scheme: CHECKPOINT_SCHEME, path: `/${path}`, query: checkpointId });
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const file = await this.daemon().request("checkpoint/file", { checkpointId: uri.query, path: uri.path.slice(1) });
    return file.encoding === "utf-8" ? file.content : vscode.l10n.t("A binary file of {0} bytes.", file.bytes);
  }
}

/** Show what differs from a checkpoint to the files as they are, or to another checkpoint. */
export async function showChanges(daemon: Daemon, threadId: string, workspace: vscode.Uri, from: string, to: string, title: string): Promise<void> {
  const { files } = await daemon.request("checkpoint/diff", { threadId, from, to });
  if (files.length === 0) {
    void vscode.window.showInformationMessage(vscode.l10n.t("No file differs."));
    return;
  }
  const right = (path: string) => (to === "workspace" ? vscode.Uri.joinPath(workspace, path) : CheckpointDocuments.uri(to, path));
  const resources = files.map((file) => {
    const real = vscode.Uri.joinPath(workspace, file.path);
    const before = file.status === "added" ? undefined : CheckpointDocuments.uri(from, file.oldPath ?? file.path);
    return [real, before, file.status === "deleted" ? undefined : right(file.path)];
  });
  await vscode.commands.executeCommand("vscode.changes", title, resources);
}

/** Show what changed since a run began, against the real files, so that hunks can be reverted. */
export async function showRun(daemon: Daemon, workspace: vscode.Uri, run: Run): Promise<void> {
  if (run.baselineCheckpointId === null) return;
  await showChanges(daemon, run.threadId, workspace, run.baselineCheckpointId, "workspace", vscode.l10n.t("Changes since run {0} began", run.ordinal ?? ""));
}
