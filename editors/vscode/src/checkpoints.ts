/** The files of checkpoints as virtual documents, and diffs of them against the real files. */
import * as vscode from "vscode";
import type { Daemon } from "./client";
import type { Checkpoint, FileSummary, Run } from "./protocol";
import { dirtyPaths } from "./unsavedEdits";

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

/** The text of a checkpoint's file, `midstream-checkpoint:<path of the real file>?<id>#<path in it>`; that of no checkpoint is empty. */
export class CheckpointDocuments implements vscode.TextDocumentContentProvider {
  constructor(private readonly daemon: () => Promise<Daemon>) {}

  /** The real file's own path: the editor takes a file that stands beside one of another path for a renamed one. */
  static uri(checkpointId: string, workspace: vscode.Uri, path: string): vscode.Uri {
    const real = vscode.Uri.joinPath(workspace, path);
    return vscode.Uri.from({ scheme: CHECKPOINT_SCHEME, path: real.path, query: checkpointId, fragment: path });
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    if (uri.query === "") return "";
    const file = await (await this.daemon()).request("checkpoint/file", { checkpointId: uri.query, path: uri.fragment });
    return file.encoding === "utf-8" ? file.content : vscode.l10n.t("A binary file of {0} bytes.", file.bytes);
  }
}

/** Show what differs from a checkpoint to the files as they are; `only` names the paths that matter, where not all do. */
export async function showChanges(
  daemon: Daemon,
  workspace: vscode.Uri,
  { threadId, from }: { readonly threadId: string; readonly from: string },
  title: string,
  only?: ReadonlySet<string>,
): Promise<void> {
  const { files } = await daemon.request("checkpoint/diff", { threadId, from, to: "workspace" });
  const shown = files.filter(({ path, oldPath }) => only === undefined || only.has(path) || (oldPath !== undefined && only.has(oldPath)));
  if (shown.length === 0) {
    void vscode.window.showInformationMessage(vscode.l10n.t("No file differs."));
    return;
  }
  const resources = shown.map(({ path, oldPath, status }) => {
    const real = vscode.Uri.joinPath(workspace, path);
    const before = status === "added" ? undefined : CheckpointDocuments.uri(from, workspace, oldPath ?? path);
    return [real, before, status === "deleted" ? undefined : real];
  });
  await vscode.commands.executeCommand("vscode.changes", title, resources);
  const dirty = dirtyPaths(workspace).filter((path) => shown.some((file) => file.path === path));
  if (dirty.length === 0) return;
  void vscode.window.showWarningMessage(
    vscode.l10n.t("Unsaved edits are shown instead of what is in the file: {0}", dirty.join(", ")),
  );
}

/** Show a file of a checkpoint beside the real one; the side where there is none is empty. */
export async function showFile(workspace: vscode.Uri, { checkpoint, file }: CheckpointFile): Promise<void> {
  const real = vscode.Uri.joinPath(workspace, file.path);
  const nothing = CheckpointDocuments.uri("", workspace, file.path);
  const stands = await vscode.workspace.fs.stat(real).then(
    () => true,
    () => false,
  );
  const before = file.status === "deleted" ? nothing : CheckpointDocuments.uri(checkpoint.id, workspace, file.path);
  const title = vscode.l10n.t("{0} ({1} ↔ now)", file.path, nameOf(checkpoint));
  await vscode.commands.executeCommand("vscode.diff", before, stands ? real : nothing, title);
}

/** Show the files that a run changed, as it found them and as they are, so that changes can be taken back. */
export async function showRun(daemon: Daemon, workspace: vscode.Uri, run: Run): Promise<void> {
  const { threadId, baselineCheckpointId: from, checkpointId: to } = run;
  if (from === null || to === null) return showSince(daemon, workspace, run);
  const { files } = await daemon.request("checkpoint/diff", { threadId, from, to });
  const title = vscode.l10n.t("What run {0} changed: before it, and now", run.ordinal ?? "");
  await showChanges(daemon, workspace, { threadId, from }, title, new Set(files.flatMap(({ path, oldPath }) => [path, oldPath ?? path])));
}

/** Show all that changed since a run began. */
export async function showSince(daemon: Daemon, workspace: vscode.Uri, run: Run): Promise<void> {
  if (run.baselineCheckpointId === null) return;
  const title = vscode.l10n.t("Changes since run {0} began", run.ordinal ?? "");
  await showChanges(daemon, workspace, { threadId: run.threadId, from: run.baselineCheckpointId }, title);
}
