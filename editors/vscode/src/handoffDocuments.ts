/** Handoffs as editable documents, `midstream-handoff:/Handoff.md?<id>`: saved ones become `manual_context`. */
import * as vscode from "vscode";
import type { Daemon } from "./client";
import type { ContextHandoff } from "./protocol";

export const HANDOFF_SCHEME = "midstream-handoff";

export class HandoffDocuments implements vscode.FileSystemProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  readonly onDidChangeFile = this.changed.event;
  /** By the id in the document's address, which stays while each save makes a new handoff. */
  private readonly current = new Map<string, ContextHandoff>();

  private readonly superseded = new vscode.EventEmitter<{ readonly oldId: string; readonly handoff: ContextHandoff }>();
  /** A handoff stands in the place of another one. */
  readonly onReplaced = this.superseded.event;

  constructor(private readonly daemon: () => Daemon) {}

  static uri(handoffId: string): vscode.Uri {
    return vscode.Uri.from({ scheme: HANDOFF_SCHEME, path: "/Handoff.md", query: handoffId });
  }

  /** Show a handoff as it is now: editable until it is sent. */
  async open(handoffId: string): Promise<void> {
    const { handoff } = await this.daemon().request("handoff/read", { handoffId });
    const [id] = [...this.current].find(([, held]) => held.id === handoffId) ?? [handoffId];
    const uri = HandoffDocuments.uri(id);
    this.current.set(id, handoff);
    this.changed.fire([{ type: vscode.FileChangeType.Changed, uri }]);
    await vscode.window.showTextDocument(uri, { preview: false });
  }

  /** The handoff that a document stands for now. */
  async of(uri: vscode.Uri): Promise<ContextHandoff> {
    const id = uri.query;
    const held = this.current.get(id);
    if (held !== undefined) return held;
    const { handoff } = await this.daemon().request("handoff/read", { handoffId: id });
    this.current.set(id, handoff);
    return handoff;
  }

  /** Put a handoff in the place of the one that it was made from. */
  replace(old: ContextHandoff, handoff: ContextHandoff): void {
    for (const [id, held] of this.current) {
      if (held.id !== old.id) continue;
      this.current.set(id, handoff);
      this.changed.fire([{ type: vscode.FileChangeType.Changed, uri: HandoffDocuments.uri(id) }]);
    }
    this.superseded.fire({ oldId: old.id, handoff });
  }

  async readFile(uri: vscode.Uri): Promise<Uint8Array> {
    const handoff = await this.of(uri);
    return Buffer.from(handoff.delivery === null ? handoff.summaryText : handoff.sentText);
  }

  async writeFile(uri: vscode.Uri, content: Uint8Array): Promise<void> {
    const old = await this.of(uri);
    const summaryText = Buffer.from(content).toString();
    this.replace(old, (await this.daemon().request("handoff/edit", { handoffId: old.id, summaryText })).handoff);
  }

  async stat(uri: vscode.Uri): Promise<vscode.FileStat> {
    const handoff = await this.of(uri);
    const size = (await this.readFile(uri)).length;
    const fixed = handoff.delivery !== null || !this.daemon().answers("handoff/edit");
    const mtime = Date.parse(handoff.updatedAt);
    return { type: vscode.FileType.File, ctime: Date.parse(handoff.createdAt), mtime, size, ...(fixed ? { permissions: vscode.FilePermission.Readonly } : {}) };
  }

  watch(): vscode.Disposable {
    return new vscode.Disposable(() => undefined);
  }

  readDirectory(): [string, vscode.FileType][] {
    return [];
  }

  createDirectory(): void {
    throw vscode.FileSystemError.NoPermissions();
  }

  delete(): void {
    throw vscode.FileSystemError.NoPermissions();
  }

  rename(): void {
    throw vscode.FileSystemError.NoPermissions();
  }

  dispose(): void {
    this.changed.dispose();
    this.superseded.dispose();
  }
}
