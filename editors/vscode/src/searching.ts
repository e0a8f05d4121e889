/** Finding a thread by what was said in it. */
import * as vscode from "vscode";
import type { Daemon } from "./client";
import type { SearchMatch } from "./protocol";
import type { Session } from "./session";
import { titleOf } from "./threadTree";
import { wireUri } from "./uris";

interface Pick extends vscode.QuickPickItem {
  readonly threadId: string;
  readonly itemId: string;
}

/** Search while the user types, and open the match that they choose. */
export async function searchThreads(session: Session): Promise<void> {
  const { daemon } = session;
  const workspace = wireUri(session.workspace);
  const picker = vscode.window.createQuickPick<Pick>();
  picker.placeholder = vscode.l10n.t("Words that were said in a thread");
  picker.onDidChangeValue(async (query) => {
    picker.busy = true;
    const items = await matches(daemon, workspace, query).catch(() => []);
    // What was typed meanwhile has an answer of its own.
    if (picker.value !== query) return;
    picker.busy = false;
    picker.items = items;
  });
  const chosen = await new Promise<Pick | undefined>((resolve) => {
    picker.onDidAccept(() => resolve(picker.activeItems[0]));
    picker.onDidHide(() => resolve(undefined));
    picker.show();
  });
  picker.dispose();
  if (chosen === undefined) return;
  await session.openAt(chosen.threadId, chosen.itemId);
  await vscode.commands.executeCommand("midstream.thread.focus");
}

async function matches(daemon: Daemon, workspace: string, query: string): Promise<Pick[]> {
  if (query.trim() === "") return [];
  const found = await daemon.request("thread/search", { query, workspace });
  return found.matches.map(pickOf);
}

function pickOf({ threadId, itemId, threadTitle, runOrdinal, snippet }: SearchMatch): Pick {
  const label = titleOf({ title: threadTitle });
  const run = runOrdinal === null ? {} : { description: vscode.l10n.t("run {0}", runOrdinal) };
  return { label, ...run, detail: snippet.replace(/\s+/g, " "), alwaysShow: true, threadId, itemId };
}
