/** Follows the thread that is shown: subscribes, stays in step, and tells the view what changed. */
import * as vscode from "vscode";
import type { Daemon } from "./client";
import type { Page, PageAnchor } from "./heldItems";
import type { Change } from "./messages";
import { ThreadModel } from "./threadModel";

const PAGE = 100;

export class Following implements vscode.Disposable {
  model: ThreadModel | undefined;
  private threadId: string | undefined;
  private readonly changed = new vscode.EventEmitter<Change | "reset">();
  readonly onChange = this.changed.event;
  private readonly listeners: vscode.Disposable[];

  constructor(private readonly daemon: Daemon) {
    this.listeners = [
      daemon.on("thread/event", (event) => event.threadId === this.threadId && this.tell(this.model?.apply(event))),
      daemon.on("run/output", (output) => output.threadId === this.threadId && this.tell(this.model?.write(output))),
      daemon.on("thread/reset", ({ threadId }) => threadId === this.threadId && void this.open(threadId)),
      daemon.on("thread/deleted", ({ threadId }) => threadId === this.threadId && this.forget()),
    ];
  }

  /** Show another thread, or the same one anew. */
  async open(threadId: string): Promise<void> {
    if (this.threadId !== undefined && this.threadId !== threadId) void this.daemon.request("thread/unsubscribe", { threadId: this.threadId });
    this.threadId = threadId;
    this.model = undefined;
    const { snapshot } = await this.daemon.request("thread/subscribe", { threadId });
    if (snapshot === null || this.threadId !== threadId) return;
    const model = (this.model = new ThreadModel(snapshot));
    const page = await this.daemon.request("thread/items", { threadId, last: true, limit: PAGE });
    if (this.model !== model) return;
    model.takeLast(page, page.sequence);
    this.changed.fire("reset");
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

  /** Show no thread: the one that was shown is gone. */
  private forget(): void {
    this.threadId = undefined;
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

  private tell(change: Change | "gap" | undefined): void {
    if (change === "gap") void this.open(this.threadId!);
    else if (change !== undefined) this.changed.fire(change);
  }

  dispose(): void {
    for (const listener of this.listeners) listener.dispose();
    this.changed.dispose();
  }
}
