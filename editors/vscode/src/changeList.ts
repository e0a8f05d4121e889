/** What a restore or a rollback would do, in words, before it is done. */
import { l10n } from "vscode";
import type { RestoreResult } from "./protocol";

/** How many names of a group are told; a dialog has no room for more. */
const MOST = 12;

export type Group = readonly [title: string, lines: readonly string[]];

/** Groups of lines under their titles; empty ones are left out, long ones cut. */
export function listOf(groups: readonly Group[]): string {
  return groups
    .filter(([, lines]) => lines.length > 0)
    .map(([title, lines]) =>
      [title, ...lines.slice(0, MOST).map((line) => `   ${line}`), ...more(lines.length)].join("\n"),
    )
    .join("\n\n");
}

/** What becomes of files; `dirty` are those with unsaved edits in an editor. */
export function fileGroups(plan: RestoreResult, dirty: readonly string[]): Group[] {
  const touched = new Set([...plan.written, ...plan.deleted]);
  return [
    [l10n.t("In conflict:"), plan.conflicts.map(({ path, reason }) => `${path}: ${reason}`)],
    [
      l10n.t("Unsaved edits, which stay in their editor and can be saved over the restored file:"),
      dirty.filter((path) => touched.has(path)),
    ],
    [l10n.t("Written:"), plan.written],
    [l10n.t("Deleted:"), plan.deleted],
  ];
}

function more(count: number): string[] {
  return count > MOST ? [`   ${l10n.t("and {0} more", count - MOST)}`] : [];
}
