/** Handoffs that are not sent yet: sent as the user left them, dropped, or made anew. */
import * as vscode from "vscode";
import { holds } from "./preview";
import type { ContextHandoff, HandoffRegenerateParams } from "./protocol";
import { startRun } from "./sending";
import type { Session } from "./session";
import { unusable } from "./unusable";

/** Send a message together with the handoff that stands in a document, as the user left it. */
export async function sendWithHandoff(session: Session, uri: vscode.Uri): Promise<void> {
  const document = await vscode.workspace.openTextDocument(uri);
  if (document.isDirty && !(await document.save())) return;
  const handoff = await session.handoffs.of(uri);
  const text = await vscode.window.showInputBox({ prompt: vscode.l10n.t("The message that goes with this handoff") });
  if (!text) return;
  const whole = holds(session.previewed, handoff.id) ? session.previewed : null;
  const handoffIds = whole?.handoffs.map(({ id }) => id) ?? [handoff.id];
  const selection = handoff.madeFor && { selection: handoff.madeFor.selection };
  try {
    await startRun(session.daemon, { threadId: handoff.threadId, message: { text }, handoffIds, ...selection });
  } catch (error) {
    session.takeBack({ text, attachments: [] });
    throw error;
  }
  await close(uri);
}

export async function cancelHandoff(session: Session, uri: vscode.Uri): Promise<void> {
  const { id } = await session.handoffs.of(uri);
  if (session.daemon.answers("handoff/discard")) await session.daemon.request("handoff/discard", { handoffId: id });
  if (holds(session.previewed, id)) session.closePreview();
  await close(uri);
}

/** Make a handoff anew: written by somebody else, or in another size. */
export async function regenerate(session: Session, { handoffId }: { readonly handoffId: string }): Promise<void> {
  const { handoff } = await session.daemon.request("handoff/read", { handoffId });
  const how = await chooseHow(session, handoff);
  if (how === undefined) return;
  session.handoffs.replace(handoff, (await session.daemon.request("handoff/regenerate", { handoffId, ...how })).handoff);
}

type How = Pick<HandoffRegenerateParams, "summarizer" | "budgetTokens">;

async function chooseHow({ knownProviders }: Session, { tokens }: ContextHandoff): Promise<How | undefined> {
  const own = { label: vscode.l10n.t("Midstream"), description: vscode.l10n.t("at once, from what was recorded"), summarizer: "deterministic" };
  const agents = knownProviders
    .filter((provider) => unusable(provider) === undefined)
    .map(({ kind, label }) => ({ label, description: vscode.l10n.t("an agent; it takes a while and costs tokens"), summarizer: kind }));
  const writer = await vscode.window.showQuickPick([own, ...agents], { placeHolder: vscode.l10n.t("Who writes it?") });
  if (writer === undefined) return undefined;
  const prompt = vscode.l10n.t("At most how many tokens?");
  const budget = await vscode.window.showInputBox({ prompt, value: String(tokens.budget), validateInput: wholeNumber });
  return budget === undefined ? undefined : { summarizer: writer.summarizer, budgetTokens: Number(budget) };
}

function wholeNumber(text: string): string | undefined {
  return /^[1-9]\d*$/.test(text) ? undefined : vscode.l10n.t("A whole number above 0.");
}

async function close(uri: vscode.Uri): Promise<void> {
  const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
  const shown = tabs.filter((tab) => tab.input instanceof vscode.TabInputText && tab.input.uri.toString() === uri.toString());
  await vscode.window.tabGroups.close(shown);
}
