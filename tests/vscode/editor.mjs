// A real editor with the packed extension: code-server in a throw-away profile, opened in headless Chromium.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const here = fileURLToPath(new URL(".", import.meta.url));
export const root = join(here, "../..");
const entry = join(here, "node_modules/code-server/out/node/entry.js");
const vsix = join(root, "editors/vscode/midstream.vsix");
/** Milliseconds within which an editor starts, and within which it does anything else. */
const START = 120_000;
const BOUND = 30_000;

/**
 * Start an editor on an empty workspace and wait until the thread view is `ready`. `settings` go over those that every
 * test needs, `variables` over the environment, and `config` is the daemon's own configuration; `translations` are the
 * extension's texts in German, which the editor then speaks; where the workspace is not `trusted`, the editor runs with
 * workspace trust; `extensions` are installed too.
 */
export async function startEditor({
  settings = {},
  variables = {},
  prepare,
  translations,
  config = "",
  trusted = true,
  extensions = [],
  viewport = { width: 1280, height: 800 },
  ready = (view) => view.locator("select option", { hasText: "Understudy" }).waitFor({ state: "attached" }),
} = {}) {
  const home = mkdtempSync(join(tmpdir(), "midstream-vscode-"));
  const workspace = join(home, "workspace");
  const profile = join(home, "profile");
  const whole = {
    "midstream.command": [join(root, ".venv/bin/midstream")],
    "midstream.rehearsal": true,
    "security.workspace.trust.enabled": !trusted,
    "security.workspace.trust.startupPrompt": "never",
    "security.workspace.trust.banner": "never",
    "workbench.startupEditor": "none",
    "telemetry.telemetryLevel": "off",
    "files.simpleDialog.enable": true,
    "files.autoSave": "off",
    "chat.disableAIFeatures": true,
    "git.enabled": false,
    "remote.autoForwardPorts": false,
    "workbench.enableExperiments": false,
    "extensions.autoUpdate": false,
    ...settings,
  };
  mkdirSync(workspace);
  mkdirSync(join(home, "config/midstream"), { recursive: true });
  writeFileSync(join(home, "config/midstream/config.toml"), config);
  for (const scope of ["User", "Machine"]) {
    mkdirSync(join(profile, scope), { recursive: true });
    writeFileSync(join(profile, scope, "settings.json"), JSON.stringify(whole));
  }
  const env = { ...process.env, HOME: home, XDG_DATA_HOME: join(home, "data"), XDG_CONFIG_HOME: join(home, "config"), XDG_STATE_HOME: join(home, "state"), EXTENSIONS_GALLERY: '{"serviceUrl":"http://127.0.0.1:9"}', ...variables };
  prepare?.({ env, workspace });
  const folders = ["--user-data-dir", profile, "--extensions-dir", join(home, "extensions")];
  const wanted = [vsix, ...extensions].flatMap((file) => ["--install-extension", file]);
  const installed = spawnSync(process.execPath, [entry, ...folders, ...wanted], { env, encoding: "utf8" });
  if (installed.status !== 0) throw new Error(installed.stdout + installed.stderr);
  if (translations !== undefined) {
    const [extension] = globSync(join(home, "extensions/midstream.midstream-*"));
    writeFileSync(join(extension, "l10n/bundle.l10n.de.json"), JSON.stringify(translations));
  }
  const port = await freePort();
  const flags = ["--auth", "none", "--bind-addr", `127.0.0.1:${port}`, "--disable-telemetry", "--disable-update-check", ...(trusted ? ["--disable-workspace-trust"] : [])];
  const server = spawn(process.execPath, [entry, ...folders, ...flags], { env, detached: true, stdio: "ignore" });
  const url = `http://127.0.0.1:${port}/?folder=${workspace}`;
  await reachable(url);
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"] });
  const context = await browser.newContext({ viewport });
  if (translations !== undefined) await context.addInitScript(() => (globalThis._VSCODE_NLS_LANGUAGE = "de"));
  const foreign = [];
  await context.route((address) => !["127.0.0.1", "localhost"].includes(address.hostname), (route) => {
    foreign.push(route.request().url());
    return route.abort();
  });
  const page = await context.newPage();
  page.setDefaultTimeout(START);
  await page.goto(url);
  await page.locator('.activitybar [aria-label^="Midstream"]').first().waitFor();
  const view = threadOf(page);
  await command(page, "Midstream: Focus on Thread View");
  await ready(view);
  page.setDefaultTimeout(BOUND);
  const end = async () => {
    await browser.close();
    process.kill(-server.pid, "SIGTERM");
    await new Promise((resolve) => server.once("exit", resolve));
    rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  };
  /** Leave a picture of a failed test where the environment says so. */
  const keep = async ({ name, passed }) => {
    const folder = process.env.MIDSTREAM_PICTURES;
    if (folder && !passed) await page.screenshot({ path: join(folder, `${name.replace(/\W+/g, "-")}.png`) });
  };
  return { keep, page, workspace, home, env, root, foreign, end, view };
}

/** Store a thread of 5,000 items before the daemon starts. */
export function fillLongThread({ env, workspace }) {
  const filled = spawnSync(join(root, ".venv/bin/python"), [join(here, "long_thread.py"), join(env.XDG_DATA_HOME, "midstream"), workspace], { encoding: "utf8" });
  if (filled.status !== 0) throw new Error(filled.stderr);
}

/** The thread view's own document. */
export function threadOf(page) {
  return page.frameLocator("iframe.webview").first().frameLocator("#active-frame");
}

/** Choose a command by its title, as a user does. */
export async function command(page, title) {
  // What is typed into a list that is closing is lost.
  await page.locator(".quick-input-widget").first().waitFor({ state: "hidden" });
  await page.keyboard.press("F1");
  await page.locator(".quick-input-widget input").first().fill(`>${title}`);
  await page.locator(".quick-input-list .monaco-list-row", { hasText: title }).first().click();
}

/** Write a message in the thread view and send it. */
export async function send(view, text) {
  await view.getByLabel("Message", { exact: true }).fill(text);
  await view.getByLabel("Message", { exact: true }).press("Enter");
}

/** Send a message and wait until its run has completed, with everything allowed that it asks for. */
export async function say(view, text) {
  const before = view.locator(".row:last-child .end");
  const known = (await before.count()) === 0 ? "" : await before.getAttribute("data-run");
  await send(view, text);
  const ended = view.locator(`.row:last-child .end.completed:not([data-run="${known}"])`);
  const allow = view.locator(".request").getByRole("button", { name: "Allow", exact: true });
  for (;;) {
    await ended.or(allow).first().waitFor();
    if (await ended.isVisible()) return;
    // A row that was seen may be drawn anew just now.
    if (!(await allow.first().isVisible())) continue;
    const card = await view.locator(".request").first().getAttribute("data-request");
    await allow.first().click();
    await view.locator(`[data-request="${card}"]`).waitFor({ state: "detached" });
  }
}

/** Wait until what no element of the page shows holds; `found` says what there is instead. */
export async function until(holds, found = () => "") {
  for (const deadline = Date.now() + BOUND; !(await holds()); await pause(50)) assert.ok(Date.now() < deadline, found());
}

async function freePort() {
  const probe = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => probe.once("listening", resolve));
  const { port } = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

async function reachable(url) {
  for (const deadline = Date.now() + START; Date.now() < deadline; await pause(100))
    if (await fetch(url).then((answer) => answer.ok, () => false)) return;
  throw new Error(`code-server did not answer at ${url}.`);
}
