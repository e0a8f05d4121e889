/** Bringing files back: first a dry run, then the user's word, then the writing. */
import * as vscode from "vscode";
import { fileGroups, listOf } from "./changeList";
import type { Daemon } from "./client";
import type { RestoreResult } from "./protocol";

/** Restore a checkpoint, whole or some paths of it; conflicts and unsaved edits are shown before anything is written. */
export async function restore(
  daemon: Daemon,
  workspace: vscode.Uri,
  checkpointId: string,
  paths?: string[],
): Promise<void> {
  const wish = { checkpointId, dirtyPaths: dirtyPaths(workspace), ...(paths === undefined ? {} : { paths }) };
  const plan = await daemon.request("checkpoint/restore", { ...wish, dryRun: true });
  if (plan.written.length + plan.deleted.length + plan.conflicts.length === 0) {
    void vscode.window.showInformationMessage(vscode.l10n.t("The files are already so."));
    return;
  }
  const force = plan.conflicts.length > 0;
  const act = force ? vscode.l10n.t("Restore Anyway") : vscode.l10n.t("Restore");
  const detail = listOf(fileGroups(plan, wish.dirtyPaths));
  const chosen = await vscode.window.showWarningMessage(
    vscode.l10n.t("Restore these files?"),
    { modal: true, detail },
    act,
  );
  if (chosen !== act) return;
  void offerUndo(daemon, workspace, await daemon.request("checkpoint/restore", { ...wish, force }));
}

/** Say what was restored; the way back stands in the list of checkpoints too. */
async function offerUndo(daemon: Daemon, workspace: vscode.Uri, done: RestoreResult): Promise<void> {
  const undo = vscode.l10n.t("Undo");
  const said = vscode.l10n.t("{0} files were restored.", done.written.length + done.deleted.length);
  const safety = done.safetyCheckpointId;
  const chosen = await vscode.window.showInformationMessage(said, ...(safety === null ? [] : [undo]));
  if (chosen === undo && safety !== null) await undoRestore(daemon, workspace, safety);
}

/** Go back to the files as they were before a restore; asks only where something stands against it. */
async function undoRestore(daemon: Daemon, workspace: vscode.Uri, checkpointId: string): Promise<void> {
  const wish = { checkpointId, dirtyPaths: dirtyPaths(workspace) };
  const { conflicts } = await daemon.request("checkpoint/restore", { ...wish, dryRun: true });
  if (conflicts.length > 0) return restore(daemon, workspace, checkpointId);
  await daemon.request("checkpoint/restore", wish);
}

/** The files of the workspace with unsaved edits. */
export function dirtyPaths(workspace: vscode.Uri): string[] {
  const root = workspace.path.endsWith("/") ? workspace.path : `${workspace.path}/`;
  const dirty = vscode.workspace.textDocuments.filter(
    (document) => document.isDirty && document.uri.scheme === workspace.scheme,
  );
  return dirty
    .filter((document) => document.uri.path.startsWith(root))
    .map((document) => document.uri.path.slice(root.length));
}
