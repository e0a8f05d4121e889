import assert from "node:assert/strict";
import { test } from "node:test";
import { findDaemon, incompatibility, type Surroundings } from "../src/daemon";

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

test("a server of another name or protocol is refused with what to do", () => {
  assert.match(incompatibility({ name: "pylsp" }, 1) ?? "", /midstream\.command/);
  assert.match(incompatibility({ name: "midstream", version: "9" }, 2) ?? "", /Update/);
  assert.equal(incompatibility({ name: "midstream", version: "0.1" }, 1), undefined);
});
