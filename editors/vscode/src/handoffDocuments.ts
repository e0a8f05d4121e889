/** Handoffs as editable documents, `midstream-handoff:/<id>/Handoff.md`: saved ones become `manual_context`. */
import * as vscode from "vscode";
import type { Daemon } from "./client";
import type { ContextHandoff } from "./protocol";

export const HANDOFF_SCHEME = "midstream-handoff";

export class HandoffDocuments implements vscode.FileSystemProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  readonly onDidChangeFile = this.changed.event;
  /** By the id in the document's address, which stays while each save makes a new handoff. */
  private readonly current = new Map<string, ContextHandoff>();

  constructor(private readonly daemon: () => Daemon) {}

  static uri(handoffId: string): vscode.Uri {
    return vscode.Uri.from({ scheme: HANDOFF_SCHEME, path: `/${handoffId}/Handoff.md` });
  }

  /** The handoff that a document stands for now. */
  async of(uri: vscode.Uri): Promise<ContextHandoff> {
    const id = idOf(uri);
    const held = this.current.get(id);
    if (held !== undefined) return held;
    const { handoff } = await this.daemon().request("handoff/read", { handoffId: id });
    this.current.set(id, handoff);
    return handoff;
  }

  /** Put another handoff in the place of the one that a document stands for. */
  replace(uri: vscode.Uri, handoff: ContextHandoff): void {
    this.current.set(idOf(uri), handoff);
    this.changed.fire([{ type: vscode.FileChangeType.Changed, uri }]);
  }

  async readFile(uri: vscode.Uri): Promise<Uint8Array> {
    const handoff = await this.of(uri);
    return Buffer.from(handoff.delivery === null ? handoff.summaryText : handoff.sentText);
  }

  async writeFile(uri: vscode.Uri, content: Uint8Array): Promise<void> {
    const { id } = await this.of(uri);
    const { handoff } = await this.daemon().request("handoff/edit", { handoffId: id, summaryText: Buffer.from(content).toString() });
    this.replace(uri, handoff);
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
  }
}

function idOf(uri: vscode.Uri): string {
  return uri.path.split("/")[1] ?? "";
}
