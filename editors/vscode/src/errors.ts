/** What went wrong, as the user is told of it. */
import * as vscode from "vscode";

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Show an error, unless the user broke it off. */
export function showError(error: unknown): void {
  if (!(error instanceof vscode.CancellationError)) void vscode.window.showErrorMessage(messageOf(error));
}
