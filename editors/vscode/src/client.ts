/** The connection to the daemon, with the protocol's types. */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import * as vscode from "vscode";
import { CloseAction, ErrorAction, LanguageClient, State, TransportKind } from "vscode-languageclient/node";
import { type Command, incompatibility, type Incompatibility } from "./daemon";
import { CHANGING, type Config, type Methods, type MidstreamCapabilities, type Notifications } from "./protocol";
import { initializationOptions, setting } from "./settings";

/** The daemon that answered cannot be spoken to; the message says why, and what to do. */
export class IncompatibleDaemon extends Error {}

/** Says nothing to the user itself: what goes wrong is told once, and with what to do. */
class QuietClient extends LanguageClient {
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }
}

/** One connection to the daemon, from its start to its end. */
export class Daemon {
  private readonly heard = new Map<keyof Notifications, vscode.EventEmitter<unknown>>();
  private readonly lost = new vscode.EventEmitter<void>();
  /** Fires once where the connection ends by itself. */
  readonly onLost = this.lost.event;
  private readonly client: QuietClient;

  private constructor(
    private readonly command: Command,
    log: vscode.LogOutputChannel,
  ) {
    const [program, ...before] = command;
    const args = [...before, "serve", ...(setting("rehearsal", false) ? ["--rehearsal"] : [])];
    this.client = new QuietClient(
      "midstream",
      "Midstream",
      { command: program, args, transport: TransportKind.stdio },
      {
        documentSelector: [],
        outputChannel: log,
        initializationOptions: initializationOptions(),
        initializationFailedHandler: () => false,
        errorHandler: {
          error: () => ({ action: ErrorAction.Continue, handled: true }),
          closed: () => ({ action: CloseAction.DoNotRestart, handled: true }),
        },
      },
    );
  }

  /** Start a daemon and shake hands; an error says what to do. */
  static async start(command: Command, log: vscode.LogOutputChannel): Promise<Daemon> {
    log.info(`starting ${command.join(" ")}`);
    const daemon = new Daemon(command, log);
    try {
      await daemon.client.start();
    } catch (error) {
      await daemon.end();
      const why = error instanceof Error ? error.message : String(error);
      throw new Error(
        vscode.l10n.t("Midstream ({0}) does not start: {1} Midstream: Show Log tells more.", command[0], why),
      );
    }
    const problem = daemon.problem();
    if (problem !== undefined) {
      await daemon.end();
      throw new IncompatibleDaemon(problem);
    }
    for (const { key, message } of capabilitiesOf(daemon.client)?.configProblems ?? [])
      void vscode.window.showWarningMessage(vscode.l10n.t("Midstream does not use {0}: {1}", key, message));
    daemon.client.onDidChangeState(({ newState }) => newState === State.Stopped && daemon.lost.fire());
    return daemon;
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

  /** Have whatever starts from now on use another configuration. */
  configure(config: Config): void {
    void this.client.sendNotification("workspace/didChangeConfiguration", { settings: { midstream: config } });
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

  /** End the connection and wait for its process: the last one ends the daemon, which the next one starts anew. */
  async end(): Promise<void> {
    this.lost.dispose();
    for (const emitter of this.heard.values()) emitter.dispose();
    const server = this.client.serverProcess;
    const stopped = this.client.isRunning() && (await this.client.stop().then(() => true, () => false));
    if (server?.exitCode !== null || server.signalCode !== null) return;
    // One that was still starting, or is lost meanwhile, cannot be told to stop.
    if (!stopped) server.kill();
    await once(server, "exit");
  }

  private problem(): string | undefined {
    const server = this.client.initializeResult?.serverInfo;
    const problem = incompatibility(server?.name, capabilitiesOf(this.client)?.protocolVersion);
    return problem && explain(problem, this.command[0], server?.version ?? "");
  }
}

function capabilitiesOf(client: LanguageClient): MidstreamCapabilities | undefined {
  const experimental = client.initializeResult?.capabilities.experimental as
    | { midstream?: MidstreamCapabilities }
    | undefined;
  return experimental?.midstream;
}

function explain(problem: Incompatibility, command: string, version: string): string {
  switch (problem) {
    case "stranger":
      return vscode.l10n.t("{0} is not Midstream. Correct the setting midstream.command.", command);
    case "older":
      return vscode.l10n.t(
        "Midstream {0} ({1}) is too old for this extension. Update it, then restart it.",
        version,
        command,
      );
    case "newer":
      return vscode.l10n.t(
        "Midstream {0} ({1}) is too new for this extension. Update the extension.",
        version,
        command,
      );
  }
}
