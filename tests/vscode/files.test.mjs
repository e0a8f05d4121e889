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

/** Wait until what an editor wrote stands on the disk. */
async function until(holds) {
  for (const deadline = Date.now() + 30_000; !holds(); await editor.page.waitForTimeout(50)) assert.ok(Date.now() < deadline, content());
}
