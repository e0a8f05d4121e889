import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, afterEach, before, test } from "node:test";
import { command, say, send, startEditor } from "./editor.mjs";

let editor;
before(async () => {
  editor = await startEditor();
});
after(() => editor?.end());
afterEach((context) => editor?.keep(context));

test("an agent asks before it writes, and what it was allowed stands in the workspace", async () => {
  const { view, workspace } = editor;
  await send(view, "say: **Hello** from the first agent\nwrite a.txt: one");
  await view.locator(".agent .prose strong", { hasText: "Hello" }).waitFor();
  const card = view.locator(".request");
  await card.getByText("add a.txt").waitFor();
  assert.equal(existsSync(join(workspace, "a.txt")), false);
  const answers = await card.getByRole("button").allTextContents();
  assert.deepEqual(answers.filter((label) => label !== "×" && label !== "Open diff"), ["Allow", "Reject", "Always allow"]);
  await card.getByRole("button", { name: "Allow", exact: true }).click();
  await view.locator(".end.completed").waitFor();
  assert.equal(readFileSync(join(workspace, "a.txt"), "utf8").trim(), "one");
});

test("a command that is refused is not run", async () => {
  const { view, workspace } = editor;
  await send(view, "run touch ran.txt");
  const card = view.locator(".request");
  await card.locator("pre", { hasText: "touch ran.txt" }).waitFor();
  await card.getByRole("button", { name: "Reject" }).click();
  await card.waitFor({ state: "detached" });
  await view.locator(".end").nth(1).waitFor();
  assert.equal(existsSync(join(workspace, "ran.txt")), false);
});

test("another agent is told what the user made of the handoff, and the divider says so", async () => {
  const { page, view } = editor;
  await view.getByLabel("Who answers the next message").selectOption("understudy");
  await view.getByRole("button", { name: "Preview handoff" }).click();
  await view.getByRole("button", { name: "Edit handoff" }).click();
  const document = page.locator(".editor-instance .monaco-editor .view-lines").first();
  await document.getByText("The user asked").waitFor();
  await document.click();
  await page.keyboard.press("Control+End");
  await page.keyboard.type("\n- The user prefers tangerines");
  await page.locator(".editor-actions a.codicon-send").click();
  const message = page.locator(".quick-input-widget", { hasText: "The message that goes with this handoff" }).locator("input").first();
  await message.fill("recall");
  await message.press("Enter");
  await view.locator(".switch", { hasText: "rehearsal → understudy: told your own words" }).waitFor();
  const recalled = view.locator(".agent", { hasText: "midstream-handoff" });
  await recalled.waitFor();
  assert.match(await recalled.innerText(), /prefers tangerines.*"recall"/s);
  await view.locator(".end.completed").nth(2).waitFor();
});

test("who comes back is told what it missed, and no more", async () => {
  const { view } = editor;
  await view.getByLabel("Who answers the next message").selectOption("rehearsal");
  await say(view, "say: back again");
  await view.locator(".switch", { hasText: "understudy → rehearsal: told what it missed" }).waitFor();
});

test("the exact text that was sent opens as a document that cannot be changed", async () => {
  const { page, view } = editor;
  await view.locator(".switch").first().getByRole("button", { name: "Exact text" }).click();
  const shown = page.locator(".monaco-editor .view-lines", { hasText: "midstream-handoff" }).first();
  await shown.click();
  await page.keyboard.type("x");
  await page.locator(".monaco-editor-overlaymessage", { hasText: "read-only" }).waitFor();
});

test("a reload brings the thread and the draft back", async () => {
  const { page, view } = editor;
  await view.getByLabel("Message", { exact: true }).fill("half a thought");
  await command(page, "Midstream: Focus on Thread View");
  await page.reload();
  await view.locator(".switch", { hasText: "told your own words" }).waitFor();
  assert.equal(await view.getByLabel("Message", { exact: true }).inputValue(), "half a thought");
});

test("an agent's Markdown fetches nothing and runs nothing", async () => {
  const { foreign, view } = editor;
  await say(view, "say: ![x](https://evil.example/p.png) <img src=https://evil.example/q.png onerror=alert(1)>");
  await view.locator(".agent", { hasText: "[x]" }).last().waitFor();
  assert.equal(await view.locator("img").count(), 0);
  assert.deepEqual(foreign.filter((url) => url.includes("evil.example")), []);
});
