/**
 * Handoffs as documents: `midstream-handoff:/Handoff.md?<id>` can be edited, and what is saved becomes `manual_context`;
 * `midstream-handoff:/Sent handoff.md?<id>` is what was sent.
 */
import * as vscode from "vscode";
import type { Daemon } from "./client";
import { tellsOfFork } from "./preview";
import type { ContextHandoff } from "./protocol";

export const HANDOFF_SCHEME = "midstream-handoff";
const SENT = "/Sent handoff.md";

export class HandoffDocuments implements vscode.FileSystemProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  readonly onDidChangeFile = this.changed.event;
  /** By the id in the document's address, which stays while each save makes a new handoff. */
  private readonly current = new Map<string, ContextHandoff>();

  private readonly superseded = new vscode.EventEmitter<{ readonly oldId: string; readonly handoff: ContextHandoff }>();
  /** A handoff stands in the place of another one. */
  readonly onReplaced = this.superseded.event;

  constructor(private readonly daemon: () => Promise<Daemon>) {}

  static uri(handoffId: string): vscode.Uri {
    return vscode.Uri.from({ scheme: HANDOFF_SCHEME, path: "/Handoff.md", query: handoffId });
  }

  /** Show a handoff as it is now: to be edited, or as it was sent, whatever was made of its editable document. */
  async open(handoffId: string): Promise<void> {
    const handoff = await this.read(handoffId);
    const [id] = [...this.current].find(([, held]) => held.id === handoffId) ?? [handoffId];
    const uri = handoff.delivery === null ? HandoffDocuments.uri(id) : HandoffDocuments.uri(handoffId).with({ path: SENT });
    if (handoff.delivery === null) this.current.set(id, handoff);
    this.changed.fire([{ type: vscode.FileChangeType.Changed, uri }]);
    await vscode.window.showTextDocument(uri, { preview: false });
  }

  /** Save what was written in the documents of these handoffs; an error says that one could not be saved. */
  async save(handoffIds: readonly string[]): Promise<void> {
    for (const document of vscode.workspace.textDocuments) {
      if (!document.isDirty || !(await this.isOf(document.uri, handoffIds))) continue;
      if (!(await document.save())) throw new Error(vscode.l10n.t("Your handoff could not be saved, so nothing was sent."));
    }
  }

  /** Close the documents of handoffs that can be edited no more; what was not saved in them goes. */
  async close(handoffIds: readonly string[]): Promise<void> {
    for (const document of vscode.workspace.textDocuments) {
      if (!document.isDirty || !(await this.isOf(document.uri, handoffIds))) continue;
      await vscode.window.showTextDocument(document);
      await vscode.commands.executeCommand("workbench.action.files.revert");
    }
    for (const [tab, uri] of textTabs()) if (await this.isOf(uri, handoffIds)) await vscode.window.tabGroups.close(tab);
  }

  /** Close what the editor brought back of handoffs that can be edited no more, but nothing that is not saved. */
  async closeSent(): Promise<void> {
    for (const [tab, uri] of textTabs()) {
      const held = tab.isDirty ? undefined : await this.editable(uri);
      if (held !== undefined && (await this.read(held.id)).delivery !== null) await vscode.window.tabGroups.close(tab);
    }
  }

  private async isOf(uri: vscode.Uri, handoffIds: readonly string[]): Promise<boolean> {
    const handoff = await this.editable(uri);
    return handoff !== undefined && handoffIds.includes(handoff.id);
  }

  /** The handoff of an editable document; a tab that the editor brought back may stand for one that is gone. */
  private async editable(uri: vscode.Uri): Promise<ContextHandoff | undefined> {
    return uri.scheme === HANDOFF_SCHEME && uri.path !== SENT ? this.of(uri).catch(() => undefined) : undefined;
  }

  /** The handoff that a document stands for now. */
  async of(uri: vscode.Uri): Promise<ContextHandoff> {
    const id = uri.query;
    if (uri.path === SENT) return this.read(id);
    const held = this.current.get(id);
    if (held !== undefined) return held;
    let handoff = await this.read(id);
    // A window that is opened again knows no longer what was saved in its document.
    while (handoff.supersededBy !== null) handoff = await this.read(handoff.supersededBy);
    this.current.set(id, handoff);
    return handoff;
  }

  private async read(handoffId: string): Promise<ContextHandoff> {
    const daemon = await this.daemon();
    return (await daemon.request("handoff/read", { handoffId })).handoff;
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
    this.replace(old, (await (await this.daemon()).request("handoff/edit", { handoffId: old.id, summaryText })).handoff);
  }

  async stat(uri: vscode.Uri): Promise<vscode.FileStat> {
    const handoff = await this.of(uri);
    const size = (await this.readFile(uri)).length;
    const fixed = handoff.delivery !== null || tellsOfFork(handoff) || !(await this.daemon()).answers("handoff/edit");
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

/** The tabs of texts, with what they show. */
function textTabs(): [vscode.Tab, vscode.Uri][] {
  const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
  return tabs.flatMap((tab) => (tab.input instanceof vscode.TabInputText ? [[tab, tab.input.uri] as [vscode.Tab, vscode.Uri]] : []));
}
