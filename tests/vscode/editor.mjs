// A real editor with the packed extension: code-server in a throw-away profile, opened in headless Chromium.
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const here = fileURLToPath(new URL(".", import.meta.url));
const root = join(here, "../..");
const entry = join(here, "node_modules/code-server/out/node/entry.js");
const vsix = join(root, "editors/vscode/midstream.vsix");
const BOUND = 60_000;

/** Start an editor on an empty workspace; `settings` go over those that every test needs. */
export async function startEditor({ settings = {}, viewport = { width: 1280, height: 800 } } = {}) {
  const home = mkdtempSync(join(tmpdir(), "midstream-vscode-"));
  const workspace = join(home, "workspace");
  const profile = join(home, "profile");
  const whole = {
    "midstream.command": [join(root, ".venv/bin/midstream")],
    "midstream.rehearsal": true,
    "security.workspace.trust.enabled": false,
    "workbench.startupEditor": "none",
    "telemetry.telemetryLevel": "off",
    "files.simpleDialog.enable": true,
    ...settings,
  };
  mkdirSync(workspace);
  for (const scope of ["User", "Machine"]) {
    mkdirSync(join(profile, scope), { recursive: true });
    writeFileSync(join(profile, scope, "settings.json"), JSON.stringify(whole));
  }
  const env = { ...process.env, HOME: home, XDG_DATA_HOME: join(home, "data"), XDG_CONFIG_HOME: join(home, "config"), XDG_STATE_HOME: join(home, "state") };
  const folders = ["--user-data-dir", profile, "--extensions-dir", join(home, "extensions")];
  const installed = spawnSync(process.execPath, [entry, ...folders, "--install-extension", vsix], { env, encoding: "utf8" });
  if (installed.status !== 0) throw new Error(installed.stdout + installed.stderr);
  const port = await freePort();
  const flags = ["--auth", "none", "--bind-addr", `127.0.0.1:${port}`, "--disable-telemetry", "--disable-update-check", "--disable-workspace-trust"];
  const server = spawn(process.execPath, [entry, ...folders, ...flags], { env, detached: true, stdio: "ignore" });
  const url = `http://127.0.0.1:${port}/?folder=${workspace}`;
  await reachable(url);
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"] });
  const context = await browser.newContext({ viewport });
  const foreign = [];
  await context.route((address) => !["127.0.0.1", "localhost"].includes(address.hostname), (route) => {
    foreign.push(route.request().url());
    return route.abort();
  });
  const page = await context.newPage();
  page.setDefaultTimeout(BOUND);
  await page.goto(url);
  await page.locator(".monaco-workbench").waitFor();
  await page.locator('.activitybar [aria-label^="Midstream"]').first().waitFor();
  const end = async () => {
    await browser.close();
    process.kill(-server.pid, "SIGTERM");
    await new Promise((resolve) => server.once("exit", resolve));
    rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  };
  return { page, workspace, home, env, root, foreign, end, view: threadOf(page) };
}

/** The thread view's own document. */
export function threadOf(page) {
  return page.frameLocator("iframe.webview").first().frameLocator("#active-frame");
}

/** Choose a command by its title, as a user does. */
export async function command(page, title) {
  await page.keyboard.press("F1");
  await page.locator(".quick-input-widget input").first().fill(`>${title}`);
  await page.locator(".quick-input-list .monaco-list-row", { hasText: title }).first().click();
}

/** Send a message from the thread view and wait until its run has ended. */
export async function say(view, text, ended = "completed") {
  const before = await view.locator(`.end.${ended}`).count();
  await view.getByLabel("Message", { exact: true }).fill(text);
  await view.getByRole("button", { name: "Send", exact: true }).click();
  await view.locator(`.end.${ended}`).nth(before).waitFor();
}

async function freePort() {
  const probe = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => probe.once("listening", resolve));
  const { port } = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

async function reachable(url) {
  for (const deadline = Date.now() + BOUND; Date.now() < deadline; await pause(100))
    if (await fetch(url).then((answer) => answer.ok, () => false)) return;
  throw new Error(`code-server did not answer at ${url}.`);
}
