/** The view of threads: keeps its tree up to date, and says whether all are shown. */
import * as vscode from "vscode";
import type { Daemon } from "./client";
import type { Thread } from "./protocol";
import type { Session } from "./session";
import { ThreadTree } from "./threadTree";
import { wireUri } from "./uris";

export class ThreadsView implements vscode.Disposable {
  private title = "";
  private archived = false;
  private heard: Daemon | undefined;
  private selectedOpen: string | undefined;
  private readonly tree: ThreadTree;
  private readonly view: vscode.TreeView<Thread>;

  constructor(private readonly session: Session) {
    const workspace = () => vscode.workspace.workspaceFolders && wireUri(session.workspace);
    this.tree = new ThreadTree(
      () => session.running,
      workspace,
      () => ({ title: this.title, archived: this.archived }),
    );
    this.view = vscode.window.createTreeView("midstream.threads", {
      treeDataProvider: this.tree,
      showCollapseAll: true,
    });
    this.tree.onDidChangeTreeData(() => {
      this.describe(this.tree.getChildren().length);
      void this.selectOpen();
    });
    // A row can be selected once the editor has taken it, for which it waits only after news.
    this.view.onDidChangeVisibility(({ visible }) => visible && this.tree.showAnew());
    session.onChange((change) => {
      if (change !== "reset") return;
      this.hear(session.running);
      this.tree.refresh();
      void this.selectOpen();
    });
  }

  /** The thread that is selected in the tree. */
  get selected(): Thread | undefined {
    return this.view.selection[0];
  }

  refresh(): void {
    this.tree.refresh();
  }

  async askForFilter(): Promise<void> {
    const prompt = vscode.l10n.t("Threads whose title contains");
    const title = await vscode.window.showInputBox({ prompt, value: this.title });
    if (title !== undefined) this.filter(title);
  }

  filter(title: string): void {
    this.title = title;
    void vscode.commands.executeCommand("setContext", "midstream.threadsFiltered", title !== "");
    this.tree.refresh();
  }

  showArchived(archived: boolean): void {
    this.archived = archived;
    void vscode.commands.executeCommand("setContext", "midstream.archivedShown", archived);
    this.tree.refresh();
  }

  /** Select the thread that is open, once for each that is opened: then the user may look at another row. */
  private async selectOpen(): Promise<void> {
    const open = this.session.thread?.id;
    const row = open === undefined ? undefined : this.tree.find(open);
    if (row === undefined || row.id === this.selectedOpen || !this.view.visible) return;
    this.selectedOpen = row.id;
    try {
      await this.view.reveal(row, { select: true, focus: false });
    } catch {
      // A row that comes or goes just now cannot be selected: the tree's next change tries again.
      this.selectedOpen = undefined;
    }
  }

  private describe(count: number): void {
    const filtered =
      count > 0
        ? vscode.l10n.t("Only threads whose title contains “{0}”.", this.title)
        : vscode.l10n.t("No thread's title contains “{0}”.", this.title);
    this.view.message = this.title === "" ? "" : filtered;
  }

  /** Refresh whenever any thread changed, not only the open one. */
  private hear(daemon: Daemon | undefined): void {
    if (daemon === undefined || daemon === this.heard) return;
    this.heard = daemon;
    for (const news of ["thread/changed", "thread/deleted", "request/opened", "request/closed"] as const)
      daemon.on(news, () => this.tree.refresh());
  }

  dispose(): void {
    this.view.dispose();
    this.tree.dispose();
  }
}
