/** Addresses of files: the editor's, and the daemon's, which runs where the files are and so finds them by path. */
import * as vscode from "vscode";

const scheme = () => vscode.workspace.workspaceFolders?.[0]?.uri.scheme ?? "file";

export function wireUri(uri: vscode.Uri): string {
  return (uri.scheme === scheme() ? vscode.Uri.file(uri.fsPath) : uri).toString();
}

export function editorUri(wire: string): vscode.Uri {
  const uri = vscode.Uri.parse(wire, true);
  const home = vscode.workspace.workspaceFolders?.[0]?.uri;
  return uri.scheme === "file" && home !== undefined ? home.with({ path: uri.path }) : uri;
}
