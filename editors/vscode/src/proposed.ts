/** A change that an agent asks to make, as a diff of the real file against what it would be. */
import { applyPatch } from "diff";
import * as vscode from "vscode";
import type { ProposedChange } from "./protocol";
import type { Session } from "./session";

export const PROPOSED_SCHEME = "midstream-proposed";

interface Proposal {
  readonly requestId: string;
  readonly path: string;
}

/** The text of a file as it would be, `midstream-proposed:/<path>?<request>`; without a request, an empty one. */
export class ProposedDocuments implements vscode.TextDocumentContentProvider {
  constructor(private readonly session: Session) {}

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    if (uri.query === "") return "";
    const change = proposed(this.session, { requestId: uri.query, path: uri.path.slice(1) });
    if (change.kind === "delete") return "";
    return changed(change, await textOf(fileOf(this.session, change.oldPath ?? change.path)));
  }
}

/** Open the diff of one file that a request would change. */
export async function showProposed(session: Session, proposal: Proposal): Promise<void> {
  const change = proposed(session, proposal);
  const at = (query: string) => vscode.Uri.from({ scheme: PROPOSED_SCHEME, path: `/${change.path}`, query });
  const before = change.kind === "add" ? at("") : fileOf(session, change.oldPath ?? change.path);
  const title = vscode.l10n.t("{0}: as the agent would have it", change.path);
  await vscode.commands.executeCommand("vscode.diff", before, at(proposal.requestId), title, { preview: true });
}

function proposed(session: Session, { requestId, path }: Proposal): ProposedChange {
  const change = session.request(requestId)?.detail.changes?.find((one) => one.path === path);
  if (change === undefined) throw new Error(vscode.l10n.t("The agent does not ask for this any more."));
  return change;
}

function changed({ diff, path }: ProposedChange, text: string): string {
  const after = diff === undefined ? text : applyPatch(text, diff);
  if (after === false) throw new Error(vscode.l10n.t("{0} is not as the agent last saw it, so its change does not fit.", path));
  return after;
}

function fileOf(session: Session, path: string): vscode.Uri {
  return path.startsWith("/") ? vscode.Uri.file(path) : vscode.Uri.joinPath(session.workspace, path);
}

async function textOf(file: vscode.Uri): Promise<string> {
  try {
    return Buffer.from(await vscode.workspace.fs.readFile(file)).toString();
  } catch (error) {
    if (error instanceof vscode.FileSystemError && error.code === "FileNotFound") return "";
    throw error;
  }
}
