/** One window's session: the daemon, the thread that is open, and what the thread view asks for. */
import * as vscode from "vscode";
import { showRun } from "./checkpoints";
import { Daemon } from "./client";
import { Following } from "./following";
import type { Change, FromView } from "./messages";
import type { Provider, Run, Thread } from "./protocol";
import { openOutput } from "./outputDocuments";
import { openHandoff, preview, switchTo } from "./switching";

const THREAD = "midstream.thread";
const DRAFT = "midstream.draft";
const ACTIVE: readonly Run["status"][] = ["starting", "running", "waiting"];

export class Session implements vscode.Disposable {
  private started: { readonly daemon: Daemon; readonly following: Following } | undefined;
  private providers: readonly Provider[] = [];
  private problem: string | null = null;
  /** Settles once the provider chosen last is the thread's: what is sent or previewed afterwards is for that one. */
  private choosing: Promise<unknown> = Promise.resolve();
  private readonly changed = new vscode.EventEmitter<Change | "reset">();
  /** What changed of what the view shows. */
  readonly onChange = this.changed.event;

  constructor(
    private readonly memory: vscode.Memento,
    private readonly log: vscode.LogOutputChannel,
  ) {}

  /** Start the daemon and open the thread that was open last; what goes wrong is shown in the view. */
  async start(): Promise<void> {
    this.stop();
    try {
      const daemon = await Daemon.start(this.log);
      const following = new Following(daemon);
      this.started = { daemon, following };
      following.onChange((change) => this.changed.fire(change));
      daemon.on("provider/changed", () => void this.readProviders());
      this.problem = null;
      await this.readProviders();
      await this.openLast();
    } catch (error) {
      this.problem = messageOf(error);
      this.log.error(this.problem);
    }
    this.changed.fire("reset");
  }

  get running(): Daemon | undefined {
    return this.started?.daemon;
  }

  get daemon(): Daemon {
    if (this.started === undefined) throw new Error(this.problem ?? vscode.l10n.t("Midstream is not running. Trust this workspace, or restart it."));
    return this.started.daemon;
  }

  get thread(): Thread | undefined {
    return this.started?.following.model?.thread;
  }

  get knownProviders(): readonly Provider[] {
    return this.providers;
  }

  get workspace(): vscode.Uri {
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
    if (folder === undefined) throw new Error(vscode.l10n.t("Open a folder first: agents work in one."));
    return folder;
  }

  /** All that the view shows. */
  whole(): Change {
    const following = this.started?.following;
    const model = following?.model;
    const shown = {
      thread: model?.thread ?? null,
      runs: [...(model?.runs.values() ?? [])],
      items: model?.items.ordered() ?? [],
      requests: [...(model?.requests.values() ?? [])],
      providers: this.providers,
      gaps: [...(model?.items.gapsBefore() ?? [])],
      draft: this.memory.get<string>(DRAFT, ""),
      problem: this.problem,
    };
    return { type: "reset", shown };
  }

  async open(thread: Thread): Promise<void> {
    await this.memory.update(THREAD, thread.id);
    await this.started?.following.open(thread.id);
  }

  async create(): Promise<Thread> {
    const workspace = vscode.Uri.file(this.workspace.fsPath).toString();
    const { thread } = await this.daemon.request("thread/create", { workspace });
    await this.open(thread);
    return thread;
  }

  /** The open thread, or a new one. */
  async current(): Promise<Thread> {
    return this.thread ?? (await this.create());
  }

  async interrupt(): Promise<void> {
    const active = this.runs().find((run) => ACTIVE.includes(run.status));
    if (active !== undefined) await this.daemon.request("run/interrupt", { runId: active.id });
  }

  /** Do what the user asked for in the thread view. */
  async hear(message: FromView): Promise<void> {
    try {
      await this.obey(message);
    } catch (error) {
      void vscode.window.showErrorMessage(messageOf(error));
      if (message.type !== "send") return;
      await this.memory.update(DRAFT, message.text);
      this.changed.fire("reset");
    }
  }

  private async obey(message: FromView): Promise<void> {
    switch (message.type) {
      case "send": {
        await this.choosing;
        const { id } = await this.current();
        await this.daemon.request("run/start", { threadId: id, message: { text: message.text }, delivery: message.delivery });
        return;
      }
      case "draft":
        return void (await this.memory.update(DRAFT, message.text));
      case "page":
        return this.started?.following.readPage(message.anchor);
      case "output":
        return openOutput(message);
      case "copy":
        return void (await vscode.env.clipboard.writeText(message.text));
      case "thread":
        return this.open((await this.daemon.request("thread/read", { threadId: message.threadId })).thread);
      case "interrupt":
        return this.interrupt();
      case "switch":
        this.choosing = this.current().then((thread) => switchTo(this.daemon, thread, message.provider));
        return void (await this.choosing.finally(() => (this.choosing = Promise.resolve())));
      case "preview":
        await this.choosing;
        return preview(this.daemon, await this.current());
      case "handoff":
        return openHandoff(message.handoffId);
      case "respond": {
        const { type: _, ...answer } = message;
        return void (await this.daemon.request("request/respond", answer));
      }
      case "cancelRun":
        return void (await this.daemon.request("run/cancel", { runId: message.runId }));
      case "editRun": {
        const value = this.runs().find((run) => run.id === message.runId)?.message.text ?? "";
        const text = await vscode.window.showInputBox({ value, prompt: vscode.l10n.t("The queued message") });
        if (text) await this.daemon.request("run/edit", { runId: message.runId, text });
        return;
      }
      case "moveUp":
        return void (await this.daemon.request("run/reorder", { runId: message.runId, beforeRunId: message.beforeRunId }));
      case "resumeQueue":
        return void (await this.daemon.request("queue/resume", { threadId: (await this.current()).id }));
      case "diff": {
        const run = this.runs().find((held) => held.id === message.runId);
        return run && showRun(this.daemon, this.workspace, run);
      }
      case "ready":
        return;
    }
  }

  private runs(): readonly Run[] {
    return [...(this.started?.following.model?.runs.values() ?? [])];
  }

  private async readProviders(): Promise<void> {
    this.providers = (await this.daemon.request("provider/list", {})).providers;
    this.changed.fire("reset");
  }

  private async openLast(): Promise<void> {
    const last = this.memory.get<string>(THREAD);
    const workspace = vscode.workspace.workspaceFolders?.[0]?.uri;
    if (workspace === undefined) return;
    const { threads } = await this.daemon.request("thread/list", { workspace: vscode.Uri.file(workspace.fsPath).toString() });
    const thread = threads.find((listed) => listed.id === last) ?? threads[0];
    if (thread !== undefined) await this.open(thread);
  }

  private stop(): void {
    this.started?.following.dispose();
    this.started?.daemon.dispose();
    this.started = undefined;
  }

  dispose(): void {
    this.stop();
    this.changed.dispose();
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
