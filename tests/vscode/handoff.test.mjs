import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { startClient } from "./client.mjs";
import { command, say, send, startEditor, until } from "./editor.mjs";
import { agree, decline } from "./trees.mjs";

let editor;
let client;
before(async () => {
  editor = await startEditor();
  client = await startClient(editor);
});
after(async () => {
  client?.end();
  await editor?.end();
});
afterEach((context) => editor?.keep(context));

const card = () => editor.view.locator(".preview");
const tab = () => editor.page.locator('.tab[aria-label*="Handoff.md"]');
/** Write a line at the end of the handoff for an agent, without saving it. */
async function edit(agent, line) {
  await preview(agent);
  await card().getByRole("button", { name: "Edit handoff" }).click();
  await shownHandoff().click();
  await editor.page.keyboard.press("Control+End");
  await editor.page.keyboard.type(`\n${line}`);
}
const shownHandoff = () => editor.page.locator(".editor-instance .monaco-editor .view-lines").first();

async function threads() {
  return (await client.call("thread/list", {})).threads;
}

async function lastRun() {
  const [thread] = await threads();
  return (await client.call("thread/read", { threadId: thread.id })).runs.at(-1);
}

async function preview(agent) {
  await editor.view.getByLabel("Who answers the next message").selectOption(agent);
  await editor.view.getByRole("button", { name: "Preview handoff" }).click();
  await card().waitFor();
}

test("a preview says in words how the next agent is told, why, of which runs and how much", async () => {
  const { view } = editor;
  await say(view, "say: one");
  await say(view, "say: two");
  await preview("understudy");
  await card().getByText("Understudy is told the whole thread.").waitFor();
  const said = await card().innerText();
  assert.match(said, /Runs 1–2 · about [\d,]+ of at most [\d,]+ tokens/);
  assert.match(said, /first/i);
  assert.doesNotMatch(said, /full_thread_summary|first_use|hof_|run_/);
});

test("what was looked at is what is sent", async () => {
  const { view } = editor;
  const [thread] = await threads();
  const { handoffs } = await client.call("handoff/list", { threadId: thread.id });
  await say(view, "say: I know");
  await card().waitFor({ state: "detached" });
  assert.deepEqual((await lastRun()).handoffIds, [handoffs.at(-1).id]);
});

test("an agent that knows all has nothing to be told", async () => {
  await preview("understudy");
  await card().getByText("Understudy knows all of this thread: nothing has to be handed over.").waitFor();
  assert.equal(await card().getByRole("button", { name: "Edit handoff" }).count(), 0);
  await card().getByRole("button", { name: "Close the preview" }).click();
  await card().waitFor({ state: "detached" });
});

test("a handoff is made anew in another size", async () => {
  const { page } = editor;
  await preview("rehearsal");
  await card().getByRole("button", { name: "Make it anew…" }).click();
  await page.locator(".quick-input-list .monaco-list-row", { hasText: "from what was recorded" }).click();
  const budget = page.locator(".quick-input-widget", { hasText: "At most how many tokens?" }).locator("input").first();
  await budget.waitFor();
  const input = page.locator(".quick-input-widget input").first();
  await input.fill("none");
  await page.locator(".quick-input-widget", { hasText: "A whole number above 0." }).waitFor();
  await input.fill("777");
  await input.press("Enter");
  await card().getByText("of at most 777 tokens").waitFor();
});

test("an edited handoff goes with the next message of the composer", async () => {
  const { page, view } = editor;
  await card().getByRole("button", { name: "Edit handoff" }).click();
  await shownHandoff().getByText("say: I know").waitFor();
  await shownHandoff().click();
  await page.keyboard.press("Control+End");
  await page.keyboard.type("\n- The user prefers quinces");
  await command(page, "File: Save");
  await card().getByText("Rehearsal is told your own words.").waitFor();
  await send(view, "recall");
  await view.locator(".switch", { hasText: "told your own words" }).waitFor();
  await view.locator(".agent", { hasText: "prefers quinces" }).waitFor();
});

test("what was written in a handoff and not saved goes with the message too, and its document is closed", async () => {
  const { page, view } = editor;
  await edit("understudy", "- The user prefers sloes");
  await send(view, "recall");
  await view.locator(".agent", { hasText: "prefers sloes" }).waitFor();
  await tab().waitFor({ state: "detached" });
  await view.locator(".row:last-child .end.completed").waitFor();
  await view.locator(".switch").last().getByRole("button", { name: "Exact text" }).click();
  await page.locator(".monaco-editor .view-lines", { hasText: "edited by the user" }).waitFor();
  assert.equal(await page.locator(".editor-actions a.codicon-send").count(), 0);
  await command(page, "View: Close All Editors");
});

