/** One window's session: the daemon, the thread that is open, and what is to be sent. */
import * as vscode from "vscode";
import { isActive } from "./active";
import { labelOf } from "./attachments";
import type { Daemon } from "./client";
import { type Draft, DraftStore } from "./draft";
import { messageOf } from "./errors";
import { Following } from "./following";
import { HandoffDocuments } from "./handoffDocuments";
import type { PageAnchor } from "./heldItems";
import type { Change, Delivery } from "./messages";
import { type Preview, previewOf, replaced } from "./preview";
import type { Attachment, ForkPoint, ModelSelection, Provider, Run, RuntimeRequest, Thread } from "./protocol";
import { Restarts } from "./restarts";
import { startRun } from "./sending";
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
  /** What is shown of a thread until the next daemon tells it. */
  private lostModel: ThreadModel | undefined;
  /** Settles once what was chosen last is the thread's: what is sent or previewed afterwards is by it. */
  private choosing: Promise<unknown> = Promise.resolve();
  private readonly changed = new vscode.EventEmitter<Change | "reset">();
  /** What changed of what the view shows. */
  readonly onChange = this.changed.event;
  readonly draft: DraftStore;
  readonly handoffs = new HandoffDocuments(() => this.daemon);
  /** What the user looked at before they send: the next message goes with just that. */
  previewed: Preview | null = null;

  constructor(
    private readonly memory: vscode.Memento,
    private readonly log: vscode.LogOutputChannel,
    storage: vscode.Uri | undefined,
    private readonly launch: () => Promise<Daemon>,
  ) {
    this.draft = new DraftStore(storage && vscode.Uri.joinPath(storage, "draft.json").fsPath, labelOf);
    this.handoffs.onReplaced(({ oldId, handoff }) => this.previewed && this.show(replaced(this.previewed, oldId, handoff)));
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
        if (change !== "reset" && change.type === "run") this.closePreview();
        this.changed.fire(change);
      });
      daemon.on("provider/changed", () => void this.readProviders());
      daemon.onLost(() => void this.recover());
      await this.readProviders();
      await this.openLast();
      this.lostModel = undefined;
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
      draft: this.draft.draft.text,
      attachments: this.draft.names,
      problem: this.problem,
      preview: this.previewed,
    };
    return { type: "reset", shown };
  }

  async open(thread: Thread): Promise<void> {
    this.closePreview();
    const opened = this.started?.following.open(thread.id);
    this.opening = Promise.allSettled([opened]);
    await opened;
    await this.memory.update(THREAD, thread.id);
  }

  /** Open a thread that may be gone by now: then the error says so, and what is open stays. */
  async openById(threadId: string): Promise<void> {
    await this.open((await this.daemon.request("thread/read", { threadId })).thread);
  }

  /** Fork a thread and open the fork. */
  async fork(threadId: string, from: ForkPoint): Promise<void> {
    await this.open((await this.daemon.request("thread/fork", { threadId, from })).thread);
  }

  async create(): Promise<Thread> {
    const workspace = wireUri(this.workspace);
    const { thread } = await this.daemon.request("thread/create", { workspace });
    await this.open(thread);
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
    return this.choose((threadId) => this.daemon.request("provider/switch", { threadId, selection }));
  }

  /** Set what agents may do without asking. */
  allow(runtimeMode: Thread["runtimeMode"]): Promise<void> {
    return this.choose((threadId) => this.daemon.request("thread/update", { threadId, runtimeMode }));
  }

  private async choose(set: (threadId: string) => Promise<unknown>): Promise<void> {
    this.closePreview();
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

  /** Look at what the next agent would be told. */
  async preview(): Promise<void> {
    const { id, selection } = await this.settled();
    this.show(previewOf(await this.daemon.request("handoff/preview", { threadId: id }), selection.provider));
  }

  closePreview(): void {
    if (this.previewed !== null) this.show(null);
  }

  private show(preview: Preview | null): void {
    this.previewed = preview;
    this.changed.fire({ type: "preview", preview });
  }

  /** Send a message, with the handoffs that were looked at. */
  async send(text: string, delivery: Delivery): Promise<void> {
    const handoffIds = this.previewed?.handoffs.map(({ id }) => id) ?? [];
    const taken = this.draft.take(text);
    this.tellAttachments();
    try {
      const { id } = await this.settled();
      await startRun(this.daemon, { threadId: id, message: { text, attachments: [...taken.attachments] }, delivery, handoffIds });
    } catch (error) {
      this.takeBack(taken);
      throw error;
    }
  }

  /** Have what could not be sent in the composer again. */
  takeBack(unsent: Draft): void {
    this.draft.putBack(unsent);
    this.changed.fire({ type: "unsent", text: unsent.text });
    this.tellAttachments();
  }

  async attach(attachments: readonly Attachment[]): Promise<void> {
    this.draft.attach(attachments);
    this.tellAttachments();
  }

  async detach(name: string): Promise<void> {
    this.draft.detach(name);
    this.tellAttachments();
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

  private tellAttachments(): void {
    this.changed.fire({ type: "attachments", attachments: this.draft.names });
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
    if (thread !== undefined) await this.open(thread);
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
    this.handoffs.dispose();
    this.changed.dispose();
  }
}

async function offerRestart(problem: string): Promise<void> {
  const restart = vscode.l10n.t("Restart");
  if ((await vscode.window.showErrorMessage(problem, restart)) === restart) await vscode.commands.executeCommand("midstream.restart");
}
