/** Handoffs that are not sent yet: sent as the user left them, dropped, or made anew. */
import * as vscode from "vscode";
import { holds } from "./preview";
import type { ContextHandoff, HandoffRegenerateParams } from "./protocol";
import { startRun } from "./sending";
import type { Session } from "./session";
import { unusable } from "./unusable";

/** Send a message together with the handoff that stands in a document, as the user left it. */
export async function sendWithHandoff({ next, daemon }: Session, uri: vscode.Uri): Promise<void> {
  await next.handoffs.save([(await next.handoffs.of(uri)).id]);
  const handoff = await next.handoffs.of(uri);
  const text = await vscode.window.showInputBox({ prompt: vscode.l10n.t("The message that goes with this handoff") });
  if (!text) return;
  const handoffIds = holds(next.previewed, handoff.id) ? await next.saved() : [handoff.id];
  const selection = handoff.madeFor && { selection: handoff.madeFor.selection };
  try {
    await startRun(daemon, { threadId: handoff.threadId, message: { text }, handoffIds, ...selection });
  } catch (error) {
    next.takeBack({ text, attachments: [] });
    throw error;
  }
  await next.handoffs.close(handoffIds);
}

export async function cancelHandoff({ next }: Session, uri: vscode.Uri): Promise<void> {
  await next.drop((await next.handoffs.of(uri)).id);
}

/** Make a handoff anew: written by somebody else, or in another size. */
export async function regenerate(session: Session, { handoffId }: { readonly handoffId: string }): Promise<void> {
  const { handoff } = await session.daemon.request("handoff/read", { handoffId });
  const how = await chooseHow(session, handoff);
  if (how === undefined) return;
  session.next.handoffs.replace(handoff, (await session.daemon.request("handoff/regenerate", { handoffId, ...how })).handoff);
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
