import assert from "node:assert/strict";
import { test } from "node:test";
import { nameOf } from "../src/checkpoints";
import type { Checkpoint, Run } from "../src/protocol";
import { nameOfRun, standing, whenOf } from "../src/runPick";

const run = (id: string, ordinal: number | null, more: Partial<Run> = {}) =>
  ({ id, threadId: "t", ordinal, status: "completed", message: { text: id, attachments: [] }, ...more }) as Run;

test("only a thread's own runs that stand are offered, the newest first", () => {
  const runs = [run("inherited", 1, { threadId: "source" }), run("a", 2), run("back", 3, { status: "rolled_back" })];
  const offered = standing([...runs, run("b", 4), run("queued", null)], "t");
  assert.deepEqual(
    offered.map(({ id }) => id),
    ["b", "a"],
  );
});

test("a run is named by the first line of its message, cut where it is long", () => {
  const [named] = standing([run("a", 7, { message: { text: `\n${"x".repeat(100)}\nmore`, attachments: [] } })], "t");
  assert.equal(nameOfRun(named!), `Run 7: ${"x".repeat(79)}…`);
});

test("a time of another day has its date", () => {
  const now = new Date(2026, 11, 1, 18, 0);
  assert.equal(whenOf(new Date(2026, 11, 1, 9, 5).toISOString(), now), "09:05");
  assert.match(whenOf(new Date(2026, 10, 30, 9, 5).toISOString(), now), /^30 Nov 2026, 09:05$/);
});

test("a checkpoint is named by its label, else by what it was taken for", () => {
  const checkpoint = (kind: Checkpoint["kind"], more: Partial<Checkpoint> = {}) =>
    ({ id: "ckp_1", kind, label: null, runOrdinal: 2, ...more }) as Checkpoint;
  assert.equal(nameOf(checkpoint("baseline")), "Before run 2");
  assert.equal(nameOf(checkpoint("run")), "After run 2");
  assert.equal(nameOf(checkpoint("safety", { runOrdinal: null })), "Before a restore");
  assert.equal(nameOf(checkpoint("manual", { label: "Mine" })), "Mine");
});
