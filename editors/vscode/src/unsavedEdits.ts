/** What the user wrote in the editor and did not save. */
import * as vscode from "vscode";

/** The files of the workspace with unsaved edits. */
export function dirtyPaths(workspace: vscode.Uri): string[] {
  const root = workspace.path.endsWith("/") ? workspace.path : `${workspace.path}/`;
  const dirty = vscode.workspace.textDocuments.filter(
    (document) => document.isDirty && document.uri.scheme === workspace.scheme,
  );
  return dirty
    .filter((document) => document.uri.path.startsWith(root))
    .map((document) => document.uri.path.slice(root.length));
}
