import assert from "node:assert/strict";
import { test } from "node:test";
import type { Thread } from "../src/protocol";
import { ThreadFamily } from "../src/threadFamily";
import { iconOf, menuContext, signsOf } from "../src/threadSigns";

const thread = (id: string, parent: string | null = null, more: Partial<Thread> = {}): Thread => {
  const lineage = {
    parentThreadId: parent,
    relationshipToParent: parent === null ? null : ("fork" as const),
    rootThreadId: "a",
  };
  return {
    id,
    title: `Title ${id}`,
    lineage,
    status: "idle",
    queueHeld: false,
    archivedAt: null,
    pendingTransferIds: [],
    ...more,
  } as Thread;
};
const ids = (threads: readonly Thread[]) => threads.map(({ id }) => id);
const quiet = { asking: new Set<string>(), aboveAsking: new Set<string>(), mergeBacks: new Map<string, number>() };

test("a fork stands under its source, and at the top where that is not listed", () => {
  const family = new ThreadFamily([thread("a"), thread("b", "a"), thread("c", "b"), thread("d", "elsewhere")]);
  assert.deepEqual(ids(family.childrenOf()), ["a", "d"]);
  assert.deepEqual(ids(family.childrenOf("a")), ["b"]);
  assert.deepEqual(ids(family.childrenOf("b")), ["c"]);
});

test("a filter keeps what matches in either case, and what leads to it", () => {
  const threads = [
    thread("a"),
    thread("b", "a"),
    thread("c", "b", { title: "The Wanted one" }),
    thread("d"),
    thread("e", "c"),
  ];
  const family = new ThreadFamily(threads, "wanted");
  assert.deepEqual(ids(family.childrenOf()), ["a"]);
  assert.deepEqual(ids(family.childrenOf("b")), ["c"]);
  assert.deepEqual(family.childrenOf("c"), []);
});

test("who asks is told to all above it, and to no one else", () => {
  const family = new ThreadFamily([thread("a"), thread("b", "a"), thread("c", "b"), thread("d", "a")]);
  assert.deepEqual([...family.above(["c", "gone"])].sort(), ["a", "b"]);
});

test("what waits for the user comes before all else", () => {
  const held = thread("a", null, { queueHeld: true, archivedAt: "2026-12-01T00:00:00.000Z" });
  const around = { asking: new Set<string>(), aboveAsking: new Set(["a"]), mergeBacks: new Map([["a", 2]]) };
  const signs = signsOf(held, around);
  assert.deepEqual(signs, ["childWaits", "held", "mergeBacks", "archived"]);
  assert.equal(iconOf(held, signs), "bell");
  assert.deepEqual(signsOf(thread("b", null, { status: "waiting" }), around), ["waits"]);
});

test("a thread that is at rest has the icon of what it is", () => {
  assert.equal(iconOf(thread("a"), []), "comment");
  assert.equal(iconOf(thread("b", "a"), []), "repo-forked");
  const child = thread("c", "a", {
    lineage: { parentThreadId: "a", relationshipToParent: "subagent", rootThreadId: "a" },
  });
  assert.equal(iconOf(child, []), "type-hierarchy-sub");
});

test("the menu offers what can be done with the thread as it stands", () => {
  assert.equal(menuContext(thread("a"), []), "thread unarchived");
  const fork = thread("b", "a", { queueHeld: true, pendingTransferIds: ["t"], archivedAt: "2026-12-01T00:00:00.000Z" });
  assert.equal(menuContext(fork, signsOf(fork, quiet)), "thread held archived fork transfer");
});
