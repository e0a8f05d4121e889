/** One window's session: the daemon, the thread that is open, and who answers next in it. */
import * as vscode from "vscode";
import { isActive } from "./active";
import type { Daemon } from "./client";
import { messageOf } from "./errors";
import { Following } from "./following";
import type { PageAnchor } from "./heldItems";
import type { Change } from "./messages";
import { NextMessage } from "./nextMessage";
import type { ForkPoint, ModelSelection, Provider, Run, RuntimeRequest, Thread } from "./protocol";
import { Restarts } from "./restarts";
import type { ThreadModel } from "./threadModel";
import { wireUri } from "./uris";

const THREAD = "midstream.thread";

export class Session implements vscode.Disposable {
  private started: { readonly daemon: Daemon; readonly following: Following } | undefined;
  private providers: readonly Provider[] = [];
  /** Why nothing is running; null while it runs or starts. */
  problem: string | null = null;
  private starting: Promise<void> = Promise.resolve();
  /** Settles once the thread that the user opened last is the one that is shown, or cannot be. */
  private opening: Promise<unknown> = Promise.resolve();
  private readonly restarts = new Restarts();
  /** The item that a view is to go to, until one did. */
  private place: string | null = null;
  /** What is shown of a thread until the next daemon tells it. */
  private lostModel: ThreadModel | undefined;
  /** Settles once what was chosen last is the thread's: what is sent or previewed afterwards is by it. */
  private choosing: Promise<unknown> = Promise.resolve();
  private readonly changed = new vscode.EventEmitter<Change | "reset">();
  /** What changed of what the view shows. */
  readonly onChange = this.changed.event;
  readonly next: NextMessage;

  constructor(
    private readonly memory: vscode.Memento,
    private readonly log: vscode.LogOutputChannel,
    storage: vscode.Uri | undefined,
    private readonly launch: () => Promise<Daemon>,
  ) {
    this.next = new NextMessage(this, storage, (change) => this.changed.fire(change));
  }

  /** Start the daemon anew and open the thread that was open last; what goes wrong is shown in the view. */
  start(): Promise<void> {
    return (this.starting = this.starting.then(() => this.startAnew()));
  }

  private async startAnew(): Promise<void> {
    this.problem = null;
    await this.stop();
    this.changed.fire("reset");
    try {
      const daemon = await this.launch();
      const following = new Following(daemon);
      this.started = { daemon, following };
      following.onChange((change) => {
        if (change !== "reset" && change.type === "run") this.next.hearOf(change.run);
        this.changed.fire(change);
      });
      daemon.on("provider/changed", () => void this.readProviders());
      daemon.onLost(() => void this.recover());
      await this.readProviders();
      await this.openLast();
      this.lostModel = undefined;
      this.next.handoffs.closeSent().catch((error: unknown) => this.log.warn(messageOf(error)));
    } catch (error) {
      this.problem = messageOf(error);
      this.log.error(this.problem);
    }
    this.changed.fire("reset");
  }

  /** A daemon that is lost is started again by itself, but not over and over. */
  private async recover(): Promise<void> {
    if (this.restarts.allow(Date.now())) {
      const start = this.start();
      await start;
      // One that is lost while it starts is seen to by the next recovery.
      if (this.starting !== start) return;
    } else {
      await this.starting;
      await this.stop();
      this.problem = vscode.l10n.t("Midstream ended and does not stay up. Midstream: Show Log tells why; then restart it.");
      this.changed.fire("reset");
    }
    if (this.problem !== null) await offerRestart(this.problem);
  }

  get running(): Daemon | undefined {
    return this.started?.daemon;
  }

  get daemon(): Daemon {
    if (this.started === undefined) throw new Error(this.problem ?? vscode.l10n.t("Midstream is still starting."));
    return this.started.daemon;
  }

  /** The daemon, once it runs: documents that the editor brings back are read before. */
  async whenRunning(): Promise<Daemon> {
    await this.starting;
    return this.daemon;
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
    const model = this.started?.following.model ?? this.lostModel;
    const shown = {
      thread: model?.thread ?? null,
      runs: [...(model?.runs.values() ?? [])],
      items: model?.items.ordered() ?? [],
      requests: [...(model?.requests.values() ?? [])],
      providers: this.providers,
      gaps: [...(model?.items.gapsBefore() ?? [])],
      draft: this.next.draft.draft.text,
      attachments: this.next.draft.names,
      problem: this.problem,
      preview: this.next.previewed,
      place: this.place,
    };
    return { type: "reset", shown };
  }

