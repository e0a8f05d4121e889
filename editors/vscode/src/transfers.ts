/** What one thread gives to the next message of another. */
import * as vscode from "vscode";
import type { Daemon } from "./client";
import type { ContextTransfer, Thread } from "./protocol";
import { pickRun, standing, whenOf } from "./runPick";
import { pendingTransfers, titleOf } from "./threadTree";

/** Let the source's next message tell what a fork did, wholly or up to a run. */
export async function mergeBack(daemon: Daemon, { id }: Thread): Promise<void> {
  const { runs } = await daemon.request("thread/read", { threadId: id });
  const through = await pickRun(standing(runs, id), vscode.l10n.t("The last run that the source is told of"));
  if (through === undefined) return;
  await daemon.request("thread/mergeBack", { threadId: id, throughRunId: through.id });
  void vscode.window.showInformationMessage(
    vscode.l10n.t("The next message in the source thread carries what this fork did."),
  );
}

/** Let the next message not carry something after all. */
export async function cancelTransfer(daemon: Daemon, thread: Thread): Promise<void> {
  const pending = await pendingTransfers(daemon, thread.id);
  if (pending.length === 0)
    throw new Error(vscode.l10n.t("The next message of this thread carries nothing from another one."));
  const picks = await Promise.all(
    pending.map(async (transfer) => ({ ...(await describe(daemon, transfer)), transfer })),
  );
  const placeHolder = vscode.l10n.t("The next message in “{0}” does not carry…", titleOf(thread));
  const chosen = await vscode.window.showQuickPick(picks, { placeHolder });
  if (chosen !== undefined) await daemon.request("transfer/cancel", { transferId: chosen.transfer.id });
}

async function describe(
  daemon: Daemon,
  { type, sourceThreadId, createdAt }: ContextTransfer,
): Promise<vscode.QuickPickItem> {
  const source = await daemon.request("thread/read", { threadId: sourceThreadId }).then(
    ({ thread }) => titleOf(thread),
    () => vscode.l10n.t("a deleted thread"),
  );
  const kinds: Record<ContextTransfer["type"], string> = {
    merge_back: vscode.l10n.t("What the fork “{0}” did", source),
    fork: vscode.l10n.t("What was said in “{0}” before the fork", source),
    provider_handoff: vscode.l10n.t("What another agent did in “{0}”", source),
    subagent_spawn: vscode.l10n.t("What “{0}” gave away to do", source),
    subagent_result: vscode.l10n.t("What came out of “{0}”", source),
  };
  return { label: kinds[type], description: whenOf(createdAt) };
}
