import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createRequire } from "node:module";
import { after, afterEach, before, test } from "node:test";
import { startClient } from "./client.mjs";
import { command, send, startEditor } from "./editor.mjs";

let editor;
let client;
before(async () => {
  editor = await startEditor();
  client = await startClient(editor);
  writeFileSync(join(editor.workspace, "a.txt"), "one\n");
});
after(async () => {
  client?.end();
  await editor?.end();
});
afterEach((context) => editor?.keep(context));

const card = () => editor.view.locator(".request");

test("the diff of a change that is asked for opens before it is allowed", async () => {
  const { page, view, workspace } = editor;
  await send(view, "append a.txt: two");
  await card().getByRole("button", { name: "Open the diff of a.txt" }).click();
  const modified = page.locator(".monaco-diff-editor .editor.modified .view-line", { hasText: "two" });
  await modified.waitFor();
  assert.equal(readFileSync(join(workspace, "a.txt"), "utf8"), "one\n");
});

test("a change that is refused is not made", async () => {
  const { page, view, workspace } = editor;
  await card().getByRole("button", { name: "Reject", exact: true }).click();
  await card().waitFor({ state: "detached" });
  await view.locator(".row:last-child .end").waitFor();
  assert.equal(readFileSync(join(workspace, "a.txt"), "utf8"), "one\n");
  await view.getByText("You did not allow:").waitFor();
  assert.equal(await view.getByRole("button", { name: "Changes" }).count(), 0);
  await command(page, "View: Close All Editors");
});

test("Escape on a card cancels what is asked, and allows nothing", async () => {
  const { view, workspace } = editor;
  await send(view, "run touch ran.txt");
  await card().getByRole("button", { name: "Allow", exact: true }).focus();
  await card().getByRole("button", { name: "Allow", exact: true }).press("Escape");
  await card().waitFor({ state: "detached" });
  await view.locator(".row:last-child .end").waitFor();
  assert.equal(existsSync(join(workspace, "ran.txt")), false);
});

test("a question is answered by an option", async () => {
  const { view } = editor;
  await send(view, "ask: Ripe?");
  await card().getByText("Ripe?").first().waitFor();
  await card().getByLabel("Yes", { exact: true }).check();
  await card().getByRole("button", { name: "Answer" }).click();
  await view.locator(".agent", { hasText: "Answer: Yes" }).waitFor();
  await view.getByText("Ripe? You answered: Yes").waitFor();
});

test("a question is told only where the thread is out of sight, and closing that answers nothing", async () => {
  const { page, view, workspace } = editor;
  await send(view, "run touch hidden.txt");
  await card().waitFor();
  assert.equal(await page.locator(".notification-toast").count(), 0);
  await card().getByRole("button", { name: "Reject", exact: true }).click();
  await view.locator(".row:last-child .end").waitFor();
  await command(page, "View: Toggle Secondary Side Bar Visibility");
  await view.locator("main").waitFor({ state: "hidden" });
  const [thread] = (await client.call("thread/list", {})).threads;
  await client.call("run/start", { threadId: thread.id, message: { text: "run touch hidden.txt" } });
  const toast = page.locator(".notification-toast", { hasText: "touch hidden.txt" });
  await toast.waitFor();
  await command(page, "Notifications: Clear All Notifications");
  await command(page, "Midstream: Focus on Thread View");
  await card().getByText("touch hidden.txt").first().waitFor();
  assert.equal(existsSync(join(workspace, "hidden.txt")), false);
});

// The rehearsal agents take no reason: the card of an agent that does is drawn by itself.
test("a refusal goes with its reason, where the agent takes one", async () => {
  const { build } = createRequire(join(editor.root, "editors/vscode/package.json"))("esbuild");
  const stdin = { contents: 'export { requestCard } from "./src/view/requests";', resolveDir: join(editor.root, "editors/vscode") };
  const { outputFiles } = await build({ stdin, bundle: true, write: false, format: "iife", globalName: "cards" });
  const page = await editor.page.context().newPage();
  await page.evaluate(`${outputFiles[0].text}; globalThis.cards = cards; globalThis.told = [];`);
  await page.evaluate(() => {
    const options = [
      { optionId: "yes", label: "Allow", decision: "accept" },
      { optionId: "no", label: "Reject", decision: "decline" },
    ];
    const request = { id: "one", prompt: "Touch it?", detail: {}, options, acceptsMessage: true };
    document.body.append(globalThis.cards.requestCard(request, (message) => globalThis.told.push(message)));
  });
  await page.getByLabel("Reason").fill("Not this file.");
  await page.getByRole("button", { name: "Reject" }).click();
  const told = await page.evaluate(() => globalThis.told);
  assert.deepEqual(told, [{ type: "respond", requestId: "one", optionId: "no", message: "Not this file." }]);
  await page.close();
});
