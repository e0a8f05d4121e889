import assert from "node:assert/strict";
import { test } from "node:test";
import { findDaemon, incompatibility, PROTOCOL_VERSION, type Surroundings } from "../src/daemon";

const surroundings = (change: Partial<Surroundings>, ...files: string[]): Surroundings => ({
  configured: [],
  path: "",
  home: "/home/ada",
  executable: (file) => files.includes(file),
  ...change,
});

test("the configured command goes before one on the PATH", () => {
  const found = findDaemon(surroundings({ configured: ["/opt/m", "-v"], path: "/usr/bin" }, "/usr/bin/midstream"), []);
  assert.deepEqual(found, ["/opt/m", "-v"]);
});

test("the user's own folder is searched though the PATH lacks it", () => {
  assert.deepEqual(findDaemon(surroundings({ path: "/usr/bin" }, "/home/ada/.local/bin/midstream"), []), ["/home/ada/.local/bin/midstream"]);
});

test("a daemon inside the workspace is never taken", () => {
  const inside = "/work/project/.venv/bin/midstream";
  assert.equal(findDaemon(surroundings({ path: "/work/project/.venv/bin" }, inside), ["/work/project"]), undefined);
  assert.deepEqual(findDaemon(surroundings({ path: "/work/project/.venv/bin" }, inside), ["/work/proj"]), [inside]);
});

test("a relative folder of the PATH is not searched", () => {
  assert.equal(findDaemon(surroundings({ path: "bin:." }, "bin/midstream", "midstream"), []), undefined);
});

test("a server of another name or protocol is refused, and the older of the two is known", () => {
  assert.equal(incompatibility("pylsp", 1), "stranger");
  assert.equal(incompatibility("midstream", undefined), "stranger");
  assert.equal(incompatibility("midstream", PROTOCOL_VERSION - 1), "older");
  assert.equal(incompatibility("midstream", PROTOCOL_VERSION + 1), "newer");
  assert.equal(incompatibility("midstream", PROTOCOL_VERSION), undefined);
});
