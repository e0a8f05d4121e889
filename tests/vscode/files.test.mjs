import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, afterEach, before, test } from "node:test";
import { command, say, startEditor, until } from "./editor.mjs";

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
  // One that was renamed would have its old name beside it.
  assert.deepEqual(await page.locator(".multiDiffEditor .file-path").allInnerTexts(), ["a.txt"]);
  await page.locator(".multiDiffEditor").getByRole("button", { name: "Revert Block" }).first().click();
  await page.keyboard.press("Control+s");
  await until(() => content() === "first\n", content);
});

test("the changes of a run are those of its own files, and say where unsaved edits hide them", async () => {
  const { page, view } = editor;
  await say(view, "write b.txt: later");
  await command(page, "View: Close All Editors");
  await view.getByRole("button", { name: "Changes" }).last().click();
  const shown = page.locator(".multiDiffEditor .file-path");
  await page.locator(".multiDiffEditor .view-lines", { hasText: "later" }).first().waitFor();
  assert.deepEqual(await shown.allInnerTexts(), ["b.txt\nA"]);
  await page.locator(".multiDiffEditor .modified .view-lines", { hasText: "later" }).first().click();
  await page.keyboard.type("unsaved ");
  await view.getByRole("button", { name: "Changes" }).last().click();
  await page.locator(".notification-toast", { hasText: "Unsaved edits are shown instead of what is in the file: b.txt" }).waitFor();
});
