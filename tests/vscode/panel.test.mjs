import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { command, say, send, startEditor } from "./editor.mjs";

let editor, tab;
before(async () => {
  editor = await startEditor();
  tab = pageIn(editor.page, "tab");
  await say(editor.view, "say: said before the tab");
});
after(() => editor?.end());
afterEach((context) => editor?.keep(context));

/** The document of the thread in an editor tab, by its content: the order of webviews in the workbench says nothing. */
function pageIn(page) {
  return page.locator('iframe.webview[name]').nth(1).contentFrame().locator("#active-frame").contentFrame();
}

test("the thread opens in an editor tab too, and both show what is said in either", async () => {
  const { page, view } = editor;
  await command(page, "Midstream: Open Thread in an Editor Tab");
  await tab.locator(".agent", { hasText: "said before the tab" }).waitFor();
  await send(tab, "say: asked in the tab");
  for (const place of [view, tab]) await place.locator(".agent", { hasText: "asked in the tab" }).waitFor();
  await say(view, "say: asked at the side");
  for (const place of [view, tab]) await place.locator(".agent", { hasText: "asked at the side" }).waitFor();
});
