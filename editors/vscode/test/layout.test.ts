import assert from "node:assert/strict";
import { test } from "node:test";
import { Layout } from "../src/view/layout";

const layout = (...rows: (string | [key: string, missing: number])[]) => {
  const made = new Layout();
  made.setRows(rows.map((row) => (typeof row === "string" ? { key: row } : { key: row[0], missing: row[1] })));
  return made;
};

test("what was not measured is taken to be as high as what was", () => {
  const made = layout("a", "b", ["gap", 10], "c");
  made.measure([["a", 20], ["b", 40]]);
  assert.equal(made.height, 20 + 40 + 10 * 30 + 30);
  assert.equal(made.topOf("c"), 360);
});

test("the rows between two distances include those that are cut", () => {
  const made = layout("a", "b", "c", "d");
  made.measure(["a", "b", "c", "d"].map((key) => [key, 10]));
  assert.deepEqual(made.between(5, 25), [0, 3]);
  assert.deepEqual(made.between(10, 19), [1, 2]);
  assert.deepEqual(made.between(-100, 1000), [0, 4]);
  assert.deepEqual(layout().between(0, 100), [0, 0]);
});

test("measuring again what is known changes nothing, and another height moves what is below", () => {
  const made = layout("a", "b");
  assert.equal(made.measure([["a", 10], ["b", 10]]), true);
  assert.equal(made.measure([["a", 10]]), false);
  made.measure([["a", 50]]);
  assert.equal(made.topOf("b"), 50);
});

test("a height is remembered while its row is elsewhere or gone", () => {
  const made = layout("a", "b");
  made.measure([["a", 10], ["b", 30]]);
  made.setRows([{ key: "b" }]);
  made.setRows([{ key: "x" }, { key: "b" }]);
  assert.equal(made.top(1), 20);
  assert.equal(made.heightOf(1), 30);
});
