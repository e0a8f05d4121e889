/** Follows the thread that is shown: subscribes, stays in step, and tells the view what changed. */
import * as vscode from "vscode";
import type { Daemon } from "./client";
import type { Page, PageAnchor } from "./heldItems";
import type { Change } from "./messages";
import { ThreadModel } from "./threadModel";

const PAGE = 100;

/** A thread on its way to be shown; from its snapshot on it takes what happens meanwhile. */
interface Reading {
  readonly threadId: string;
  model?: ThreadModel;
}

export class Following implements vscode.Disposable {
  /** What is shown: a thread with its newest items, never one that is only half read. */
  model: ThreadModel | undefined;
  private reading: Reading | undefined;
  /** Settles once what was opened last is shown, or cannot be. */
  private opened: Promise<unknown> = Promise.resolve();
  private readonly changed = new vscode.EventEmitter<Change | "reset">();
  readonly onChange = this.changed.event;
  private readonly listeners: vscode.Disposable[];

  constructor(private readonly daemon: Pick<Daemon, "on" | "request">) {
    this.listeners = [
      daemon.on("thread/event", (event) => this.hear(event.threadId, (model) => model.apply(event))),
      daemon.on("run/output", (output) => this.hear(output.threadId, (model) => model.write(output))),
      daemon.on("thread/reset", ({ threadId }) => this.hear(threadId, () => "gap")),
      daemon.on("thread/deleted", ({ threadId }) => this.forget(threadId)),
    ];
  }

  /**
   * Show another thread, or the same one anew; until it is read, and where it cannot be, what is shown stays.
   *
   * Where another one is opened meanwhile, this settles with that one.
   */
  open(threadId: string): Promise<void> {
    const opening = this.read(threadId);
    this.opened = opening.catch(() => undefined);
    return opening;
  }

  private async read(threadId: string): Promise<void> {
    const reading: Reading = (this.reading = { threadId });
    try {
      const { snapshot } = await this.daemon.request("thread/subscribe", { threadId });
      if (snapshot === null || this.reading !== reading) return this.giveWay(reading);
      const model = (reading.model = new ThreadModel(snapshot));
      const page = await this.daemon.request("thread/items", { threadId, last: true, limit: PAGE });
      if (this.reading !== reading) return this.giveWay(reading);
      model.takeLast(page, page.sequence);
      const old = this.model?.thread.id;
      this.model = model;
      if (old !== undefined) this.leave(old);
    } finally {
      if (this.reading === reading) this.reading = undefined;
    }
    this.changed.fire("reset");
  }

  private async giveWay(reading: Reading): Promise<void> {
    this.leave(reading.threadId);
    if (this.reading !== undefined && this.reading !== reading) await this.opened;
  }

  /** Read a page that the view needs, without those between it and what is held. */
  async readPage(anchor: PageAnchor): Promise<void> {
    const model = this.model;
    if (model === undefined) return;
    const page = await this.page(model.thread.id, anchor);
    if (this.model !== model) return;
    model.items.takePage(page, anchor);
    this.changed.fire({ type: "page", page, anchor });
  }

  /** Have the model of a thread take what is told of it; the one that is read takes the place of the one that is shown. */
  private hear(threadId: string, take: (model: ThreadModel) => Change | "gap" | undefined): void {
    const { reading } = this;
    const model = reading?.threadId === threadId ? reading.model : this.model?.thread.id === threadId ? this.model : undefined;
    const change = model && take(model);
    if (change === "gap") void this.readAnew(threadId);
    else if (change !== undefined && model === this.model) this.changed.fire(change);
  }

  /** Read a thread that is out of step; one that is opened meanwhile goes before it. */
  private async readAnew(threadId: string): Promise<void> {
    if (this.reading !== undefined && this.reading.threadId !== threadId) {
      await this.opened;
      if (this.reading !== undefined || this.model?.thread.id !== threadId) return;
    }
    // Where it cannot be read anew, the daemon or the thread is gone, which is told in another way.
    await this.open(threadId).catch(() => undefined);
  }

  /** Hear no more of a thread, unless it is shown or read. */
  private leave(threadId: string): void {
    if (threadId === this.model?.thread.id || threadId === this.reading?.threadId) return;
    // One that is gone is left already.
    this.daemon.request("thread/unsubscribe", { threadId }).catch(() => undefined);
  }

  /** Show no thread where the one that was shown is gone. */
  private forget(threadId: string): void {
    if (this.reading?.threadId === threadId) this.reading = undefined;
    if (this.model?.thread.id !== threadId) return;
    this.model = undefined;
    this.changed.fire("reset");
  }

  private async page(threadId: string, anchor: PageAnchor): Promise<Page> {
    if ("first" in anchor) return this.daemon.request("thread/items", { threadId, limit: PAGE });
    if (!("runId" in anchor)) return this.daemon.request("thread/items", { threadId, limit: PAGE, ...anchor });
    const { items } = await this.daemon.request("thread/items", { threadId, limit: 1, runId: anchor.runId });
    const [first] = items;
    return this.page(threadId, first === undefined ? { first: true } : { aroundItemId: first.id });
  }

  dispose(): void {
    for (const listener of this.listeners) listener.dispose();
    this.changed.dispose();
  }
}
