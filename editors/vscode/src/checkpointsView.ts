/** The view of checkpoints: those of the open thread, whose title stands beside the view's own. */
import * as vscode from "vscode";
import { type CheckpointNode, CheckpointTree } from "./checkpointTree";
import type { Daemon } from "./client";
import type { Session } from "./session";
import { titleOf } from "./threadTree";

export class CheckpointsView implements vscode.Disposable {
  private heard: Daemon | undefined;
  private readonly tree: CheckpointTree;
  private readonly view: vscode.TreeView<CheckpointNode>;

  constructor(session: Session) {
    this.tree = new CheckpointTree(
      () => session.running,
      () => session.thread?.id,
    );
    this.view = vscode.window.createTreeView("midstream.checkpoints", {
      treeDataProvider: this.tree,
      showCollapseAll: true,
    });
    session.onChange((change) => {
      if (change !== "reset" && change.type !== "run" && change.type !== "thread") return;
      this.view.description = session.thread === undefined ? "" : titleOf(session.thread);
      this.hear(session.running);
      this.tree.refresh();
    });
  }

  refresh(): void {
    this.tree.refresh();
  }

  private hear(daemon: Daemon | undefined): void {
    if (daemon === undefined || daemon === this.heard) return;
    this.heard = daemon;
    for (const news of ["checkpoint/captured", "checkpoint/restored"] as const)
      daemon.on(news, () => this.tree.refresh());
  }

  dispose(): void {
    this.view.dispose();
    this.tree.dispose();
  }
}
