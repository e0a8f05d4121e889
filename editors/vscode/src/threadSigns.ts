/** What is worth telling of a thread beside its title, the most urgent first. Pure. */
import type { Thread } from "./protocol";

export type Sign = "waits" | "childWaits" | "running" | "queued" | "held" | "mergeBacks" | "archived";

/** What is known of all threads together. */
export interface Surroundings {
  /** The threads whose agents asked the user something. */
  readonly asking: ReadonlySet<string>;
  /** The threads above those. */
  readonly aboveAsking: ReadonlySet<string>;
  /** How many merge-backs the next message of a thread carries. */
  readonly mergeBacks: ReadonlyMap<string, number>;
}

export function signsOf({ id, status, queueHeld, archivedAt }: Thread, around: Surroundings): Sign[] {
  const signs: [Sign, boolean][] = [
    ["waits", status === "waiting" || around.asking.has(id)],
    ["childWaits", around.aboveAsking.has(id)],
    ["running", status === "running" || status === "starting"],
    ["queued", status === "queued" && !queueHeld],
    ["held", queueHeld],
    ["mergeBacks", around.mergeBacks.has(id)],
    ["archived", archivedAt !== null],
  ];
  return signs.filter(([, holds]) => holds).map(([sign]) => sign);
}

/** The icon of the most urgent sign, else of what the thread is. */
export function iconOf({ lineage }: Thread, [first]: readonly Sign[]): string {
  const icons: Record<Sign, string> = {
    waits: "bell-dot",
    childWaits: "bell",
    running: "sync~spin",
    queued: "clock",
    held: "debug-pause",
    mergeBacks: "git-merge",
    archived: "archive",
  };
  if (first !== undefined) return icons[first];
  if (lineage.relationshipToParent === null) return "comment";
  return lineage.relationshipToParent === "fork" ? "repo-forked" : "type-hierarchy-sub";
}

/** What the conditions of the thread's menu look at, as words. */
export function menuContext({ lineage, pendingTransferIds }: Thread, signs: readonly Sign[]): string {
  const words: string[] = ["thread", ...signs];
  if (lineage.relationshipToParent === "fork") words.push("fork");
  if (pendingTransferIds.length > 0) words.push("transfer");
  if (!signs.includes("archived")) words.push("unarchived");
  return words.join(" ");
}
