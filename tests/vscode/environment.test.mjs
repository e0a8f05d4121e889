import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, globSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { command, say, startEditor } from "./editor.mjs";
import { startPackageIndex } from "./packageIndex.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const python = join(root, ".venv/bin/python");
const scratch = mkdtempSync(join(tmpdir(), "midstream-index-"));
const mark = join(scratch, "hostile-ran");
let index;
let editor;
before(async () => {
  const requirements = join(root, "editors/vscode/requirements.txt");
  index = await startPackageIndex({ python, requirements, folder: join(scratch, "packages"), mark });
  const settings = { "midstream.command": [], "midstream.python": python };
  const ready = (view) => view.getByText("Midstream is not installed").waitFor();
  editor = await startEditor({ settings, variables: index.variables, ready });
});
after(async () => {
  await editor?.end();
  index?.end();
  rmSync(scratch, { recursive: true });
});
afterEach((context) => editor?.keep(context));

const storage = () => globSync(join(editor.home, "profile/User/globalStorage/midstream.midstream/environment-*"));
const notification = (text) => editor.page.locator(".notification-toast", { hasText: text });

test("where an index offers other bytes for a package, nothing is installed, and the user is told", async () => {
  const putBack = index.replace("typing-inspection");
  await notification("Install Midstream for this editor?").getByRole("button", { name: "Install", exact: true }).click();
  await notification("The package index offers other files").waitFor();
  putBack();
  assert.deepEqual(storage(), []);
  await editor.view.getByText("Midstream is not installed").waitFor();
});

test("the wheel that the extension carries is installed, and the thread view works with it", async () => {
  index.asked.length = 0;
  await command(editor.page, "Midstream: Install for This Editor");
  await editor.view.locator("select option", { hasText: "Understudy" }).waitFor({ state: "attached", timeout: 120_000 });
  await say(editor.view, "say: from my own environment");
  await editor.view.locator(".agent", { hasText: "from my own environment" }).waitFor();
  const [environment, ...others] = storage();
  assert.deepEqual(others, []);
  const [site] = globSync(join(environment, "lib/python3*/site-packages"));
  assert.deepEqual(readdirSync(site).filter((name) => /^midstream-/.test(name)), ["midstream-0.1.0.dist-info"]);
  assert.ok(index.asked.includes("attrs") && !index.asked.includes("midstream"), index.asked.join(" "));
  assert.equal(existsSync(mark), false);
});

test("a reload takes the environment that is there", async () => {
  const made = storage();
  await editor.page.reload();
  await editor.view.locator(".agent", { hasText: "from my own environment" }).waitFor();
  assert.deepEqual(storage(), made);
});

test("the index is hostile indeed: whoever asks it for Midstream lets it run what it likes", async () => {
  const victim = join(scratch, "victim");
  // Not blocking, because the index is served from here.
  const act = promisify(execFile);
  await act(python, ["-m", "venv", victim]);
  const env = { ...process.env, ...index.variables };
  await act(join(victim, "bin/python"), ["-m", "pip", "install", "--no-deps", "midstream"], { env });
  await act(join(victim, "bin/python"), ["-c", ""]);
  assert.ok(existsSync(mark));
});
