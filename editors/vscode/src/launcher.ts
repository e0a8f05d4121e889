/** Brings a daemon up: the configured one, else one that the user has, else the extension's own, which it offers. */
import { accessSync, constants } from "node:fs";
import { homedir } from "node:os";
import * as vscode from "vscode";
import { Daemon, IncompatibleDaemon } from "./client";
import { type Command, findPrograms } from "./daemon";
import { type Fault, PYTHONS } from "./environment";
import { InstallationFault, OwnEnvironment } from "./ownEnvironment";
import { configuredCommand, setting } from "./settings";

const ASKED = "midstream.askedToInstall";

export class Launcher implements vscode.Disposable {
  private readonly own: OwnEnvironment;
  private readonly ending = new AbortController();
  private installing: Promise<void> | undefined;
  /** What was started last. */
  command: Command | undefined;

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly log: vscode.LogOutputChannel,
  ) {
    const carried = vscode.Uri.joinPath(context.extensionUri, "dist", "python").fsPath;
    this.own = new OwnEnvironment(carried, context.globalStorageUri.fsPath, (text) => log.append(text));
  }

  /** Start a daemon; where there is none to be used, the error says so, and the user is asked once about our own. */
  async launch(): Promise<Daemon> {
    requireTrust();
    const configured = configuredCommand();
    if (configured !== undefined) return this.start(configured);
    let missing = vscode.l10n.t("Midstream is not installed where this editor looks for it.");
    const [found] = findPrograms(["midstream"], surroundings());
    if (found !== undefined)
      try {
        return await this.start([found]);
      } catch (error) {
        if (!(error instanceof IncompatibleDaemon)) throw error;
        missing = error.message;
      }
    if (this.own.found?.current === false) await this.install().catch((error: unknown) => this.log.warn(String(error)));
    const command = this.own.found?.command;
    if (command !== undefined) return this.start(command);
    setMissing(true);
    void this.offer();
    throw new Error(vscode.l10n.t("{0} Run “Midstream: Install for This Editor”, or set midstream.command.", missing));
  }

  /** Make the extension's own environment, with a notification that shows it and can end it. */
  async install(): Promise<void> {
    requireTrust();
    this.installing ??= this.makeShown().finally(() => (this.installing = undefined));
    await this.installing;
  }

  private start(command: Command): Promise<Daemon> {
    this.command = command;
    setMissing(false);
    return Daemon.start(command, this.log);
  }

  private async offer(): Promise<void> {
    if (this.context.globalState.get(ASKED, false)) return;
    await this.context.globalState.update(ASKED, true);
    const install = vscode.l10n.t("Install");
    const asked = vscode.l10n.t(
      "Install Midstream for this editor? It goes into the extension's own folder, about 500 MB.",
    );
    const chosen = await vscode.window.showInformationMessage(asked, install, vscode.l10n.t("Not Now"));
    if (chosen === install) await vscode.commands.executeCommand("midstream.install");
  }

  private async makeShown(): Promise<void> {
    const title = vscode.l10n.t("Installing Midstream");
    const shown = { location: vscode.ProgressLocation.Notification, title, cancellable: true };
    await vscode.window.withProgress(shown, async (_, token) => {
      const cancelled = new AbortController();
      token.onCancellationRequested(() => cancelled.abort(new Error(vscode.l10n.t("The installation was cancelled."))));
      await this.make(AbortSignal.any([cancelled.signal, this.ending.signal]));
    });
  }

  private async make(signal: AbortSignal): Promise<void> {
    const chosen = setting("python", "");
    const candidates = chosen === "" ? findPrograms(PYTHONS, surroundings()) : [chosen];
    const python = await this.own.choosePython(candidates, signal);
    signal.throwIfAborted();
    if (python === undefined)
      throw new Error(
        vscode.l10n.t("Midstream needs Python 3.11 or newer. Install it, or set midstream.python to one."),
      );
    try {
      await this.own.make(python, signal);
    } catch (error) {
      throw error instanceof InstallationFault ? new Error(explain(error.fault, python)) : error;
    }
  }

  dispose(): void {
    this.ending.abort(new Error(vscode.l10n.t("The editor ended the installation.")));
  }
}

function requireTrust(): void {
  if (!vscode.workspace.isTrusted)
    throw new Error(
      vscode.l10n.t("Nothing is started in a folder that you do not trust: run “Workspaces: Manage Workspace Trust”."),
    );
}

function explain(fault: Fault, python: string): string {
  switch (fault) {
    case "environment":
      return vscode.l10n.t(
        "{0} could not make an environment. Midstream: Show Log tells why; Debian needs the package python3-venv.",
        python,
      );
    case "foreign":
      return vscode.l10n.t(
        "The package index offers other files than those that Midstream is made for. Nothing was installed; Midstream: Show Log names the file.",
      );
    case "packages":
      return vscode.l10n.t(
        "The packages that Midstream needs could not be installed. Midstream: Show Log tells why; is the package index in reach?",
      );
  }
}

function setMissing(missing: boolean): void {
  void vscode.commands.executeCommand("setContext", "midstream.missing", missing);
}

function surroundings() {
  const workspaces = (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.fsPath);
  return { path: process.env.PATH ?? "", home: homedir(), workspaces, executable };
}

function executable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
