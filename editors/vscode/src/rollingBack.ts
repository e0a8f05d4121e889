/** Taking runs back: what would go is shown first, and files are restored only where the user says so. */
import * as vscode from "vscode";
import { fileGroups, listOf } from "./changeList";
import type { Daemon } from "./client";
import type { Run, ThreadRollbackResult } from "./protocol";
import { nameOfRun, pickRun, type StartedRun, standing } from "./runPick";
import { dirtyPaths } from "./unsavedEdits";

/** Take back a run that the user picks, and all after it. */
export async function rollBack(daemon: Daemon, workspace: vscode.Uri, threadId: string): Promise<void> {
  const { runs } = await daemon.request("thread/read", { threadId });
  const first = await pickRun(standing(runs, threadId), vscode.l10n.t("Take back this run and all after it"));
  if (first !== undefined) await rollBackFrom(daemon, workspace, first);
}

/** Take back a run and all after it. */
export async function rollBackFrom(daemon: Daemon, workspace: vscode.Uri, first: StartedRun): Promise<void> {
  const { threadId } = first;
  const wish = { threadId, toRunOrdinal: first.ordinal - 1, dirtyPaths: dirtyPaths(workspace) };
  const { runs } = await daemon.request("thread/read", { threadId });
  const withFiles = await dryRun(daemon, { ...wish, restoreFiles: true });
  const plan = withFiles.plan ?? (await daemon.request("thread/rollback", { ...wish, dryRun: true }));
  const named = (ids: readonly string[]) => runs.filter(({ id }) => ids.includes(id)).map(nameOf);
  const detail = listOf([
    [vscode.l10n.t("Runs that are taken back:"), named(plan.rolledBackRunIds)],
    [vscode.l10n.t("Queued messages that are cancelled:"), named(plan.cancelledRunIds)],
    [vscode.l10n.t("Files cannot be restored:"), withFiles.problem === undefined ? [] : [withFiles.problem]],
    ...(plan.restore === null ? [] : fileGroups(plan.restore, wish.dirtyPaths)),
  ]);
  const conflicts = (plan.restore?.conflicts.length ?? 0) > 0;
  const restores = plan.restore !== null && plan.restore.written.length + plan.restore.deleted.length > 0;
  const both = conflicts
    ? vscode.l10n.t("Take Back, Restore Files Anyway")
    : vscode.l10n.t("Take Back and Restore Files");
  const alone = restores ? vscode.l10n.t("Take Back, Keep Files") : vscode.l10n.t("Take Back");
  const asked = vscode.l10n.t("Take back run {0} and all after it?", first.ordinal);
  const chosen = await vscode.window.showWarningMessage(
    asked,
    { modal: true, detail },
    ...(restores ? [both, alone] : [alone]),
  );
  if (chosen === both) await daemon.request("thread/rollback", { ...wish, restoreFiles: true, force: conflicts });
  else if (chosen === alone) await daemon.request("thread/rollback", wish);
}

type Wish = { threadId: string; toRunOrdinal: number; dirtyPaths: string[]; restoreFiles: true };

/** Try it with the files; where those are no longer kept, the runs can still be taken back. */
async function dryRun(daemon: Daemon, wish: Wish): Promise<{ plan?: ThreadRollbackResult; problem?: string }> {
  try {
    return { plan: await daemon.request("thread/rollback", { ...wish, dryRun: true }) };
  } catch (error) {
    if (kindOf(error) !== "checkpointNotFound") throw error;
    return { problem: (error as Error).message };
  }
}

function kindOf(error: unknown): string | undefined {
  return (error as { data?: { kind?: string } }).data?.kind;
}

function nameOf(run: Run): string {
  return run.ordinal === null ? run.message.text : nameOfRun(run as StartedRun);
}
