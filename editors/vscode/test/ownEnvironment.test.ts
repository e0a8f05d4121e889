// The environment is made by a stand-in for Python, which tells apart what it is asked for.
import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { InstallationFault, OwnEnvironment } from "../src/ownEnvironment";

let home: string;
let storage: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "midstream-own-"));
  storage = join(home, "storage");
  mkdirSync(join(home, "carried"));
  carry("a==1 --hash=sha256:00");
});
afterEach(() => rmSync(home, { recursive: true }));

const never = new AbortController().signal;
const own = () => new OwnEnvironment(join(home, "carried"), storage, () => undefined);
const carry = (requirements: string) => writeFileSync(join(home, "carried/requirements.txt"), requirements);

/** A Python that makes an environment with itself in it, and as pip does what it is told. */
function python(pip: string, version = "3.12.1"): string {
  const file = join(home, "python");
  const venv = `mkdir -p "$4/bin"; cp "$0" "$4/bin/python"; : >"$4/bin/midstream"`;
  writeFileSync(
    file,
    `#!/bin/sh\ncase "$2 $3" in "-c "*) echo ${version};; "-m venv") ${venv};; "-m pip") ${pip};; esac\n`,
  );
  chmodSync(file, 0o755);
  return file;
}

test("a finished environment is found again, and is an old one once another wheel is carried", async () => {
  assert.equal(own().found, undefined);
  await own().make(python("exit 0"), never);
  const { command, current } = own().found!;
  assert.ok(existsSync(command[0]));
  assert.equal(current, true);
  carry("a==2 --hash=sha256:01");
  assert.deepEqual(own().found, { command, current: false });
});

test("a newer environment takes the place of the old one and of what a lost editor left", async () => {
  await own().make(python("exit 0"), never);
  mkdirSync(join(storage, "environment-999999999-left"));
  carry("a==2 --hash=sha256:01");
  await own().make(python("exit 0"), never);
  assert.equal(own().found?.current, true);
  assert.equal(readdirSync(storage).length, 1);
});

test("what another window makes is left alone", async () => {
  mkdirSync(join(storage, `environment-${process.ppid}-making`), { recursive: true });
  await own().make(python("exit 0"), never);
  assert.equal(readdirSync(storage).length, 2);
});

test("what fails leaves nothing, says what failed, and keeps the old environment", async () => {
  await own().make(python("exit 0"), never);
  const old = own().found?.command;
  carry("a==2 --hash=sha256:01");
  const failing = python("echo THESE PACKAGES DO NOT MATCH THE HASHES; exit 1");
  await assert.rejects(own().make(failing, never), (error: InstallationFault) => error.fault === "foreign");
  assert.equal(readdirSync(storage).length, 1);
  assert.deepEqual(own().found?.command, old);
});

test("cancelling ends pip with its children and leaves nothing", { timeout: 10_000 }, async () => {
  const cancelled = new AbortController();
  const started = join(home, "started");
  const making = own().make(python(`sh -c 'echo $$ >${started}; exec sleep 30'`), cancelled.signal);
  const rejected = assert.rejects(making, /enough/);
  while (!existsSync(started)) await new Promise((resolve) => setImmediate(resolve));
  cancelled.abort(new Error("enough"));
  await rejected;
  assert.deepEqual(readdirSync(storage), []);
});

test("the first Python that is recent enough is taken", async () => {
  const old = join(home, "old");
  writeFileSync(old, "#!/bin/sh\necho 3.10.2\n", { mode: 0o755 });
  const recent = python("exit 0");
  assert.equal(await own().choosePython([join(home, "none"), old, recent], never), recent);
  assert.equal(await own().choosePython([old], never), undefined);
});
