/** Follows the thread that is shown: subscribes, stays in step, and tells the view what changed. */
import * as vscode from "vscode";
import type { Daemon } from "./client";
import type { Change } from "./messages";
import { ThreadModel } from "./threadModel";

const PAGE = 100;

export class Following implements vscode.Disposable {
  model: ThreadModel | undefined;
  earlier: string | null = null;
  private threadId: string | undefined;
  private readonly changed = new vscode.EventEmitter<Change | "reset">();
  readonly onChange = this.changed.event;
  private readonly listeners: vscode.Disposable[];

  constructor(private readonly daemon: Daemon) {
    this.listeners = [
      daemon.on("thread/event", (event) => event.threadId === this.threadId && this.tell(this.model?.apply(event))),
      daemon.on("run/output", (output) => output.threadId === this.threadId && this.tell(this.model?.write(output))),
      daemon.on("thread/reset", ({ threadId }) => threadId === this.threadId && void this.open(threadId)),
      daemon.onRestarted(() => this.threadId !== undefined && void this.open(this.threadId)),
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
    model.takePage(page.items, page.sequence);
    this.earlier = page.previousItemId;
    this.changed.fire("reset");
  }

  /** Read the page before the first item that is held. */
  async readEarlier(): Promise<void> {
    const [model, before] = [this.model, this.earlier];
    if (model === undefined || before === null) return;
    const page = await this.daemon.request("thread/items", { threadId: model.thread.id, beforeItemId: before, limit: PAGE });
    if (this.model !== model || this.earlier !== before) return;
    model.takePage(page.items, 0);
    this.earlier = page.previousItemId;
    this.changed.fire({ type: "earlier", items: page.items, earlier: this.earlier !== null });
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
