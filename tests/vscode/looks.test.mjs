// Whether everybody can use what is shown: in light, dark and high contrast, narrow and wide. `MIDSTREAM_SCENES` names
// a folder for the pictures.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, afterEach, before, test } from "node:test";
import { command, say, send, startEditor } from "./editor.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const THEMES = { light: "Light Modern", dark: "Dark Modern", contrast: "Dark High Contrast", "contrast-light": "Light High Contrast" };
const WIDTHS = { narrow: 900, wide: 1500 };
let editor;
before(async () => {
  // What the mouse rests on would tell its name over what is to be seen.
  editor = await startEditor({ settings: { "workbench.hover.delay": 3_600_000 } });
  writeFileSync(join(editor.workspace, "greet.py"), 'print("Hello")\n');
});
after(() => editor?.end());
afterEach((context) => editor?.keep(context));

/** What of a document is a serious or critical fault. */
async function faults(locator) {
  const frame = await (await locator.elementHandle()).ownerFrame();
  await frame.evaluate(axe);
  // The editor paints what is behind the view, out of the sight of axe.
  await frame.evaluate(() => (document.body.style.background = "var(--vscode-sideBar-background)"));
  const { violations } = await frame.evaluate(() => globalThis.axe.run(document));
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html}: ${failureSummary}`));
}

async function wear(theme) {
  const { page } = editor;
  await command(page, "Preferences: Color Theme");
  await page.locator(".quick-input-widget input").first().fill(theme);
  await page.locator(".quick-input-list .monaco-list-row", { has: page.getByText(theme, { exact: true }) }).first().click();
  await page.locator(".quick-input-widget").first().waitFor({ state: "hidden" });
}

async function picture(name) {
  const folder = process.env.MIDSTREAM_SCENES;
  await editor.page.mouse.move(450, 300);
  if (folder) await editor.page.screenshot({ path: join(folder, `${name}.png`) });
}

test("a thread with all that it can show is made", async () => {
  const { page, view } = editor;
  await say(view, "say: I shall make the greeting **kinder**:\n\n```python\ndef greet(name): ...\n```\nthink: A function first.\ntodo: Write it | Test it\ndone: Write it\nrun false\nwrite greet.py: def greet(name): return f'Hello, {name}'\nsay: Done.");
  await view.getByLabel("Who answers the next message").selectOption("understudy");
  await say(view, "say: I looked at it. It is fine.");
  await view.locator(".switch", { hasText: "told the whole thread" }).waitFor();
  await send(view, "append greet.py: print(greet('you'))");
  await view.locator(".request").waitFor();
  await send(view, "Now test it, please.");
  await view.getByText("Now test it, please.").waitFor();
  await view.getByLabel("Message", { exact: true }).fill("And then …");
  await command(page, "Midstream: Focus on Threads View");
  await page.locator(".tree-explorer-viewlet-tree-view .monaco-list-row.selected").waitFor();
  await command(page, "Midstream: Focus on Thread View");
});

for (const [name, theme] of Object.entries(THEMES)) {
  test(`in ${theme} nobody is shut out of the thread`, async () => {
    const { page, view } = editor;
    await wear(theme);
    for (const [size, width] of Object.entries(WIDTHS)) {
      await page.setViewportSize({ width, height: 900 });
      assert.deepEqual(await faults(view.locator("main")), []);
      await picture(`thread-${name}-${size}`);
    }
    await view.locator(".log").press("Home");
    await view.locator(".state.bad").waitFor();
    assert.deepEqual(await faults(view.locator("main")), []);
    await view.locator(".log").press("End");
  });
}

test("nobody is shut out of a preview", async () => {
  const { page, view } = editor;
  await wear(THEMES.light);
  await view.getByLabel("Who answers the next message").selectOption("rehearsal");
  await view.getByRole("button", { name: "Preview handoff" }).click();
  await view.locator(".preview").waitFor();
  assert.deepEqual(await faults(view.locator("main")), []);
  await view.getByRole("button", { name: "Edit handoff" }).click();
  await page.locator(".editor-instance .view-lines", { hasText: "The user asked" }).waitFor();
  await picture("handoff");
});

test("nobody is shut out of the thread while its changes are looked at", async () => {
  const { page, view } = editor;
  await command(page, "View: Close All Editors");
  await view.getByRole("button", { name: "Changes" }).first().click();
  await page.locator(".multiDiffEntry .editor.modified .view-line", { hasText: "greet" }).first().waitFor();
  assert.deepEqual(await faults(view.locator("main")), []);
  await picture("changes");
});
