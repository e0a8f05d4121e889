import assert from "node:assert/strict";
import { existsSync, globSync } from "node:fs";
import { join } from "node:path";
import { after, afterEach, before, test } from "node:test";
import { command, say, startEditor } from "./editor.mjs";

let editor;
before(async () => {
  const ready = (view) => view.getByText("Nothing is started in a folder that you do not trust").waitFor();
  editor = await startEditor({ trusted: false, ready });
});
after(() => editor?.end());
afterEach((context) => editor?.keep(context));

const daemonRan = () => existsSync(join(editor.env.XDG_DATA_HOME, "midstream"));

test("in a folder that is not trusted nothing is started, not even by a command, until the user trusts it", async () => {
  const { page, view } = editor;
  await command(page, "Midstream: Restart the Daemon");
  for (const title of ["Midstream: Install for This Editor", "Midstream: Look for What Is Wrong"]) {
    await command(page, title);
    const told = page.locator(".notification-toast", { hasText: "Nothing is started in a folder that you do not trust" });
    await told.waitFor();
    await page.keyboard.press("Escape");
    await told.waitFor({ state: "detached" });
  }
  await command(page, "Workspaces: Manage Workspace Trust");
  const trust = page.locator(".workspace-trust-editor").getByRole("button", { name: "Trust", exact: true });
  await trust.waitFor();
  await view.getByText("Nothing is started in a folder that you do not trust").waitFor();
  assert.equal(daemonRan(), false);
  assert.deepEqual(globSync(join(editor.home, "profile/User/globalStorage/midstream.midstream/environment-*")), []);
  await trust.click();
  await view.locator("select option", { hasText: "Understudy" }).waitFor({ state: "attached" });
  await say(view, "say: trusted now");
  assert.equal(daemonRan(), true);
});
