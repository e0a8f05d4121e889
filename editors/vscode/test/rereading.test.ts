import assert from "node:assert/strict";
import { test } from "node:test";
import { Rereading } from "../src/rereading";

test("news during a reading lead to one more, and what was read is shown once", async () => {
  let [reads, shown] = [0, 0];
  let release = () => {};
  const rereading = new Rereading(
    () => {
      reads += 1;
      return new Promise<string>((resolve) => (release = () => resolve(`${reads}`)));
    },
    () => (shown += 1),
  );
  const all = [rereading.request(), rereading.request(), rereading.request()];
  release();
  await new Promise(setImmediate);
  assert.deepEqual([reads, shown], [2, 0]);
  release();
  await Promise.all(all);
  assert.deepEqual([reads, shown], [2, 1]);
});

test("a reading that fails shows nothing, and the next one is made", async () => {
  let [reads, shown] = [0, 0];
  const rereading = new Rereading(
    async () => {
      reads += 1;
      if (reads === 1) throw new Error("gone");
      return "";
    },
    () => (shown += 1),
  );
  await rereading.request();
  assert.equal(shown, 0);
  await rereading.request();
  assert.deepEqual([reads, shown], [2, 1]);
});

test("what is shown already is not shown again: a menu that is open keeps its row", async () => {
  let [read, shown] = ["one", 0];
  const rereading = new Rereading(
    async () => read,
    () => (shown += 1),
  );
  await rereading.request();
  await rereading.request();
  assert.equal(shown, 1);
  read = "two";
  await rereading.request();
  assert.equal(shown, 2);
});
