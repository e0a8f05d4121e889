/** Bringing files back: first a dry run, then the user's word, then the writing. */
import * as vscode from "vscode";
import { fileGroups, listOf } from "./changeList";
import type { Daemon } from "./client";
import type { RestoreResult } from "./protocol";
import { dirtyPaths } from "./unsavedEdits";

/** Restore a checkpoint, whole or some paths of it; conflicts and unsaved edits are shown before anything is written. */
export async function restore(
  daemon: Daemon,
  workspace: vscode.Uri,
  checkpointId: string,
  question: string,
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
  if ((await vscode.window.showWarningMessage(question, { modal: true, detail }, act)) !== act) return;
  void offerUndo(daemon, workspace, await daemon.request("checkpoint/restore", { ...wish, force }));
}

/** Say what was restored; the way back stands in the list of checkpoints too. */
async function offerUndo(daemon: Daemon, workspace: vscode.Uri, done: RestoreResult): Promise<void> {
  const undo = vscode.l10n.t("Undo");
  const count = done.written.length + done.deleted.length;
  const said = count === 1 ? vscode.l10n.t("1 file was restored.") : vscode.l10n.t("{0} files were restored.", count);
  const safety = done.safetyCheckpointId;
  const chosen = await vscode.window.showInformationMessage(said, ...(safety === null ? [] : [undo]));
  if (chosen === undo && safety !== null) await undoRestore(daemon, workspace, safety);
}

/** What is asked before a restore is undone. */
export function undoing(): string {
  return vscode.l10n.t("Undo this restore?");
}

/** Go back to the files as they were before a restore; asks only where something stands against it. */
async function undoRestore(daemon: Daemon, workspace: vscode.Uri, checkpointId: string): Promise<void> {
  const wish = { checkpointId, dirtyPaths: dirtyPaths(workspace) };
  const { conflicts } = await daemon.request("checkpoint/restore", { ...wish, dryRun: true });
  if (conflicts.length > 0) return restore(daemon, workspace, checkpointId, undoing());
  await daemon.request("checkpoint/restore", wish);
}
