import assert from "node:assert/strict";
import { test } from "node:test";
import { HeldItems, type PageAnchor } from "../src/heldItems";
import type { AgentMessageItem, Item } from "../src/protocol";

const item = (ordinal: number, text = "") => ({ id: `i${ordinal}`, ordinal, type: "agentMessage", text, parentItemId: null }) as AgentMessageItem as Item;
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => item(from + index));
/** What the daemon answers of a thread of 1,000 items. */
const page = (from: number, to: number) => ({
  items: range(from, to),
  previousItemId: from === 1 ? null : `i${from}`,
  nextItemId: to === 1000 ? null : `i${to}`,
});
const read = (...pages: [number, number, PageAnchor | { last: true }][]) => {
  const held = new HeldItems();
  for (const [from, to, anchor] of pages) held.takePage(page(from, to), anchor);
  return held;
};
const gaps = (held: HeldItems) => [...held.gapsBefore()].sort();
const ordinals = (held: HeldItems) => held.ordered().map(({ ordinal }) => ordinal);

test("the last page leaves a gap before it, and the first one behind it", () => {
  assert.deepEqual(gaps(read([901, 1000, { last: true }])), ["i901"]);
  const held = read([901, 1000, { last: true }], [1, 100, { first: true }]);
  assert.deepEqual(gaps(held), ["i901"]);
  assert.deepEqual(ordinals(held), [...range(1, 100), ...range(901, 1000)].map(({ ordinal }) => ordinal));
});

test("a page beside what is held moves the gap's edge", () => {
  assert.deepEqual(gaps(read([901, 1000, { last: true }], [801, 900, { beforeItemId: "i901" }])), ["i801"]);
  const after = read([901, 1000, { last: true }], [1, 100, { first: true }], [101, 200, { afterItemId: "i100" }]);
  assert.deepEqual(gaps(after), ["i901"]);
});

test("a page in the middle parts the gap", () => {
  const held = read([901, 1000, { last: true }], [1, 100, { first: true }], [450, 549, { aroundItemId: "i500" }]);
  assert.deepEqual(gaps(held), ["i450", "i901"]);
});

test("a gap that a page fills is gone, also where the page reaches into what is held", () => {
  assert.deepEqual(gaps(read([901, 1000, { last: true }], [1, 850, { first: true }], [851, 950, { afterItemId: "i850" }])), []);
  assert.deepEqual(gaps(read([901, 1000, { last: true }], [1, 850, { first: true }], [851, 900, { beforeItemId: "i901" }])), []);
  assert.deepEqual(gaps(read([101, 1000, { last: true }], [1, 100, { beforeItemId: "i101" }])), []);
});

test("an empty page before the first item says that nothing is there", () => {
  const held = read([901, 1000, { last: true }]);
  held.takePage({ items: [], previousItemId: null, nextItemId: null }, { beforeItemId: "i901" });
  assert.deepEqual(gaps(held), []);
});

test("an item that changes in the middle of a gap does not close it", () => {
  const held = read([901, 1000, { last: true }]);
  held.put(item(500));
  assert.deepEqual(gaps(held), ["i500", "i901"]);
  held.put(item(1001));
  assert.deepEqual(gaps(held), ["i500", "i901"]);
});

test("a page does not put an older record back", () => {
  const held = read([901, 1000, { last: true }]);
  held.put(item(950, "new"));
  held.takePage(page(901, 1000), { last: true });
  assert.equal((held.get("i950") as AgentMessageItem).text, "new");
  assert.equal(held.ordered().length, 100);
});
