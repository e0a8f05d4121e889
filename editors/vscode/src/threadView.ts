/** Where the thread is shown: a view in the side bar, and editor tabs. */
import * as vscode from "vscode";
import type { Change, FromView } from "./messages";
import { ThreadPage } from "./threadPage";

export const THREAD_PANEL = "midstream.thread";

/** What both kinds of place have: a webview that is in sight or not. */
type Place = vscode.WebviewView | vscode.WebviewPanel;

export class ThreadView implements vscode.WebviewViewProvider, vscode.WebviewPanelSerializer, vscode.Disposable {
  private readonly pages = new Map<Place, ThreadPage>();

  constructor(
    private readonly folder: vscode.Uri,
    private readonly whole: () => Change,
    private readonly hear: (message: FromView) => Promise<void>,
  ) {}

  /** Whether the thread is in sight anywhere. */
  get visible(): boolean {
    return [...this.pages.keys()].some((place) => place.visible);
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    const page = this.show(view);
    view.onDidChangeVisibility(() => view.visible || page.pause());
  }

  /** Show the thread in an editor tab. */
  openPanel(): void {
    this.keepPanel(vscode.window.createWebviewPanel(THREAD_PANEL, "Midstream", vscode.ViewColumn.Active, { enableFindWidget: true }));
  }

  /** Take over a tab that the editor kept over a reload. */
  async deserializeWebviewPanel(panel: vscode.WebviewPanel): Promise<void> {
    this.keepPanel(panel);
  }

  reset(): void {
    for (const page of this.pages.values()) page.reset();
  }

  tell(change: Change): void {
    for (const page of this.pages.values()) page.tell(change);
  }

  private keepPanel(panel: vscode.WebviewPanel): void {
    panel.iconPath = vscode.Uri.joinPath(this.folder, "media", "icon.svg");
    const page = this.show(panel);
    panel.onDidChangeViewState(() => panel.visible || page.pause());
  }

  private show(place: Place): ThreadPage {
    const page = new ThreadPage(place.webview, this.folder, this.whole, this.hear);
    this.pages.set(place, page);
    place.onDidDispose(() => {
      page.dispose();
      this.pages.delete(place);
    });
    return page;
  }

  dispose(): void {
    for (const page of this.pages.values()) page.dispose();
  }
}
