import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { command, say, startEditor } from "./editor.mjs";

let editor;
before(async () => {
  editor = await startEditor();
  await command(editor.page, "Midstream: Focus on Thread View");
  await editor.view.getByLabel("Message", { exact: true }).waitFor();
  await editor.view.locator("select option", { hasText: /understudy/i }).waitFor({ state: "attached" });
});
after(() => editor?.end());

test("a message is answered, and its work stands in the workspace", async () => {
  await say(editor.view, "say: **Hello** from the first agent\nwrite a.txt: one");
  await editor.view.locator(".agent .prose strong", { hasText: "Hello" }).waitFor();
  assert.equal(readFileSync(join(editor.workspace, "a.txt"), "utf8").trim(), "one");
});

test("a command waits for its approval, and a refused one is not run", async () => {
  const { view } = editor;
  await view.getByLabel("Message", { exact: true }).fill("run touch ran.txt");
  await view.getByRole("button", { name: "Send", exact: true }).click();
  const card = view.locator(".request");
  await card.locator("pre", { hasText: "touch ran.txt" }).waitFor();
  assert.equal(existsSync(join(editor.workspace, "ran.txt")), false);
  const labels = await card.locator(".answers button").allTextContents();
  assert.notEqual(labels[0], undefined);
  await card.locator(".answers button").filter({ hasText: /reject|deny|decline|no/i }).first().click();
  await card.waitFor({ state: "detached" });
  assert.equal(existsSync(join(editor.workspace, "ran.txt")), false);
});

test("another agent is told what it missed, and the divider says by which strategy", async () => {
  const { view } = editor;
  await view.getByLabel("Who answers the next message").selectOption("understudy");
  await say(view, "recall");
  await view.locator(".switch", { hasText: "rehearsal → understudy: told the whole thread" }).waitFor();
  const recalled = await view.locator(".agent").last().innerText();
  assert.match(recalled, /a\.txt/);
  assert.match(recalled, /recall/);
});

test("the exact text of a handoff opens as a document", async () => {
  await editor.view.locator(".switch").first().getByRole("button", { name: "Exact text" }).click();
  await editor.page.locator(".tab", { hasText: /hof_.*\.md/ }).waitFor();
  await editor.page.locator(".monaco-editor .view-lines", { hasText: /a\.txt|one/ }).first().waitFor();
});

test("a reload brings the thread and the draft back", async () => {
  const { page, view } = editor;
  await view.getByLabel("Message", { exact: true }).fill("half a thought");
  await view.getByLabel("Message", { exact: true }).blur();
  await command(page, "Midstream: Focus on Thread View");
  await page.reload();
  await page.locator(".monaco-workbench").waitFor();
  await view.locator(".switch", { hasText: "told the whole thread" }).waitFor();
  assert.equal(await view.getByLabel("Message", { exact: true }).inputValue(), "half a thought");
  await view.getByLabel("Message", { exact: true }).fill("");
});

test("an agent's Markdown fetches nothing and runs nothing", async () => {
  await say(editor.view, "say: ![x](https://evil.example/p.png) <img src=https://evil.example/q.png onerror=alert(1)>");
  await editor.view.locator(".agent", { hasText: "[x]" }).last().waitFor();
  assert.equal(await editor.view.locator("img").count(), 0);
  assert.deepEqual(editor.foreign.filter((url) => url.includes("evil.example")), []);
});
