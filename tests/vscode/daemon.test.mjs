import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { startClient } from "./client.mjs";
import { command, say, startEditor, until } from "./editor.mjs";

const real = fileURLToPath(new URL("../../.venv/bin/midstream", import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), "midstream-daemon-"));
const [wrapper, held, broken, newer] = ["midstream", "held", "broken", "newer"].map((name) => join(scratch, name));
const capabilities = { experimental: { midstream: { protocolVersion: 2, methods: [], notifications: [], configProblems: [] } } };
const answer = JSON.stringify({ jsonrpc: "2.0", id: 0, result: { capabilities, serverInfo: { name: "midstream", version: "9.9" } } });
/** The daemon, unless a file says that it is held, broken or of a later time. */
const SCRIPT = `#!/bin/sh
while [ -e ${held} ]; do sleep 0.05; done
[ -e ${broken} ] && exit 3
[ -e ${newer} ] && { head -c 1 >/dev/null; printf 'Content-Length: ${answer.length}\\r\\n\\r\\n%s' '${answer}'; exec cat >/dev/null; }
exec ${real} "$@"
`;

let editor;
before(async () => {
  writeFileSync(wrapper, SCRIPT, { mode: 0o755 });
  editor = await startEditor({ settings: { "midstream.command": [wrapper] } });
  await say(editor.view, "say: before all of it");
});
after(async () => {
  await editor?.end();
  rmSync(scratch, { recursive: true });
});
afterEach(async (context) => {
  await editor?.keep(context);
  // What a failed test left in the way is not in the way of the next one.
  for (const file of [held, broken, newer]) rmSync(file, { force: true });
});

const notification = (text) => editor.page.locator(".notification-toast", { hasText: text });
const restart = (text) => notification(text).getByRole("button", { name: "Restart" }).click();
const status = (text) => editor.page.locator(`.statusbar-item [aria-label*="${text}"], .statusbar-item[aria-label*="${text}"]`).first();
const daemonLock = () => JSON.parse(readFileSync(join(editor.env.XDG_DATA_HOME, "midstream/daemon.lock"), "utf8"));

/** Change the settings of the machine that the editor runs on. */
function configure(change) {
  for (const scope of ["User", "Machine"]) {
    const file = join(editor.home, "profile", scope, "settings.json");
    writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, "utf8")), ...change }));
  }
}

test("a daemon that ends is started again with the thread as it was, the sixth time in a row by a button", async () => {
  const { view } = editor;
  for (let times = 0; times < 5; times += 1) {
    writeFileSync(held, "");
    process.kill(daemonLock().pid, "SIGKILL");
    await status("Midstream starts").waitFor();
    assert.ok(await view.locator(".agent", { hasText: "before all of it" }).isVisible());
    rmSync(held);
    await status("choose who answers next").waitFor();
  }
  process.kill(daemonLock().pid, "SIGKILL");
  await status("Midstream ended and does not stay up").waitFor();
  await view.getByText("Midstream ended and does not stay up").waitFor();
  await restart("Midstream ended and does not stay up");
  await status("choose who answers next").waitFor();
  await say(view, "say: and after it");
});

test("a daemon of a later protocol is refused, with what to do", async () => {
  const { page, view } = editor;
  writeFileSync(newer, "");
  await command(page, "Midstream: Restart the Daemon");
  await view.getByText(`Midstream 9.9 (${wrapper}) is too new for this extension. Update the extension.`).waitFor();
  rmSync(newer);
  await command(page, "Midstream: Restart the Daemon");
  await view.locator(".agent", { hasText: "before all of it" }).waitFor();
});

test("one that never started is told of at once, with where to look", async () => {
  const { page, view } = editor;
  writeFileSync(broken, "");
  await command(page, "Midstream: Restart the Daemon");
  await view.getByText(`Midstream (${wrapper}) does not start`).waitFor();
  rmSync(broken);
  await command(page, "Midstream: Restart the Daemon");
  await view.locator(".agent", { hasText: "before all of it" }).waitFor();
});

test("the size of a handoff is set while the daemon runs", async (context) => {
  const client = await startClient(editor);
  context.after(() => client.end());
  const { threads } = await client.call("thread/list", { workspace: pathToFileURL(editor.workspace).href });
  const threadId = threads[0].id;
  await client.call("provider/switch", { threadId, selection: { provider: "understudy", model: null }, commandId: "to-understudy" });
  const budget = async () => (await client.call("handoff/preview", { threadId, commandId: `preview-${Math.random()}` })).handoffs[0].tokens.budget;
  assert.equal(await budget(), 16000);
  configure({ "midstream.handoff.budgetTokens": 3000 });
  await until(async () => (await budget()) === 3000);
});

test("a setting that is read at the start takes effect by the restart that is offered", async () => {
  const { view } = editor;
  configure({ "midstream.rehearsal": false });
  await restart("Midstream uses the changed settings once it is restarted.");
  await view.locator("select option", { hasText: "Understudy" }).waitFor({ state: "detached" });
  await view.locator(".agent", { hasText: "before all of it" }).waitFor();
});

test("the doctor's report stands in the log", async () => {
  await command(editor.page, "Midstream: Look for What Is Wrong");
  await editor.page.locator(".output-view .view-line", { hasText: "Disk use: database" }).waitFor();
});
