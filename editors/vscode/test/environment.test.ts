import assert from "node:assert/strict";
import { test } from "node:test";
import { best, faultOf, keyOf, makerOf, PIP_INSTALL, prefixOf, recentEnough } from "../src/environment";

test("an environment made from what is carried goes before an older one, and one without a mark is none", () => {
  const [half, old, now] = [
    { folder: "/h", mark: undefined },
    { folder: "/o", mark: "1" },
    { folder: "/n", mark: "2" },
  ];
  assert.equal(best([half, old, now], "2"), now);
  assert.equal(best([half, old], "2"), old);
  assert.equal(best([half], "2"), undefined);
});

test("another wheel or another hash of a package is another environment", () => {
  assert.notEqual(keyOf("a==1 --hash=sha256:00\n"), keyOf("a==1 --hash=sha256:01\n"));
});

test("Python 3.11 and newer will do", () => {
  for (const version of ["3.11.0", "3.14.0rc1", "3.20.1\n"]) assert.ok(recentEnough(version), version);
  for (const version of ["3.10.19", "2.7.18", "4.0.0", ""]) assert.ok(!recentEnough(version), version);
});

test("the name of a folder tells which process makes it", () => {
  assert.equal(makerOf(`${prefixOf(4711)}Xy12`), 4711);
  assert.equal(makerOf("settings"), undefined);
});

test("pip takes files by their hash alone, no packages but the named, and builds none", () => {
  for (const option of ["--require-hashes", "--no-deps", "--only-binary"])
    assert.ok(PIP_INSTALL.includes(option), option);
});

test("files other than the known ones are told apart from an index out of reach", () => {
  assert.equal(faultOf("pip", "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE."), "foreign");
  assert.equal(faultOf("pip", "ERROR: No matching distribution found for attrs==26.1.0"), "packages");
  assert.equal(faultOf("venv", "Error: Command returned non-zero exit status 1."), "environment");
});