  async open(threadId: string): Promise<void> {
    this.next.closePreview();
    const opened = this.started?.following.open(threadId);
    this.opening = Promise.allSettled([opened]);
    await opened;
    await this.memory.update(THREAD, threadId);
    if (this.thread !== undefined) this.next.previewEdited(this.thread);
  }

  /** Open a thread that may be gone by now: then the error says so, and what is open stays. */
  async openById(threadId: string): Promise<void> {
    await this.daemon.request("thread/read", { threadId });
    await this.open(threadId);
  }

  /** Open a thread at one of its items. */
  async openAt(threadId: string, itemId: string): Promise<void> {
    await this.openById(threadId);
    await this.started?.following.readPage({ aroundItemId: itemId });
    this.place = itemId;
    this.changed.fire({ type: "place", itemId });
  }

  /** The view went where it was to go. */
  arrive(): void {
    this.place = null;
  }

  /** Fork a thread and open the fork, whose title says of what it is one. */
  async fork(threadId: string, from: ForkPoint, source: Pick<Thread, "title"> | undefined): Promise<void> {
    const title = source?.title ? { title: vscode.l10n.t("Fork of {0}", source.title) } : {};
    const { thread } = await this.daemon.request("thread/fork", { threadId, from, ...title });
    await this.open(thread.id);
  }

  async create(): Promise<Thread> {
    const workspace = wireUri(this.workspace);
    const { thread } = await this.daemon.request("thread/create", { workspace });
    await this.open(thread.id);
    return thread;
  }

  /** The open thread, or a new one; while the daemon is started again, or a thread opened, this waits for it. */
  async current(): Promise<Thread> {
    await this.starting;
    await this.opening;
    return this.thread ?? (await this.create());
  }

  async interrupt(): Promise<void> {
    const active = this.runs().find(isActive);
    if (active !== undefined) await this.daemon.request("run/interrupt", { runId: active.id });
  }

  /** Set who answers next. */
  select(selection: ModelSelection): Promise<void> {
    return this.choose(async (threadId) => {
      const { thread } = await this.daemon.request("provider/switch", { threadId, selection });
      this.next.previewEdited(thread);
    });
  }

  /** Set what agents may do without asking. */
  allow(runtimeMode: Thread["runtimeMode"]): Promise<void> {
    return this.choose((threadId) => this.daemon.request("thread/update", { threadId, runtimeMode }));
  }

  private async choose(set: (threadId: string) => Promise<unknown>): Promise<void> {
    this.next.closePreview();
    const before = this.choosing.catch(() => undefined);
    const choosing = before.then(() => this.current()).then(({ id }) => set(id));
    this.choosing = choosing;
    await choosing.finally(() => this.choosing === choosing && (this.choosing = Promise.resolve()));
  }

  /** The thread that a message goes to, once what was chosen last is the thread's. */
  async settled(): Promise<Thread> {
    await this.choosing;
    return this.current();
  }

  request(id: string): RuntimeRequest | undefined {
    return this.started?.following.model?.requests.get(id);
  }

  run(id: string): Run | undefined {
    return this.started?.following.model?.runs.get(id);
  }

  async readPage(anchor: PageAnchor): Promise<void> {
    await this.started?.following.readPage(anchor);
  }

  async readProviders(refresh = false): Promise<void> {
    this.providers = (await this.daemon.request("provider/list", { refresh })).providers;
    this.changed.fire("reset");
  }

  private runs(): readonly Run[] {
    return [...(this.started?.following.model?.runs.values() ?? [])];
  }

  private async openLast(): Promise<void> {
    const last = this.memory.get<string>(THREAD);
    const workspace = vscode.workspace.workspaceFolders?.[0]?.uri;
    if (workspace === undefined) return;
    const { threads } = await this.daemon.request("thread/list", { workspace: wireUri(workspace) });
    const thread = threads.find((listed) => listed.id === last) ?? threads[0];
    if (thread !== undefined) await this.open(thread.id);
  }

  private async stop(): Promise<void> {
    const started = this.started;
    this.lostModel = started?.following.model ?? this.lostModel;
    this.started = undefined;
    started?.following.dispose();
    await started?.daemon.end();
  }

  dispose(): void {
    void this.stop();
    this.next.dispose();
    this.changed.dispose();
  }
}

async function offerRestart(problem: string): Promise<void> {
  const restart = vscode.l10n.t("Restart");
  if ((await vscode.window.showErrorMessage(problem, restart)) === restart) await vscode.commands.executeCommand("midstream.restart");
}
