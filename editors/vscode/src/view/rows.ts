/** What rows a thread is shown as: its items, whose turn begins and how it ended, and what is not read yet. */
import type { HeldItems, PageAnchor } from "../heldItems";
import type { Item, Run } from "../protocol";

/** How many items a page is taken to have: nearer than that to the edge of a gap, the page at the edge is read. */
const PAGE = 100;

export type Row =
  | { readonly key: string; readonly type: "item"; readonly item: Item; readonly depth: number }
  | { readonly key: string; readonly type: "begin"; readonly run: Run }
  /** `changed` is how many files the run changed; undefined where that is not known. */
  | { readonly key: string; readonly type: "end"; readonly run: Run; readonly changed: number | undefined }
  | { readonly key: string; readonly type: "gap"; readonly missing: number; readonly after: Item | undefined; readonly before: Item };

/** Whether an item says nothing to the user: what it stands for is shown elsewhere, or was allowed and is done. */
function silent(item: Item): boolean {
  switch (item.type) {
    case "approval":
      return item.decision !== "decline" && item.decision !== "cancel";
    case "question":
      return item.answers === null;
    case "checkpoint":
      return true;
    default:
      return false;
  }
}

/** The rows in order; what a subagent did is left out unless it is open. */
export function rowsOf(items: HeldItems, runs: ReadonlyMap<string, Run>, isOpen: (id: string) => boolean): Row[] {
  const ordered = items.ordered();
  const gaps = items.gapsBefore();
  const lastOf = new Map(ordered.map((item) => [item.runId, item.id]));
  const rows: Row[] = [];
  const changed = new Map<string | null, number>();
  let begun: string | undefined;
  for (const [index, item] of ordered.entries()) {
    const previous = ordered[index - 1];
    if (gaps.has(item.id)) {
      const missing = Math.max(1, item.ordinal - (previous?.ordinal ?? 0) - 1);
      rows.push({ key: `gap ${item.id}`, type: "gap", missing, after: previous, before: item });
    }
    const run = item.runId === null ? undefined : runs.get(item.runId);
    const depth = depthOf(item, items, isOpen);
    if (depth !== undefined && !silent(item)) {
      if (run !== undefined && run.id !== begun && item.type !== "userMessage" && item.type !== "handoff") {
        rows.push({ key: `begin ${run.id} ${item.id}`, type: "begin", run });
        begun = run.id;
      }
      rows.push({ key: item.id, type: "item", item, depth });
    }
    if (item.type === "checkpoint" && item.status === "completed") changed.set(item.runId, item.files.length);
    const next = ordered[index + 1];
    const whole = next === undefined || !gaps.has(next.id);
    if (run?.completedAt && lastOf.get(run.id) === item.id && whole) rows.push({ key: `end ${run.id}`, type: "end", run, changed: changed.get(run.id) });
  }
  return rows;
}

/** How deep in subagents an item lies; undefined where one of them is folded. */
function depthOf(item: Item, items: HeldItems, isOpen: (id: string) => boolean): number | undefined {
  let depth = 0;
  for (let parent = item.parentItemId; parent !== null; parent = items.get(parent)?.parentItemId ?? null) {
    const held = items.get(parent);
    // What is asked about a command stands beside it.
    if (held !== undefined && held.type !== "subagent") continue;
    // What lies in a subagent that is not read yet cannot be unfolded there.
    if (held !== undefined && !isOpen(parent)) return undefined;
    depth += 1;
  }
  return depth;
}

/** The page to read where the view stands in a gap, `place` missing items from the gap's beginning. */
export function pageAt(gap: Extract<Row, { type: "gap" }>, place: number, runs: ReadonlyMap<string, Run>): PageAnchor {
  if (gap.missing - place <= PAGE) return { beforeItemId: gap.before.id };
  if (place <= PAGE) return gap.after === undefined ? { first: true } : { afterItemId: gap.after.id };
  const ordinalOf = (item: Item | undefined) => (item?.runId ? (runs.get(item.runId)?.ordinal ?? 0) : 0);
  const [from, to] = [ordinalOf(gap.after), ordinalOf(gap.before)];
  // Runs are taken to be alike long; the next page is read from what this one shows.
  const wanted = Math.floor(from + ((to - from) * place) / gap.missing);
  const run = [...runs.values()].find((known) => known.ordinal === wanted);
  return run === undefined || wanted <= from ? { beforeItemId: gap.before.id } : { runId: run.id };
}