test("what was saved in a handoff waits for its agent, over another choice and a reload", async () => {
  const { page, view } = editor;
  await edit("rehearsal", "- The user prefers figs");
  await command(page, "File: Save");
  await card().getByText("Rehearsal is told your own words.").waitFor();
  await view.getByLabel("Who answers the next message").selectOption("understudy");
  await card().waitFor({ state: "detached" });
  await view.getByLabel("Who answers the next message").selectOption("rehearsal");
  await card().getByText("Rehearsal is told your own words.").waitFor();
  await page.reload();
  await card().getByText("Rehearsal is told your own words.").waitFor();
  await send(view, "recall");
  await view.locator(".agent", { hasText: "prefers figs" }).waitFor();
  await view.locator(".row:last-child .end.completed").waitFor();
  await tab().waitFor({ state: "detached" });
});

test("a card with an edited handoff is closed only where the user drops what they wrote", async () => {
  const { page, view } = editor;
  await edit("understudy", "- The user prefers dates");
  await command(page, "File: Save");
  await card().getByText("Understudy is told your own words.").waitFor();
  await card().getByRole("button", { name: "Close the preview" }).click();
  await decline(page);
  await card().getByRole("button", { name: "Close the preview" }).click();
  await agree(page, "Drop It");
  await card().waitFor({ state: "detached" });
  await tab().waitFor({ state: "detached" });
  await say(view, "say: told as usual");
  await view.locator(".switch", { hasText: "understudy: told what it missed" }).last().waitFor();
});

test("a handoff that was sent is shown as it was sent, and can no longer be changed", async () => {
  const { page, view } = editor;
  await view.locator(".switch").last().getByRole("button", { name: "Exact text" }).click();
  await page.locator(".monaco-editor .view-lines", { hasText: "midstream-handoff" }).first().click();
  await page.keyboard.type("x");
  await page.locator(".monaco-editor-overlaymessage", { hasText: "read-only" }).waitFor();
  await command(page, "View: Close All Editors");
});

test("a handoff that is cancelled is sent to nobody", async () => {
  const { page, view } = editor;
  await preview("rehearsal");
  await card().getByRole("button", { name: "Edit handoff" }).click();
  await shownHandoff().waitFor();
  await page.locator(".editor-actions a.codicon-close").click();
  await card().waitFor({ state: "detached" });
  const [thread] = await threads();
  const { handoffs } = await client.call("handoff/list", { threadId: thread.id });
  assert.equal(handoffs.at(-1).status, "superseded");
  await say(view, "say: told by another one");
  assert.equal((await lastRun()).handoffIds.includes(handoffs.at(-1).id), false);
});

test("an edited handoff is not sent over what came since, unless the user says so", async () => {
  const { page, view } = editor;
  await preview("understudy");
  await card().getByRole("button", { name: "Edit handoff" }).click();
  await shownHandoff().getByText("told by another one").first().waitFor();
  await shownHandoff().click();
  await page.keyboard.press("Control+End");
  await page.keyboard.type("\n- Medlars, too");
  await command(page, "File: Save");
  await card().getByText("told your own words").waitFor();
  const [thread] = await threads();
  const meanwhile = { threadId: thread.id, message: { text: "say: meanwhile" }, selection: { provider: "rehearsal", model: null } };
  await client.call("run/start", meanwhile);
  await view.locator(".agent", { hasText: "meanwhile" }).waitFor();
  await view.locator(".row:last-child .end.completed").waitFor();
  await page.locator(".editor-actions a.codicon-send").click();
  const message = page.locator(".quick-input-widget", { hasText: "The message that goes with this handoff" }).locator("input").first();
  await message.fill("recall");
  await message.press("Enter");
  const dialog = page.locator(".monaco-dialog-box", { hasText: "The thread went on" });
  await dialog.getByRole("button", { name: "Cancel" }).click();
  // The words come back once the window has heard the answer to its dialog.
  await until(async () => (await view.getByLabel("Message", { exact: true }).inputValue()) === "recall");
  await page.locator(".editor-actions a.codicon-send").click();
  await message.fill("recall");
  await message.press("Enter");
  await dialog.getByRole("button", { name: "Send it, and What Came Since" }).click();
  await view.locator(".agent", { hasText: /Medlars, too.*meanwhile/s }).waitFor();
});
