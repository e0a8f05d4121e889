/**
 * The tree of threads: forks and delegated work under their source, with what waits and what is held.
 *
 * The editor is given ids: it knows a row by what it was given, and a thread is another object at each reading.
 */
import * as vscode from "vscode";
import type { Daemon } from "./client";
import type { ContextTransfer, Thread, ThreadListResult } from "./protocol";
import { Rereading } from "./rereading";
import { ThreadFamily } from "./threadFamily";
import { iconOf, menuContext, type Sign, signsOf, type Surroundings } from "./threadSigns";

const PAGE = 500;

export interface Listing {
  readonly title: string;
  readonly archived: boolean;
}

export class ThreadTree implements vscode.TreeDataProvider<string>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.changed.event;
  private readonly rereading = new Rereading(
    () => this.read(),
    () => this.changed.fire(undefined),
  );
  private family = new ThreadFamily([]);
  private around: Surroundings = { asking: new Set(), aboveAsking: new Set(), mergeBacks: new Map() };

  constructor(
    private readonly daemon: () => Daemon | undefined,
    private readonly workspace: () => string | undefined,
    private readonly listing: () => Listing,
  ) {}

  /** Read all anew and then show it: the editor knows no row while it waits for the rows that it asked for. */
  refresh(): void {
    void this.rereading.request();
  }

  /** Have the editor take all rows anew. */
  showAnew(): void {
    this.changed.fire(undefined);
  }

  /** A thread that is shown in the tree. */
  find(id: string): Thread | undefined {
    return this.family.find(id);
  }

  getChildren(parent?: string): string[] {
    return this.family.childrenOf(parent).map(({ id }) => id);
  }

  getParent(id: string): string | undefined {
    return this.family.parentOf(this.listed(id))?.id;
  }

  getTreeItem(id: string): vscode.TreeItem {
    const thread = this.listed(id);
    const { Expanded, None } = vscode.TreeItemCollapsibleState;
    const title = titleOf(thread);
    const signs = signsOf(thread, this.around);
    const said = this.saidOf(thread);
    const above = this.family.childrenOf(id).length > 0;
    const item = new vscode.TreeItem(title, above ? Expanded : None);
    // The editor keeps a row that it knows closed: one that gets its first child is a new row, and open.
    item.id = above ? `${id}+` : id;
    item.description = said.join(" · ");
    item.tooltip = [title, ...said, ...origin(thread)].join("\n");
    item.accessibilityInformation = { label: [title, ...said, ...origin(thread)].join(", ") };
    const urgent = signs[0] === "waits" || signs[0] === "childWaits";
    item.iconPath = new vscode.ThemeIcon(
      iconOf(thread, signs),
      urgent ? new vscode.ThemeColor("notificationsWarningIcon.foreground") : undefined,
    );
    item.contextValue = menuContext(thread, signs);
    item.command = { command: "midstream.openThread", title: "", arguments: [id] };
    return item;
  }

  private listed(id: string): Thread {
    const thread = this.find(id);
    if (thread === undefined) throw new Error(vscode.l10n.t("The thread is not listed any more."));
    return thread;
  }

  private saidOf(thread: Thread): string[] {
    return [thread.selection.provider, ...signsOf(thread, this.around).map((sign) => this.wordsFor(sign, thread))];
  }

  private wordsFor(sign: Sign, { id }: Thread): string {
    switch (sign) {
      case "waits":
        return vscode.l10n.t("waits for you");
      case "childWaits":
        return vscode.l10n.t("one below waits for you");
      case "running":
        return vscode.l10n.t("at work");
      case "queued":
        return vscode.l10n.t("queued");
      case "held":
        return vscode.l10n.t("queue held");
      case "mergeBacks":
        return vscode.l10n.t("{0} to merge", this.around.mergeBacks.get(id) ?? 0);
      case "archived":
        return vscode.l10n.t("archived");
    }
  }

  private async read(): Promise<string> {
    const [daemon, workspace] = [this.daemon(), this.workspace()];
    const kinds = this.listing().archived ? [false, true] : [false];
    const known = daemon !== undefined && workspace !== undefined;
    const threads = known
      ? (await Promise.all(kinds.map((archived) => allThreads(daemon, workspace, archived)))).flat()
      : [];
    const receiving = threads.filter((thread) => thread.pendingTransferIds.length > 0);
    const [requests, transfers] = await Promise.all([
      daemon?.request("request/list", {}).then((list) => list.requests) ?? [],
      Promise.all(receiving.map(async (thread) => [thread.id, await pendingTransfers(daemon!, thread.id)] as const)),
    ]);
    const asking = new Set(requests.map((request) => request.threadId));
    const mergeBacks = transfers.map(
      ([id, pending]) => [id, pending.filter(({ type }) => type === "merge_back").length] as const,
    );
    this.family = new ThreadFamily(threads, this.listing().title);
    this.around = {
      asking,
      aboveAsking: this.family.above(asking),
      mergeBacks: new Map(mergeBacks.filter(([, count]) => count > 0)),
    };
    const rows = threads.map((thread) => [thread.id, titleOf(thread), ...this.saidOf(thread), ...origin(thread)]);
    return JSON.stringify([this.listing(), rows, threads.map(({ pendingTransferIds }) => pendingTransferIds.length > 0)]);
  }

  dispose(): void {
    this.changed.dispose();
  }
}

export function titleOf({ title }: Pick<Thread, "title">): string {
  return title || vscode.l10n.t("New thread");
}

/** What the next message of a thread will carry. */
export async function pendingTransfers(daemon: Daemon, threadId: string): Promise<ContextTransfer[]> {
  const { transfers } = await daemon.request("transfer/list", { threadId });
  return transfers.filter(({ status, targetThreadId }) => status === "pending" && targetThreadId === threadId);
}

function origin({ lineage }: Thread): string[] {
  if (lineage.relationshipToParent === "fork") return [vscode.l10n.t("a fork")];
  return lineage.relationshipToParent === "subagent" ? [vscode.l10n.t("work that another thread gave away")] : [];
}

async function allThreads(daemon: Daemon, workspace: string, archived: boolean): Promise<Thread[]> {
  const found: Thread[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const place = cursor === "" ? {} : { cursor };
    const page: ThreadListResult = await daemon.request("thread/list", { workspace, archived, limit: PAGE, ...place });
    found.push(...page.threads);
    cursor = page.nextCursor;
  }
  return found;
}
