/** The tree of threads, forks under their source. */
import * as vscode from "vscode";
import type { Daemon } from "./client";
import type { Thread } from "./protocol";

const ICONS: Record<Thread["status"], string> = { idle: "comment", queued: "clock", starting: "sync~spin", running: "sync~spin", waiting: "bell-dot" };

export class ThreadTree implements vscode.TreeDataProvider<Thread>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.changed.event;
  private threads: readonly Thread[] = [];
  private query = "";

  constructor(private readonly daemon: () => Daemon | undefined, private readonly workspace: () => string | undefined) {}

  refresh(query = this.query): void {
    this.query = query;
    this.changed.fire(undefined);
  }

  async getChildren(parent?: Thread): Promise<Thread[]> {
    if (parent === undefined) this.threads = await this.read();
    const ids = new Set(this.threads.map((thread) => thread.id));
    return this.threads.filter((thread) => {
      const source = thread.lineage.parentThreadId;
      return parent === undefined ? source === null || !ids.has(source) : source === parent.id;
    });
  }

  getTreeItem(thread: Thread): vscode.TreeItem {
    const parent = this.threads.some((other) => other.lineage.parentThreadId === thread.id);
    const states = vscode.TreeItemCollapsibleState;
    const item = new vscode.TreeItem(thread.title || vscode.l10n.t("New thread"), parent ? states.Expanded : states.None);
    const marks = [thread.selection.provider];
    if (thread.queueHeld) marks.push(vscode.l10n.t("queue held"));
    if (thread.pendingTransferIds.length > 0) marks.push(vscode.l10n.t("{0} to merge", thread.pendingTransferIds.length));
    item.id = thread.id;
    item.description = marks.join(" · ");
    item.iconPath = new vscode.ThemeIcon(thread.lineage.relationshipToParent === "fork" ? "repo-forked" : ICONS[thread.status]);
    item.contextValue = thread.lineage.relationshipToParent === "fork" ? "fork" : "thread";
    item.command = { command: "midstream.openThread", title: "", arguments: [thread] };
    return item;
  }

  private async read(): Promise<Thread[]> {
    const workspace = this.workspace();
    const daemon = this.daemon();
    if (daemon === undefined || workspace === undefined) return [];
    const { threads } = await daemon.request("thread/list", { workspace, limit: 200, ...(this.query === "" ? {} : { query: this.query }) });
    return threads;
  }

  dispose(): void {
    this.changed.dispose();
  }
}
