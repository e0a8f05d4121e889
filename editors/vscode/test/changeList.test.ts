import assert from "node:assert/strict";
import { test } from "node:test";
import { fileGroups, listOf } from "../src/changeList";
import { fileName } from "../src/exporting";

test("what a restore does is told by groups, conflicts and unsaved edits first", () => {
  const plan = {
    written: ["a.txt", "b.txt"],
    deleted: ["c.txt"],
    conflicts: [{ path: "a.txt", reason: "has unsaved edits" }],
    safetyCheckpointId: null,
  };
  const [conflicts, unsaved, ...rest] = listOf(fileGroups(plan, ["b.txt", "other.txt"])).split("\n\n");
  assert.equal(conflicts, "In conflict:\n   a.txt: has unsaved edits");
  assert.match(unsaved!, /^Unsaved edits.*\n {3}b\.txt$/);
  assert.deepEqual(rest, ["Written:\n   a.txt\n   b.txt", "Deleted:\n   c.txt"]);
});

test("a long list is cut, and says by how much", () => {
  const lines = Array.from({ length: 14 }, (_, index) => `${index}.txt`);
  const told = listOf([
    ["Written:", lines],
    ["Deleted:", []],
  ]).split("\n");
  assert.equal(told.length, 14);
  assert.equal(told.at(-2)?.trim(), "11.txt");
  assert.equal(told.at(-1)?.trim(), "and 2 more");
});

test("a title becomes the name of a file that any system takes", () => {
  assert.equal(fileName("Fix: a/b \\ “ü”?", "md"), "Fix-a-b-ü.md");
  assert.equal(fileName("…", "jsonl"), "thread.jsonl");
  assert.equal(fileName("x".repeat(200), "md"), `${"x".repeat(60)}.md`);
});
