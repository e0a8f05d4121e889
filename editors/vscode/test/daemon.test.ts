import assert from "node:assert/strict";
import { test } from "node:test";
import { findPrograms, incompatibility, PROTOCOL_VERSION, type Surroundings } from "../src/daemon";

const surroundings = (change: Partial<Surroundings>, ...files: string[]): Surroundings => ({
  path: "",
  home: "/home/ada",
  workspaces: [],
  executable: (file) => files.includes(file),
  ...change,
});
const find = (change: Partial<Surroundings>, ...files: string[]) =>
  findPrograms(["midstream"], surroundings(change, ...files));

test("the user's own folder is searched though the PATH lacks it", () => {
  assert.deepEqual(find({ path: "/usr/bin" }, "/home/ada/.local/bin/midstream"), ["/home/ada/.local/bin/midstream"]);
});

test("the PATH goes before the user's own folder, and the first name before the PATH's order", () => {
  const files = ["/home/ada/.local/bin/a", "/usr/bin/a", "/bin/b"];
  assert.deepEqual(findPrograms(["a", "b"], surroundings({ path: "/bin:/usr/bin" }, ...files)), [
    "/usr/bin/a",
    "/home/ada/.local/bin/a",
    "/bin/b",
  ]);
});

test("a daemon inside the workspace is never taken", () => {
  const inside = "/work/project/.venv/bin/midstream";
  assert.deepEqual(find({ path: "/work/project/.venv/bin", workspaces: ["/work/project"] }, inside), []);
  assert.deepEqual(find({ path: "/work/project/.venv/bin", workspaces: ["/work/proj"] }, inside), [inside]);
});

test("a relative folder of the PATH is not searched", () => {
  assert.deepEqual(find({ path: "bin:." }, "bin/midstream", "midstream"), []);
});

test("a server of another name or protocol is refused, and the older of the two is known", () => {
  assert.equal(incompatibility("pylsp", 1), "stranger");
  assert.equal(incompatibility("midstream", undefined), "stranger");
  assert.equal(incompatibility("midstream", PROTOCOL_VERSION - 1), "older");
  assert.equal(incompatibility("midstream", PROTOCOL_VERSION + 1), "newer");
  assert.equal(incompatibility("midstream", PROTOCOL_VERSION), undefined);
});
