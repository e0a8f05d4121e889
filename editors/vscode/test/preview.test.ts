import assert from "node:assert/strict";
import { test } from "node:test";
import { type Preview, ranges, replaced, tellsOfFork } from "../src/preview";
import type { ContextHandoff } from "../src/protocol";

test("ordinals that follow each other are told as a range", () => {
  assert.equal(ranges([3, 1, 2, 5, 7, 8]), "1–3, 5, 7–8");
  assert.equal(ranges([]), "");
});

test("a handoff tells of a fork where its runs are those of another thread", () => {
  assert.equal(tellsOfFork({ threadId: "thr_1", coveredThreadId: "thr_2" }), true);
  assert.equal(tellsOfFork({ threadId: "thr_1", coveredThreadId: "thr_1" }), false);
  assert.equal(tellsOfFork({ threadId: "thr_1", coveredThreadId: null }), false);
});

test("a handoff that was edited stands where the old one stood", () => {
  const handoff = (id: string) => ({ id, strategy: "manual_context", runOrdinals: [1], tokens: { budget: 9, estimated: 1 }, redactions: 0, fallbackReason: null });
  const preview = { provider: "b", plan: {}, handoffs: [handoff("one"), handoff("two")] } as unknown as Preview;
  const edited = replaced(preview, "one", handoff("three") as ContextHandoff);
  assert.deepEqual(edited.handoffs.map(({ id }) => id), ["three", "two"]);
  assert.equal(replaced(preview, "none", handoff("three") as ContextHandoff), preview);
});
