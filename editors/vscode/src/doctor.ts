/** Runs `midstream doctor` and shows what it says in the log. */
import * as vscode from "vscode";
import type { Command } from "./daemon";
import { run } from "./processes";

export async function doctor([program, ...args]: Command, log: vscode.LogOutputChannel): Promise<void> {
  const shown = { location: vscode.ProgressLocation.Window, title: vscode.l10n.t("Midstream looks at itself") };
  log.show(true);
  await vscode.window.withProgress(shown, async () => {
    const tell = (text: string) => log.append(text);
    await run([program, ...args, "doctor"], process.cwd(), tell, new AbortController().signal);
  });
}
