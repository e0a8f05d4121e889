/** The whole of a text that the thread view shows in part, as a document: `midstream-output:/<name>?<what it is>`. */
import * as vscode from "vscode";
import type { Daemon } from "./client";

export const OUTPUT_SCHEME = "midstream-output";

export interface OutputField {
  readonly itemId: string;
  readonly field: string;
  readonly path?: string;
}

export class OutputDocuments implements vscode.TextDocumentContentProvider {
  constructor(private readonly daemon: () => Promise<Daemon>) {}

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const wanted = JSON.parse(uri.query) as OutputField;
    let whole = "";
    for (let offset: number | null = 0; offset !== null; ) {
      const part: { text: string; nextOffset: number | null } = await (await this.daemon()).request("item/output", { ...wanted, offset });
      whole += part.text;
      offset = part.nextOffset;
    }
    return whole;
  }
}

const NAMES: Record<string, string> = { text: "Message.md", markdown: "Plan.md", diff: "Changes.diff" };

export async function openOutput({ itemId, field, path }: OutputField): Promise<void> {
  const query = JSON.stringify({ itemId, field, ...(path === undefined ? {} : { path }) });
  const uri = vscode.Uri.from({ scheme: OUTPUT_SCHEME, path: `/${NAMES[field] ?? "Output.txt"}`, query });
  await vscode.window.showTextDocument(uri, { preview: true });
}
