/** What can be done with a run, from the menu of its last row. */
import * as vscode from "vscode";
import { showSince } from "./checkpoints";
import type { RunContext } from "./messages";
import { restore } from "./restore";
import { rollBackFrom } from "./rollingBack";
import type { StartedRun } from "./runPick";
import type { Session } from "./session";

export const runCommands: Readonly<Record<string, (session: Session, run: StartedRun) => Promise<unknown>>> = {
  forkAfterRun: (session, { id, threadId }) => session.fork(threadId, { type: "run", runId: id }, session.thread),
  rollBackRun: ({ daemon, workspace }, run) => rollBackFrom(daemon, workspace, run),
  retryRun: ({ daemon }, { id }) => daemon.request("run/retry", { runId: id }),
  showRunChanges: ({ daemon, workspace }, run) => showSince(daemon, workspace, run),

  async restoreAfterRun({ daemon, workspace }, { checkpointId, ordinal }) {
    if (checkpointId === null) throw new Error(vscode.l10n.t("The files as this run left them are not kept."));
    await restore(daemon, workspace, checkpointId, vscode.l10n.t("Restore the files as run {0} left them?", ordinal));
  },
};

/** The run that a menu was opened on, as it now stands. */
export async function runOf({ daemon }: Session, { threadId, runId }: RunContext): Promise<StartedRun> {
  const { runs } = await daemon.request("thread/read", { threadId });
  const run = runs.find(({ id }) => id === runId);
  if (run === undefined || run.ordinal === null) throw new Error(vscode.l10n.t("This run is gone."));
  return { ...run, ordinal: run.ordinal };
}
