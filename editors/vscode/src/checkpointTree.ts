/** The checkpoints of a thread and the files that each changed, the newest first. */
import * as vscode from "vscode";
import { type CheckpointFile, nameOf } from "./checkpoints";
import type { Daemon } from "./client";
import type { Checkpoint, FileSummary } from "./protocol";
import { Rereading } from "./rereading";
import { whenOf } from "./runPick";

export type CheckpointNode = Checkpoint | CheckpointFile;

export class CheckpointTree implements vscode.TreeDataProvider<CheckpointNode>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.changed.event;
  private readonly rereading = new Rereading(
    () => this.read(),
    () => this.changed.fire(undefined),
  );
  private checkpoints: Checkpoint[] = [];

  constructor(
    private readonly daemon: () => Daemon | undefined,
    private readonly threadId: () => string | undefined,
  ) {}

  /** Read all anew and then show it: the editor knows no row while it waits for the rows that it asked for. */
  refresh(): void {
    void this.rereading.request();
  }

  getChildren(parent?: CheckpointNode): CheckpointNode[] {
    if (parent === undefined) return this.checkpoints;
    return "file" in parent ? [] : parent.files.map((file) => ({ checkpoint: parent, file }));
  }

  private async read(): Promise<string> {
    const [daemon, threadId] = [this.daemon(), this.threadId()];
    const known = daemon !== undefined && threadId !== undefined;
    const { checkpoints } = known ? await daemon.request("checkpoint/list", { threadId }) : { checkpoints: [] };
    this.checkpoints = checkpoints.toReversed();
    return JSON.stringify(checkpoints);
  }

  getTreeItem(node: CheckpointNode): vscode.TreeItem {
    return "file" in node ? fileItem(node) : checkpointItem(node);
  }

  dispose(): void {
    this.changed.dispose();
  }
}

function checkpointItem(checkpoint: Checkpoint): vscode.TreeItem {
  const { id, files, kind, status, mixed, problem, capturedAt } = checkpoint;
  const { Collapsed, None } = vscode.TreeItemCollapsibleState;
  const item = new vscode.TreeItem(nameOf(checkpoint), files.length > 0 ? Collapsed : None);
  const said = [whenOf(capturedAt), howMany(files)];
  if (mixed) said.push(vscode.l10n.t("mixed with another thread's work"));
  if (status !== "ready") said.push(problem ?? vscode.l10n.t("no longer kept"));
  item.id = id;
  describe(item, said);
  item.iconPath = new vscode.ThemeIcon(
    status === "ready" ? (kind === "safety" ? "shield" : "history") : "circle-slash",
  );
  if (status === "ready") item.contextValue = kind === "safety" ? "checkpoint safety" : "checkpoint";
  return item;
}

function fileItem(node: CheckpointFile): vscode.TreeItem {
  const { checkpoint, file } = node;
  const item = new vscode.TreeItem(file.path, vscode.TreeItemCollapsibleState.None);
  item.id = `${checkpoint.id} ${file.path}`;
  describe(item, [STATUS[file.status](), ...(file.binary ? [] : [`+${file.additions ?? 0} −${file.deletions ?? 0}`])]);
  item.iconPath = vscode.ThemeIcon.File;
  item.command = { command: "midstream.showCheckpointFile", title: "", arguments: [node] };
  if (checkpoint.status === "ready") item.contextValue = "checkpointFile";
  return item;
}

/** Say the same beside the row, above it and to a screen reader. */
function describe(item: vscode.TreeItem, said: readonly string[]): void {
  item.description = said.join(" · ");
  item.tooltip = [item.label, ...said].join("\n");
  item.accessibilityInformation = { label: [item.label, ...said].join(", ") };
}

const STATUS: Record<FileSummary["status"], () => string> = {
  added: () => vscode.l10n.t("added"),
  modified: () => vscode.l10n.t("changed"),
  deleted: () => vscode.l10n.t("deleted"),
  renamed: () => vscode.l10n.t("renamed"),
  typeChanged: () => vscode.l10n.t("another kind of file"),
};

function howMany({ length }: readonly FileSummary[]): string {
  return length === 1 ? vscode.l10n.t("1 file changed") : vscode.l10n.t("{0} files changed", length);
}
