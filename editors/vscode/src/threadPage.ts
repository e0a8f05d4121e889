/** One webview that shows the thread: it gets numbered batches once it said that it is ready. */
import { randomBytes } from "node:crypto";
import * as vscode from "vscode";
import type { Batch, Change, FromView } from "./messages";

/** What comes within this time of a batch waits for the next one. */
const BATCH_MILLISECONDS = 40;

export class ThreadPage implements vscode.Disposable {
  private ready = false;
  private number = 0;
  private pending: Change[] = [];
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly webview: vscode.Webview,
    private readonly folder: vscode.Uri,
    private readonly whole: () => Change,
    hear: (message: FromView) => Promise<void>,
  ) {
    webview.options = { enableScripts: true, localResourceRoots: [folder] };
    webview.onDidReceiveMessage(async (message: FromView) => {
      if (message.type !== "ready") return hear(message);
      this.ready = true;
      this.number = 0;
      this.reset();
    });
    webview.html = this.html();
  }

  /** Replace all that the page shows. */
  reset(): void {
    this.pending = [];
    this.tell(this.whole());
  }

  tell(change: Change): void {
    if (!this.ready) return;
    this.pending.push(change);
    if (this.timer === undefined) this.flush();
  }

  /** Send nothing until the page says again that it is ready: the editor has dropped what it showed. */
  pause(): void {
    this.ready = false;
    this.pending = [];
  }

  private flush(): void {
    this.timer = undefined;
    if (!this.ready || this.pending.length === 0) return;
    const batch: Batch = { number: (this.number += 1), changes: this.pending };
    this.pending = [];
    void this.webview.postMessage(batch);
    this.timer = setTimeout(() => this.flush(), BATCH_MILLISECONDS);
  }

  private html(): string {
    const nonce = randomBytes(16).toString("base64");
    const uri = (...path: string[]) => this.webview.asWebviewUri(vscode.Uri.joinPath(this.folder, ...path)).toString();
    const policy = `default-src 'none'; style-src ${this.webview.cspSource}; script-src 'nonce-${nonce}'`;
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
    this.pause();
    clearTimeout(this.timer);
  }
}

function attribute(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll('"', "&quot;");
}
