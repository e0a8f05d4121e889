/** The extension's settings: those with which the daemon is started, and those that it takes while it runs. */
import * as vscode from "vscode";
import type { Command } from "./daemon";
import type { Config, InitializationOptions } from "./protocol";

/** What the daemon reads when it starts. */
const STARTED_WITH = ["midstream.command", "midstream.rehearsal", "midstream.dataDir"];
const HANDOFF = "midstream.handoff";

export function setting<T>(name: string, otherwise: T): T {
  return vscode.workspace.getConfiguration("midstream").get<T>(name) ?? otherwise;
}

/** The command that the user configured. */
export function configuredCommand(): Command | undefined {
  const [program, ...args] = setting<string[]>("command", []);
  return program === undefined ? undefined : [program, ...args];
}

export function initializationOptions(): InitializationOptions {
  const [dataDir, config] = [setting("dataDir", ""), configured()];
  return { native: true, ...(dataDir === "" ? {} : { dataDir }), ...(config.handoff === undefined ? {} : { config }) };
}

/** What of the daemon's configuration is set here; the rest is as its configuration file says. */
function configured(): Config {
  const budgetTokens = setting<number | null>("handoff.budgetTokens", null);
  const summarizer = setting<string | null>("handoff.summarizer", null);
  const handoff = {
    ...(budgetTokens === null ? {} : { budgetTokens }),
    ...(summarizer === null ? {} : { summarizer }),
  };
  return Object.keys(handoff).length === 0 ? {} : { handoff };
}

/** Tell a running daemon what it takes at once, and offer a restart where another setting changes. */
export function watchSettings(tell: (config: Config) => void): vscode.Disposable {
  return vscode.workspace.onDidChangeConfiguration(async (change) => {
    if (change.affectsConfiguration(HANDOFF)) tell(configured());
    if (!STARTED_WITH.some((name) => change.affectsConfiguration(name))) return;
    const asked = vscode.l10n.t("Midstream uses the changed settings once it is restarted.");
    const restart = vscode.l10n.t("Restart");
    if ((await vscode.window.showInformationMessage(asked, restart)) === restart)
      await vscode.commands.executeCommand("midstream.restart");
  });
}
