import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, afterEach, before, test } from "node:test";
import { say, startEditor } from "./editor.mjs";

let editor;
const content = () => readFileSync(join(editor.workspace, "a.txt"), "utf8");
before(async () => {
  editor = await startEditor();
  writeFileSync(join(editor.workspace, "a.txt"), "first\n");
  await say(editor.view, "append a.txt: second");
});
after(() => editor?.end());
afterEach((context) => editor?.keep(context));

test("one change of a run is taken back in the diff, in the real file", async () => {
  const { page, view } = editor;
  assert.match(content(), /second/);
  await view.getByRole("button", { name: "Changes" }).click();
  await page.locator(".multiDiffEditor .view-lines", { hasText: "second" }).first().hover();
  await page.locator(".multiDiffEditor").getByRole("button", { name: "Revert Block" }).first().click();
  await page.keyboard.press("Control+s");
  await until(() => content() === "first\n");
});

test("a restore over unsaved edits shows them first, and writes only when it is told to", async () => {
  const { page } = editor;
  await page.locator(".explorer-folders-view .monaco-list-row", { hasText: "a.txt" }).dblclick();
  const text = page.locator(".editor-instance .monaco-editor:not(.diff-editor *) .view-lines", { hasText: "first" }).last();
  await text.click();
  await page.keyboard.press("Control+End");
  await page.keyboard.type("unsaved");
  await page.locator('.activitybar [aria-label^="Midstream"]').first().click();
  await restore(page, "After run 1");
  const dialog = page.locator(".monaco-dialog-box");
  await dialog.getByText(/In conflict:\s+a\.txt: .*Unsaved edits/s).waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  assert.equal(content(), "first\n");
  await restore(page, "After run 1");
  await dialog.getByRole("button", { name: "Restore Anyway" }).click();
  await until(() => /second/.test(content()));
});

async function restore(page, checkpoint) {
  await page.locator(".tree-explorer-viewlet-tree-view .monaco-list-row", { hasText: checkpoint }).click({ button: "right" });
  // By key: a new menu passes over a click that comes too soon.
  await page.locator(".monaco-menu").getByText("Restore These Files").hover();
  await page.keyboard.press("Enter");
}

/** Wait until what an editor wrote stands on the disk. */
async function until(holds) {
  for (const deadline = Date.now() + 30_000; !holds(); await editor.page.waitForTimeout(50)) assert.ok(Date.now() < deadline, content());
}
