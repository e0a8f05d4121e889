/** Starting a run; where an edited handoff no longer tells all, the user decides. */
import * as vscode from "vscode";
import { ResponseError } from "vscode-languageclient/node";
import type { Daemon } from "./client";
import type { RunStartParams } from "./protocol";

/** `handoffStale` of the protocol. */
const STALE = 4012;

/** Start a run; a CancellationError says that the user thought better of it. */
export async function startRun(daemon: Daemon, params: RunStartParams): Promise<void> {
  try {
    await daemon.request("run/start", params);
  } catch (error) {
    if (!(error instanceof ResponseError) || error.code !== STALE) throw error;
    const send = vscode.l10n.t("Send it, and What Came Since");
    const detail = vscode.l10n.t("Your text is sent as it is. What happened since is told after it.");
    const title = vscode.l10n.t("The thread went on after you edited this handoff.");
    if ((await vscode.window.showWarningMessage(title, { modal: true, detail }, send)) !== send) throw new vscode.CancellationError();
    await daemon.request("run/start", { ...params, allowStaleHandoff: true });
  }
}
