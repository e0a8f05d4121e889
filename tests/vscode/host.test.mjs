import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { command, startEditor } from "./editor.mjs";
import { packHostTests } from "./host/pack.mjs";

const scratch = mkdtempSync(join(tmpdir(), "midstream-host-"));
const results = join(scratch, "results.json");
let editor;
before(async () => {
  const extensions = [await packHostTests(scratch)];
  editor = await startEditor({ extensions, variables: { MIDSTREAM_HOST_RESULTS: results } });
});
after(async () => {
  await editor?.end();
  rmSync(scratch, { recursive: true });
});
afterEach((context) => editor?.keep(context));

test("in the extension host", async (context) => {
  for (const deadline = Date.now() + 100_000; !existsSync(results); await editor.page.waitForTimeout(100))
    assert.ok(Date.now() < deadline, "The tests in the host did not end.");
  const ran = JSON.parse(readFileSync(results, "utf8"));
  assert.ok(ran.length > 0);
  for (const { name, error } of ran) await context.test(name, () => assert.ok(error === null, error));
});

test("without a folder the extension is active, and says that a thread needs one", async () => {
  const { page } = editor;
  rmSync(results);
  await page.goto(`${new URL(page.url()).origin}/?ew=true`);
  await page.locator('.statusbar-item[aria-label*="choose who answers next"], .statusbar-item [aria-label*="choose who answers next"]').first().waitFor();
  await command(page, "Midstream: New Thread");
  await page.locator(".notification-toast", { hasText: "Open a folder first" }).waitFor();
});

test("the daemon ends with its last editor", async () => {
  const { pid } = JSON.parse(readFileSync(join(editor.env.XDG_DATA_HOME, "midstream/daemon.lock"), "utf8"));
  assert.ok(isAlive(pid));
  const ending = editor;
  editor = undefined;
  await ending.end();
  for (const deadline = Date.now() + 20_000; isAlive(pid); await pause(20)) assert.ok(Date.now() < deadline, `${pid} is still there`);
});

function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
