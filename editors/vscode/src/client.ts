/** The connection to the daemon, with the protocol's types. */
import { randomUUID } from "node:crypto";
import { accessSync, constants } from "node:fs";
import { homedir } from "node:os";
import * as vscode from "vscode";
import { CloseAction, ErrorAction, LanguageClient, TransportKind } from "vscode-languageclient/node";
import { findDaemon, incompatibility, type Incompatibility } from "./daemon";
import { CHANGING, type Methods, type MidstreamCapabilities, type Notifications } from "./protocol";

const MOST_RESTARTS = 5;

export class Daemon implements vscode.Disposable {
  private restarts = 0;
  private readonly heard = new Map<keyof Notifications, vscode.EventEmitter<unknown>>();

  private constructor(
    private readonly client: LanguageClient,
    private readonly started: vscode.EventEmitter<void>,
  ) {}

  /** Find the daemon, start it and shake hands; an error says what to do. */
  static async start(log: vscode.LogOutputChannel): Promise<Daemon> {
    const settings = vscode.workspace.getConfiguration("midstream");
    const folders = (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.fsPath);
    const surroundings = { configured: settings.get<string[]>("command", []), path: process.env.PATH ?? "", home: homedir(), executable };
    const [command, ...args] = findDaemon(surroundings, folders) ?? [];
    if (command === undefined)
      throw new Error(vscode.l10n.t("Midstream is not installed where this editor looks for it. Install it with pipx, or set midstream.command."));
    log.info(`starting ${command}`);
    const serve = [...args, "serve", ...(settings.get<boolean>("rehearsal", false) ? ["--rehearsal"] : [])];
    const started = new vscode.EventEmitter<void>();
    let daemon: Daemon | undefined;
    const client = new LanguageClient("midstream", "Midstream", { command, args: serve, transport: TransportKind.stdio }, {
      documentSelector: [],
      outputChannel: log,
      initializationOptions: { native: true },
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue }),
        closed: () => ({ action: (daemon?.restarts ?? 0) < MOST_RESTARTS ? CloseAction.Restart : CloseAction.DoNotRestart }),
      },
    });
    await client.start();
    const server = client.initializeResult?.serverInfo;
    const problem = incompatibility(server?.name, capabilitiesOf(client)?.protocolVersion);
    if (problem !== undefined) {
      await client.stop();
      throw new Error(explain(problem, command, server?.version ?? ""));
    }
    daemon = new Daemon(client, started);
    const running = daemon;
    client.onDidChangeState(({ newState }) => {
      if (newState !== 2) return;
      running.restarts += 1;
      started.fire();
    });
    return running;
  }

  /** Fires after the daemon was lost and started again: subscriptions are gone then. */
  get onRestarted(): vscode.Event<void> {
    return this.started.event;
  }

  get version(): string {
    return this.client.initializeResult?.serverInfo?.version ?? "";
  }

  answers(method: keyof Methods): boolean {
    return capabilitiesOf(this.client)?.methods.includes(method) ?? false;
  }

  request<M extends keyof Methods>(method: M, params: Methods[M]["params"]): Promise<Methods[M]["result"]> {
    const whole = CHANGING.has(method) ? { ...params, commandId: randomUUID() } : params;
    return this.client.sendRequest<Methods[M]["result"]>(method, whole);
  }

  /** Hear a notification; the client library itself has room for one listener of each. */
  on<N extends keyof Notifications>(notification: N, hear: (params: Notifications[N]) => void): vscode.Disposable {
    let emitter = this.heard.get(notification) as vscode.EventEmitter<Notifications[N]> | undefined;
    if (emitter === undefined) {
      const made = (emitter = new vscode.EventEmitter<Notifications[N]>());
      this.heard.set(notification, made as vscode.EventEmitter<unknown>);
      this.client.onNotification(notification, (params: Notifications[N]) => made.fire(params));
    }
    return emitter.event(hear);
  }

  dispose(): void {
    this.started.dispose();
    for (const emitter of this.heard.values()) emitter.dispose();
    void this.client.stop();
  }
}

function capabilitiesOf(client: LanguageClient): MidstreamCapabilities | undefined {
  const experimental = client.initializeResult?.capabilities.experimental as { midstream?: MidstreamCapabilities } | undefined;
  return experimental?.midstream;
}

function explain(problem: Incompatibility, command: string, version: string): string {
  switch (problem) {
    case "stranger":
      return vscode.l10n.t("{0} is not Midstream. Correct the setting midstream.command.", command);
    case "older":
      return vscode.l10n.t("Midstream {0} ({1}) is too old for this extension. Update it, then restart it.", version, command);
    case "newer":
      return vscode.l10n.t("Midstream {0} ({1}) is too new for this extension. Update the extension.", version, command);
  }
}

function executable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
