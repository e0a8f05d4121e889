import assert from "node:assert/strict";
import { test } from "node:test";
import { HeldItems } from "../src/heldItems";
import type { Item, Run } from "../src/protocol";
import { pageAt, type Row, rowsOf } from "../src/view/rows";

const item = (ordinal: number, type: Item["type"], runId: string | null, parentItemId: string | null = null) =>
  ({ id: `i${ordinal}`, ordinal, type, runId, parentItemId }) as Item;
const run = (ordinal: number, completedAt: string | null) => [`r${ordinal}`, { id: `r${ordinal}`, ordinal, completedAt } as Run] as const;
const keys = (items: HeldItems, runs: Map<string, Run>, ...open: string[]) => rowsOf(items, runs, (id) => open.includes(id)).map((row) => row.key);

test("a run begins before its agent's first item, and ends behind its last", () => {
  const items = new HeldItems([item(1, "userMessage", "r1"), item(2, "command", "r1"), item(3, "agentMessage", "r1"), item(4, "userMessage", "r2")]);
  const runs = new Map([run(1, "then"), run(2, null)]);
  assert.deepEqual(keys(items, runs), ["i1", "begin r1 i2", "i2", "i3", "end r1", "i4"]);
});

test("what a subagent did stands deeper beneath it, and only while it is open", () => {
  const items = new HeldItems([item(1, "subagent", "r1"), item(2, "subagent", "r1", "i1"), item(3, "command", "r1", "i2"), item(4, "agentMessage", "r1")]);
  const runs = new Map([run(1, null)]);
  assert.deepEqual(keys(items, runs), ["begin r1 i1", "i1", "i4"]);
  assert.deepEqual(keys(items, runs, "i2"), ["begin r1 i1", "i1", "i4"]);
  assert.deepEqual(keys(items, runs, "i1", "i2"), ["begin r1 i1", "i1", "i2", "i3", "i4"]);
  const depths = rowsOf(items, runs, () => true).map((row) => (row.type === "item" ? row.depth : undefined));
  assert.deepEqual(depths, [undefined, 0, 1, 2, 0]);
});

test("what was refused and what was answered is shown, and not what was allowed or waits", () => {
  const asked = (ordinal: number, more: object) => ({ ...item(ordinal, "approval", "r1"), ...more }) as Item;
  const answered = (ordinal: number, answers: object | null) => ({ ...item(ordinal, "question", "r1"), answers }) as Item;
  const decisions = ["accept", "acceptForSession", "decline", "cancel", null].map((decision, index) => asked(index + 1, { decision }));
  const items = new HeldItems([...decisions, answered(6, null), answered(7, []), item(8, "command", "r1"), { ...asked(9, { decision: "decline" }), parentItemId: "i8" }]);
  assert.deepEqual(keys(items, new Map()), ["i3", "i4", "i7", "i8", "i9"]);
});

test("a run whose last items are not read does not end there", () => {
  const items = new HeldItems([item(1, "agentMessage", "r1"), item(50, "agentMessage", "r2")], ["i50"]);
  const runs = new Map([run(1, "then"), run(2, "then")]);
  assert.deepEqual(keys(items, runs), ["begin r1 i1", "i1", "gap i50", "begin r2 i50", "i50", "end r2"]);
});

test("a gap counts what is missing, and what is asked for depends on where it is looked at", () => {
  const items = new HeldItems([item(1, "agentMessage", "r1"), item(4001, "agentMessage", "r41")], ["i4001"]);
  const runs = new Map(Array.from({ length: 41 }, (_, index) => run(index + 1, "then")));
  const gap = rowsOf(items, runs, () => false).find((row) => row.type === "gap") as Extract<Row, { type: "gap" }>;
  assert.equal(gap.missing, 3999);
  assert.deepEqual(pageAt(gap, 10, runs), { afterItemId: "i1" });
  assert.deepEqual(pageAt(gap, 3950, runs), { beforeItemId: "i4001" });
  assert.deepEqual(pageAt(gap, 2000, runs), { runId: "r21" });
  assert.deepEqual(pageAt({ ...gap, after: undefined }, 0, runs), { first: true });
});

test("a gap that no run tells of is read from its end", () => {
  const items = new HeldItems([item(1, "agentMessage", "r1"), item(4001, "agentMessage", "r1")], ["i4001"]);
  const [, gap] = rowsOf(items, new Map(), () => false);
  assert.deepEqual(pageAt(gap as Extract<Row, { type: "gap" }>, 2000, new Map()), { beforeItemId: "i4001" });
});
