/** Writing a thread out: as Markdown to read, or as JSON Lines for other programs. */
import * as vscode from "vscode";
import type { Daemon } from "./client";
import type { Thread } from "./protocol";
import { titleOf } from "./threadTree";

const ENDINGS = { markdown: "md", jsonl: "jsonl" } as const;
type Format = keyof typeof ENDINGS;

export async function exportThread(daemon: Daemon, workspace: vscode.Uri, thread: Thread): Promise<void> {
  const formats: (vscode.QuickPickItem & { format: Format })[] = [
    { label: "Markdown", description: vscode.l10n.t("to read"), format: "markdown" },
    { label: "JSON Lines", description: vscode.l10n.t("for other programs"), format: "jsonl" },
  ];
  const chosen = await vscode.window.showQuickPick(formats, {
    placeHolder: vscode.l10n.t("Export “{0}” as", titleOf(thread)),
  });
  if (chosen === undefined) return;
  const [open, save] = [{ label: vscode.l10n.t("Open as a Document") }, { label: vscode.l10n.t("Save to a File…") }];
  const place = await vscode.window.showQuickPick([open, save], {
    placeHolder: vscode.l10n.t("Secrets are taken out of it."),
  });
  if (place === undefined) return;
  const { content } = await daemon.request("thread/export", { threadId: thread.id, format: chosen.format });
  if (place === open) await show(content, chosen.format);
  else await keep(content, vscode.Uri.joinPath(workspace, fileName(titleOf(thread), ENDINGS[chosen.format])));
}

async function show(content: string, format: Format): Promise<void> {
  const language = format === "markdown" ? "markdown" : "jsonl";
  await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ content, language }));
}

async function keep(content: string, defaultUri: vscode.Uri): Promise<void> {
  const file = await vscode.window.showSaveDialog({ defaultUri });
  if (file !== undefined) await vscode.workspace.fs.writeFile(file, Buffer.from(content));
}

/** A title as the name of a file on any system. */
export function fileName(title: string, ending: string): string {
  const name = title.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-+|-+$/g, "");
  return `${[...name].slice(0, 60).join("") || "thread"}.${ending}`;
}
