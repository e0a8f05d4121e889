/** The thread view: a webview that gets numbered batches once it said that it is ready. */
import { randomBytes } from "node:crypto";
import * as vscode from "vscode";
import type { Batch, Change, FromView } from "./messages";

const BATCH_MILLISECONDS = 40;

export class ThreadView implements vscode.WebviewViewProvider, vscode.Disposable {
  private view: vscode.WebviewView | undefined;
  private ready = false;
  private number = 0;
  private pending: Change[] = [];
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly folder: vscode.Uri,
    private readonly whole: () => Change,
    private readonly hear: (message: FromView) => Promise<void>,
  ) {}

  get visible(): boolean {
    return this.view?.visible ?? false;
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    this.view = view;
    this.ready = false;
    view.webview.options = { enableScripts: true, localResourceRoots: [this.folder] };
    view.webview.onDidReceiveMessage(async (message: FromView) => {
      if (message.type !== "ready") return this.hear(message);
      this.ready = true;
      this.number = 0;
      this.reset();
    });
    view.onDidDispose(() => {
      this.view = undefined;
      this.ready = false;
    });
    view.webview.html = this.page(view.webview);
  }

  /** Replace all that the view shows. */
  reset(): void {
    this.pending = [];
    this.tell(this.whole());
  }

  tell(change: Change): void {
    if (!this.ready) return;
    this.pending.push(change);
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      if (!this.ready || this.pending.length === 0) return;
      const batch: Batch = { number: (this.number += 1), changes: this.pending };
      this.pending = [];
      void this.view?.webview.postMessage(batch);
    }, BATCH_MILLISECONDS);
  }

  private page(webview: vscode.Webview): string {
    const nonce = randomBytes(16).toString("base64");
    const uri = (...path: string[]) => webview.asWebviewUri(vscode.Uri.joinPath(this.folder, ...path)).toString();
    const policy = `default-src 'none'; style-src ${webview.cspSource}; script-src 'nonce-${nonce}'`;
    return `<!doctype html>
<html lang="${vscode.env.language}">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>Midstream</title>
<link rel="stylesheet" href="${uri("media", "view.css")}">
</head>
<body data-l10n="${attribute(JSON.stringify(vscode.l10n.bundle ?? {}))}">
<main></main>
<script nonce="${nonce}" src="${uri("dist", "view.js")}"></script>
</body>
</html>`;
  }

  dispose(): void {
    clearTimeout(this.timer);
  }
}

function attribute(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll('"', "&quot;");
}
