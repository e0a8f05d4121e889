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
  /** The open thread that was selected last. */
  private selectedOpen: string | undefined;
  private selecting = false;
  /** The thread whose row was selected or clicked last. */
  private chosen: string | undefined;
  private readonly tree: ThreadTree;
  private readonly view: vscode.TreeView<string>;

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
    this.view.onDidChangeSelection(({ selection: [id] }) => (this.chosen = id ?? this.chosen));
    session.onChange((change) => {
      if (change !== "reset") return;
      this.hear(session.running);
      this.tree.refresh();
      void this.selectOpen();
    });
  }

  /** The thread that a key is about: the editor knows no selected row while it takes rows anew. */
  get selected(): Thread | undefined {
    return this.chosen === undefined ? undefined : this.find(this.chosen);
  }

  /** Open the thread of a row that was clicked. */
  async open(id: string): Promise<void> {
    this.chosen = id;
    await this.session.open(id);
  }

  find(id: string): Thread | undefined {
    return this.tree.find(id);
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

  /**
   * Select the thread that is open, once for each that is opened: then the user may look at another row.
   *
   * One after the other: a selection that comes late must not stand over what was opened meanwhile.
   */
  private async selectOpen(): Promise<void> {
    if (this.selecting) return;
    this.selecting = true;
    try {
      for (let open = this.unselected(); open !== undefined; open = this.unselected()) {
        // A row that was clicked is selected already.
        if (this.chosen !== open) await this.view.reveal(open, { select: true, focus: false });
        this.selectedOpen = open;
      }
    } catch {
      // A row that comes or goes just now cannot be selected: the tree's next change tries again.
    } finally {
      this.selecting = false;
    }
  }

  /** The open thread, where its row can be selected and was not. */
  private unselected(): string | undefined {
    const open = this.session.thread?.id;
    if (open === undefined || open === this.selectedOpen || !this.view.visible) return undefined;
    return this.find(open)?.id;
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
