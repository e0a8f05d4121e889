/** Choosing one of a thread's runs. */
import * as vscode from "vscode";
import type { Run } from "./protocol";

/** A run that left the queue. */
export type StartedRun = Run & { readonly ordinal: number };

/** A thread's own runs that stand, the newest first. */
export function standing(runs: readonly Run[], threadId: string): StartedRun[] {
  const own = runs.filter(
    (run): run is StartedRun => run.threadId === threadId && run.ordinal !== null && run.status !== "rolled_back",
  );
  return own.toReversed();
}

/** A run in the words of its message. */
export function nameOfRun(run: StartedRun): string {
  return vscode.l10n.t("Run {0}: {1}", run.ordinal, firstLine(run.message.text));
}

export async function pickRun(runs: readonly StartedRun[], placeHolder: string): Promise<StartedRun | undefined> {
  if (runs.length === 0) throw new Error(vscode.l10n.t("This thread has no run for that yet."));
  const picks = runs.map((run) => ({
    label: nameOfRun(run),
    description: `${run.provider} · ${whenOf(run.requestedAt)}`,
    run,
  }));
  const chosen = await vscode.window.showQuickPick(picks, { placeHolder, matchOnDescription: true });
  return chosen?.run;
}

/** A time as the editor's language writes it; of another day with its date. */
export function whenOf(time: string, now = new Date()): string {
  const date = new Date(time);
  const today = date.toDateString() === now.toDateString();
  return date.toLocaleString(
    vscode.env.language,
    today ? { timeStyle: "short" } : { dateStyle: "medium", timeStyle: "short" },
  );
}

function firstLine(text: string): string {
  const [line = ""] = text.trim().split("\n");
  return line.length > 80 ? `${line.slice(0, 79)}…` : line;
}
