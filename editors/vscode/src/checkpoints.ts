/** The files of checkpoints as virtual documents, and diffs of them against the real files. */
import * as vscode from "vscode";
import type { Daemon } from "./client";
import type { Checkpoint, FileSummary, Run } from "./protocol";

export const CHECKPOINT_SCHEME = "midstream-checkpoint";

export interface CheckpointFile {
  readonly checkpoint: Checkpoint;
  readonly file: FileSummary;
}

/** A checkpoint in words. */
export function nameOf({ label, kind, runOrdinal }: Checkpoint): string {
  if (label !== null) return label;
  switch (kind) {
    case "safety":
      return vscode.l10n.t("Before a restore");
    case "subagent":
      return vscode.l10n.t("In a subagent's own folder");
    case "baseline":
      return vscode.l10n.t("Before run {0}", runOrdinal ?? "");
    case "run":
      return vscode.l10n.t("After run {0}", runOrdinal ?? "");
    case "manual":
      return vscode.l10n.t("Taken by you");
  }
}

/** The text of a checkpoint's file; that of no checkpoint is empty. */
export class CheckpointDocuments implements vscode.TextDocumentContentProvider {
  constructor(private readonly daemon: () => Daemon) {}

  static uri(checkpointId: string, path: string): vscode.Uri {
    return vscode.Uri.from({ scheme: CHECKPOINT_SCHEME, path: `/${path}`, query: checkpointId });
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    if (uri.query === "") return "";
    const file = await this.daemon().request("checkpoint/file", { checkpointId: uri.query, path: uri.path.slice(1) });
    return file.encoding === "utf-8" ? file.content : vscode.l10n.t("A binary file of {0} bytes.", file.bytes);
  }
}

/** Show what differs from a checkpoint to the files as they are, or to another checkpoint. */
export async function showChanges(
  daemon: Daemon,
  threadId: string,
  workspace: vscode.Uri,
  from: string,
  to: string,
  title: string,
): Promise<void> {
  const { files } = await daemon.request("checkpoint/diff", { threadId, from, to });
  if (files.length === 0) {
    void vscode.window.showInformationMessage(vscode.l10n.t("No file differs."));
    return;
  }
  const right = (path: string) =>
    to === "workspace" ? vscode.Uri.joinPath(workspace, path) : CheckpointDocuments.uri(to, path);
  const resources = files.map((file) => {
    const real = vscode.Uri.joinPath(workspace, file.path);
    const before = file.status === "added" ? undefined : CheckpointDocuments.uri(from, file.oldPath ?? file.path);
    return [real, before, file.status === "deleted" ? undefined : right(file.path)];
  });
  await vscode.commands.executeCommand("vscode.changes", title, resources);
}

/** Show a file of a checkpoint beside the real one; the side where there is none is empty. */
export async function showFile(workspace: vscode.Uri, { checkpoint, file }: CheckpointFile): Promise<void> {
  const real = vscode.Uri.joinPath(workspace, file.path);
  const nothing = CheckpointDocuments.uri("", file.path);
  const stands = await vscode.workspace.fs.stat(real).then(
    () => true,
    () => false,
  );
  const before = file.status === "deleted" ? nothing : CheckpointDocuments.uri(checkpoint.id, file.path);
  const title = vscode.l10n.t("{0} ({1} ↔ now)", file.path, nameOf(checkpoint));
  await vscode.commands.executeCommand("vscode.diff", before, stands ? real : nothing, title);
}

/** Show what changed since a run began, against the real files, so that hunks can be reverted. */
export async function showRun(daemon: Daemon, workspace: vscode.Uri, run: Run): Promise<void> {
  if (run.baselineCheckpointId === null) return;
  await showChanges(
    daemon,
    run.threadId,
    workspace,
    run.baselineCheckpointId,
    "workspace",
    vscode.l10n.t("Changes since run {0} began", run.ordinal ?? ""),
  );
}
