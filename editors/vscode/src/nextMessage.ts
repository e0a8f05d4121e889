/** The user's next message: its words, what is attached to it, and the handoffs that it goes with. */
import * as vscode from "vscode";
import { labelOf } from "./attachments";
import type { Daemon } from "./client";
import { type Draft, DraftStore } from "./draft";
import { showError } from "./errors";
import { HandoffDocuments } from "./handoffDocuments";
import type { Change, Delivery } from "./messages";
import { editedIn, holds, type Preview, previewOf, replaced } from "./preview";
import type { Attachment, ContextHandoff, HandoffInfo, ModelSelection, Run, Thread } from "./protocol";
import { startRun } from "./sending";

/** What a message needs of the session that it is sent in. */
interface Surroundings {
  readonly daemon: Daemon;
  /** The daemon, once it runs. */
  whenRunning(): Promise<Daemon>;
  /** The thread that a message goes to, once what was chosen last is the thread's. */
  settled(): Promise<Thread>;
}

export class NextMessage implements vscode.Disposable {
  readonly draft: DraftStore;
  readonly handoffs = new HandoffDocuments(() => this.around.whenRunning());
  /** What the user looked at before they send: the message goes with just that. */
  previewed: Preview | null = null;
  private looking: Promise<void> = Promise.resolve();

  constructor(
    private readonly around: Surroundings,
    storage: vscode.Uri | undefined,
    private readonly tell: (change: Change) => void,
  ) {
    this.draft = new DraftStore(storage && vscode.Uri.joinPath(storage, "draft.json").fsPath, labelOf);
    this.handoffs.onReplaced(({ oldId, handoff }) => this.previewed && this.show(replaced(this.previewed, oldId, handoff)));
  }

  /** Look at what the next agent would be told: what the user wrote for it goes before what would be made anew. */
  async preview(): Promise<void> {
    const thread = await this.around.settled();
    const { daemon } = this.around;
    const edited = await editedFor(daemon, thread);
    const preview = previewOf(await daemon.request("handoff/preview", { threadId: thread.id }), thread.selection.provider);
    const own = preview.handoffs.find(({ ofFork }) => !ofFork);
    this.show(edited === undefined || own === undefined ? preview : replaced(preview, own.id, edited));
  }

  /** Look again at what the user wrote for the agent that answers next, and did not send yet. */
  previewEdited(thread: Thread): void {
    const look = async () => {
      if ((await editedFor(this.around.daemon, thread)) !== undefined) await this.preview();
    };
    this.looking = look().catch(showError);
  }

  /** What was looked at is no longer so. */
  closePreview(): void {
    if (this.previewed !== null) this.show(null);
  }

  /** A run went on: what was looked at is no longer so, but what the user wrote stays until it is sent. */
  hearOf(run: Run): void {
    const written = editedIn(this.previewed);
    if (written === undefined || run.handoffIds.includes(written.id)) this.closePreview();
  }

  /** Close the preview for the user; what they wrote would be lost by that, so they are asked. */
  async dismissPreview(): Promise<void> {
    const written = editedIn(this.previewed);
    if (written !== undefined) {
      const drop = vscode.l10n.t("Drop It");
      const asked = vscode.l10n.t("Drop the handoff that you edited?");
      const detail = vscode.l10n.t("The agent is told then what Midstream writes.");
      if ((await vscode.window.showWarningMessage(asked, { modal: true, detail }, drop)) !== drop) return;
      await this.drop(written.id);
    }
    this.closePreview();
  }

  /** Give up a handoff, with what was written in its document. */
  async drop(handoffId: string): Promise<void> {
    const { daemon } = this.around;
    if (daemon.answers("handoff/discard")) await daemon.request("handoff/discard", { handoffId });
    if (holds(this.previewed, handoffId)) this.closePreview();
    await this.handoffs.close([handoffId]);
  }

  private show(preview: Preview | null): void {
    this.previewed = preview;
    this.tell({ type: "preview", preview });
  }

  /** The handoffs that were looked at, as the user left them: what they did not save yet is saved. */
  async saved(): Promise<string[]> {
    await this.looking;
    await this.handoffs.save(idsOf(this.previewed));
    return idsOf(this.previewed);
  }

  /** Send a message, with the handoffs that were looked at. */
  async send(text: string, delivery: Delivery): Promise<void> {
    const taken = this.draft.take(text);
    this.tellAttachments();
    let handoffIds: string[];
    try {
      handoffIds = await this.saved();
      const { id } = await this.around.settled();
      await startRun(this.around.daemon, { threadId: id, message: { text, attachments: [...taken.attachments] }, delivery, handoffIds });
    } catch (error) {
      this.takeBack(taken);
      throw error;
    }
    await this.handoffs.close(handoffIds);
  }

  /** Have what could not be sent in the composer again. */
  takeBack(unsent: Draft): void {
    this.draft.putBack(unsent);
    this.tell({ type: "unsent", text: unsent.text });
    this.tellAttachments();
  }

  attach(attachments: readonly Attachment[]): void {
    this.draft.attach(attachments);
    this.tellAttachments();
  }

  detach(name: string): void {
    this.draft.detach(name);
    this.tellAttachments();
  }

  private tellAttachments(): void {
    this.tell({ type: "attachments", attachments: this.draft.names });
  }

  dispose(): void {
    this.handoffs.dispose();
  }
}

/** What the user wrote for the agent that answers next in a thread, and no run was given. */
async function editedFor(daemon: Daemon, { id, selection }: Thread): Promise<ContextHandoff | undefined> {
  const { handoffs } = await daemon.request("handoff/list", { threadId: id });
  const edited = handoffs.findLast((handoff) => isFor(handoff, selection));
  return edited && (await daemon.request("handoff/read", { handoffId: edited.id })).handoff;
}

function isFor({ strategy, status, targetRunId, delivery, madeFor }: HandoffInfo, { provider, model }: ModelSelection): boolean {
  const unsent = strategy === "manual_context" && status === "ready" && targetRunId === null && delivery === null;
  return unsent && madeFor?.selection.provider === provider && madeFor.selection.model === model;
}

function idsOf(preview: Preview | null): string[] {
  return preview?.handoffs.map(({ id }) => id) ?? [];
}
