import assert from "node:assert/strict";
import { test } from "node:test";
import { Restarts } from "../src/restarts";

test("a daemon that is lost again and again is given up, until the user starts it", () => {
  const restarts = new Restarts();
  for (let n = 0; n < 5; n += 1) assert.equal(restarts.allow(n * 1000), true);
  assert.equal(restarts.allow(5000), false);
  assert.equal(restarts.allow(6000), true);
});

test("one that is lost now and then is always started again", () => {
  const restarts = new Restarts();
  for (let n = 0; n < 50; n += 1) assert.equal(restarts.allow(n * 60_000), true, `after ${n} minutes`);
});
