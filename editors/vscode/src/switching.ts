/** Looking at what the next agent will be told, and changing it. */
import * as vscode from "vscode";
import type { Daemon } from "./client";
import { HandoffDocuments } from "./handoffDocuments";
import type { Thread } from "./protocol";

/** Open what the next run's provider would be told; where it is told nothing, say why. */
export async function preview(daemon: Daemon, thread: Thread): Promise<void> {
  const { plan, handoffs } = await daemon.request("handoff/preview", { threadId: thread.id });
  const why = plan.reasons.map((reason) => reason.message).join(" ");
  const [first] = handoffs;
  if (first === undefined) {
    void vscode.window.showInformationMessage(vscode.l10n.t("Nothing has to be handed over. {0}", why));
    return;
  }
  for (const handoff of handoffs) await openHandoff(handoff.id);
  const { estimated, budget } = first.tokens;
  const runs = plan.runOrdinals.join(", ");
  void vscode.window.showInformationMessage(vscode.l10n.t("{0}, runs {1}, {2} of {3} tokens. {4}", plan.strategy, runs, estimated, budget, why));
}

export async function openHandoff(handoffId: string): Promise<void> {
  await vscode.window.showTextDocument(HandoffDocuments.uri(handoffId), { preview: false });
}

/** Send a message together with the handoff that stands in a document, as the user left it. */
export async function sendWithHandoff(daemon: Daemon, documents: HandoffDocuments, uri: vscode.Uri): Promise<void> {
  const document = await vscode.workspace.openTextDocument(uri);
  if (document.isDirty && !(await document.save())) return;
  const handoff = await documents.of(uri);
  const text = await vscode.window.showInputBox({ prompt: vscode.l10n.t("The message that goes with this handoff") });
  if (!text) return;
  await daemon.request("run/start", { threadId: handoff.threadId, message: { text }, handoffIds: [handoff.id] });
  await close(uri);
}

export async function cancelHandoff(daemon: Daemon, documents: HandoffDocuments, uri: vscode.Uri): Promise<void> {
  const { id } = await documents.of(uri);
  if (daemon.answers("handoff/discard")) await daemon.request("handoff/discard", { handoffId: id });
  await close(uri);
}

/** Make the handoff of a document anew: by another summariser, or in another size. */
export async function regenerate(daemon: Daemon, documents: HandoffDocuments, uri: vscode.Uri): Promise<void> {
  const { id, tokens } = await documents.of(uri);
  const summarizer = await vscode.window.showQuickPick(["deterministic", "source", "target"], { placeHolder: vscode.l10n.t("Who writes it?") });
  if (summarizer === undefined) return;
  const budget = await vscode.window.showInputBox({ prompt: vscode.l10n.t("At most how many tokens?"), value: String(tokens.budget), validateInput: wholeNumber });
  if (budget === undefined) return;
  const { handoff } = await daemon.request("handoff/regenerate", { handoffId: id, summarizer, budgetTokens: Number(budget) });
  documents.replace(uri, handoff);
}

function wholeNumber(text: string): string | undefined {
  return /^[1-9]\d*$/.test(text) ? undefined : vscode.l10n.t("A whole number above 0.");
}

async function close(uri: vscode.Uri): Promise<void> {
  const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
  const shown = tabs.filter((tab) => tab.input instanceof vscode.TabInputText && tab.input.uri.toString() === uri.toString());
  await vscode.window.tabGroups.close(shown);
}
