/** What of the editor can go with a message: a selection, files, and the problems of a file. */
import * as vscode from "vscode";
import type { Attachment } from "./protocol";
import { editorUri, wireUri } from "./uris";

export function selectionOf(editor: vscode.TextEditor | undefined): Attachment {
  if (editor === undefined || editor.selection.isEmpty) throw new Error(vscode.l10n.t("Select some text in an editor first."));
  const { start, end } = editor.selection;
  const uri = wireUri(editor.document.uri);
  return { type: "selection", uri, range: { start: plain(start), end: plain(end) }, text: editor.document.getText(editor.selection) };
}

export function problemsOf(uri: vscode.Uri | undefined): Attachment {
  const items = uri === undefined ? [] : vscode.languages.getDiagnostics(uri).map(lspDiagnostic);
  if (uri === undefined || items.length === 0) throw new Error(vscode.l10n.t("The file in the editor has no problems."));
  return { type: "diagnostics", uri: wireUri(uri), items };
}

export function fileOf(uri: vscode.Uri): Attachment {
  return { type: "file", uri: wireUri(uri) };
}

/** Let the user choose files of the workspace. */
export async function chooseFiles(): Promise<Attachment[]> {
  const files = await vscode.workspace.findFiles("**/*", undefined, 10_000);
  const picks = files.map((uri) => ({ label: vscode.workspace.asRelativePath(uri), uri }));
  picks.sort((a, b) => (a.label < b.label ? -1 : 1));
  const placeHolder = vscode.l10n.t("Files that go with the message");
  const chosen = await vscode.window.showQuickPick(picks, { canPickMany: true, placeHolder });
  return (chosen ?? []).map(({ uri }) => fileOf(uri));
}

/** Let the user choose from what the editor now shows, or files. */
export async function chooseAttachments(): Promise<Attachment[]> {
  const editor = vscode.window.activeTextEditor;
  const uri = editor?.document.uri;
  const ways: (vscode.QuickPickItem & { take: () => Attachment[] | Promise<Attachment[]> })[] = [];
  if (editor && !editor.selection.isEmpty) {
    const taken = selectionOf(editor);
    ways.push({ label: vscode.l10n.t("Selection"), description: labelOf(taken), iconPath: new vscode.ThemeIcon("selection"), take: () => [taken] });
  }
  if (uri && vscode.languages.getDiagnostics(uri).length > 0) {
    const taken = problemsOf(uri);
    ways.push({ label: vscode.l10n.t("Problems"), description: labelOf(taken), iconPath: new vscode.ThemeIcon("warning"), take: () => [taken] });
  }
  ways.push({ label: vscode.l10n.t("Files…"), iconPath: new vscode.ThemeIcon("file"), take: chooseFiles });
  if (ways.length === 1) return chooseFiles();
  const way = await vscode.window.showQuickPick(ways, { placeHolder: vscode.l10n.t("What goes with the message?") });
  return (await way?.take()) ?? [];
}

/** What an attachment is called; those of one name are the same thing. */
export function labelOf(attachment: Attachment): string {
  if (attachment.type === "image") return vscode.l10n.t("Image");
  const path = vscode.workspace.asRelativePath(editorUri(attachment.uri));
  switch (attachment.type) {
    case "file":
      return path;
    case "selection":
      return vscode.l10n.t("{0}, lines {1} to {2}", path, attachment.range.start.line + 1, attachment.range.end.line + 1);
    case "diagnostics":
      return vscode.l10n.t("{0}, problems: {1}", path, attachment.items.length);
  }
}

function lspDiagnostic({ range, severity, message, source, code }: vscode.Diagnostic): Record<string, unknown> {
  const plainCode = typeof code === "object" ? code.value : code;
  return { range: { start: plain(range.start), end: plain(range.end) }, severity: severity + 1, message, source, code: plainCode };
}

function plain({ line, character }: vscode.Position): { line: number; character: number } {
  return { line, character };
}
