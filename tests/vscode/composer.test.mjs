import assert from "node:assert/strict";
import { existsSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, afterEach, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { startClient } from "./client.mjs";
import { command, root, say, send, startEditor } from "./editor.mjs";
import { dialog, said } from "./trees.mjs";

const QUARTET = `[providers.quartet]
driver = "acp"
label = "Quartet"
command = ["${join(root, ".venv/bin/python")}", "-m", "midstream.server.rehearsal", "--name", "quartet", "--models", "violin,cello"]
[providers.absent]
driver = "acp"
label = "Absent"
command = ["/nowhere/agent"]
`;
let editor;
let client;
before(async () => {
  editor = await startEditor({ config: QUARTET });
  writeFileSync(join(editor.workspace, "a.txt"), "first\nsecond\n");
  writeFileSync(join(editor.workspace, "broken.json"), "{ oops");
  client = await startClient(editor);
});
after(async () => {
  client?.end();
  await editor?.end();
});
afterEach((context) => editor?.keep(context));

test("an agent that cannot be used says why and what to do, and is not chosen", async () => {
  const { page, view } = editor;
  assert.equal(await view.getByLabel("Who answers the next message").locator("option", { hasText: "Absent (not installed)" }).isDisabled(), true);
  await view.getByRole("button", { name: "All agents" }).click();
  const row = page.locator(".quick-input-list .monaco-list-row", { hasText: "Absent" });
  await row.getByText(/providers\.absent\.command/).waitFor();
  await row.click();
  assert.match(await said(page, "OK"), /cannot be started[^]*providers\.absent\.command/);
  await dialog(page).getByRole("button", { name: "OK" }).press("Enter");
});

test("an agent is chosen with its model, and the run goes by both", async () => {
  const { page, view } = editor;
  await view.getByRole("button", { name: "All agents" }).click();
  await page.locator(".quick-input-list .monaco-list-row", { hasText: "Quartet" }).click();
  await page.locator(".quick-input-list .monaco-list-row", { hasText: "violin" }).click();
  await view.getByLabel("Model").locator("option:checked", { hasText: "violin" }).waitFor({ state: "attached" });
  assert.equal(await view.getByLabel("Who answers the next message").inputValue(), "quartet");
  await view.getByLabel("Model").selectOption("cello");
  await say(view, "say: with the cello");
  assert.deepEqual((await lastRun()).selection, { provider: "quartet", model: "cello" });
});

test("an agent that may do all runs a command without asking", async () => {
  const { view, workspace } = editor;
  await view.getByLabel("What the agent may do without asking").selectOption("Never asks");
  const { id } = await lastRun();
  await send(view, "run touch unasked.txt");
  await view.locator(`.row:last-child .end.completed:not([data-run="${id}"])`).waitFor();
  assert.ok(existsSync(join(workspace, "unasked.txt")));
  await view.getByLabel("What the agent may do without asking").selectOption("Asks before edits and commands");
});

test("what is selected in the editor goes with the message", async () => {
  const { page, view } = editor;
  await openFile("a.txt");
  await page.keyboard.press("Control+Home");
  await page.keyboard.press("Shift+End");
  await command(page, "Midstream: Attach Selection to the Next Message");
  await view.locator(".chip", { hasText: "a.txt, lines 1 to 1" }).waitFor();
  await say(view, "recall");
  await view.locator(".chip").waitFor({ state: "detached" });
  const [attachment, ...others] = (await lastRun()).message.attachments;
  assert.deepEqual([attachment.type, attachment.text, others], ["selection", "first", []]);
  assert.equal(attachment.uri, pathToFileURL(join(editor.workspace, "a.txt")).href);
  await view.locator(".agent", { hasText: "lines 1 to 1:\\nfirst" }).waitFor();
});

test("the problems of the file in the editor go with the message", async () => {
  const { page, view } = editor;
  await openFile("broken.json");
  await page.locator(".editor-instance .squiggly-error").first().waitFor();
  await command(page, "Midstream: Attach Problems to the Next Message");
  await view.locator(".chip", { hasText: "broken.json, problems: " }).waitFor();
  await say(view, "say: I see them");
  const [attachment] = (await lastRun()).message.attachments;
  assert.equal(attachment.type, "diagnostics");
  assert.equal(attachment.items[0].severity, 1);
  assert.match(attachment.items[0].message, /property/i);
});

test("files are attached from the explorer and from a list, and one of them is left out", async () => {
  const { page, view } = editor;
  await command(page, "View: Show Explorer");
  await inExplorer("a.txt").click({ button: "right" });
  await page.locator(".monaco-menu").getByText("Attach File to the Next Message").hover();
  await page.keyboard.press("Enter");
  await view.locator(".chip", { hasText: /^a\.txt/ }).waitFor();
  await command(page, "Midstream: Attach File to the Next Message");
  await page.locator(".quick-input-list .monaco-list-row", { hasText: "broken.json" }).click();
  await page.keyboard.press("Enter");
  await view.locator(".chip", { hasText: "broken.json" }).waitFor();
  await view.getByRole("button", { name: "Leave out a.txt" }).click();
  await view.locator(".chip", { hasText: /^a\.txt/ }).waitFor({ state: "detached" });
});

test("in a narrow side bar the pickers and buttons take three rows, and none is cut off", async () => {
  const { view } = editor;
  const { rows, cut, count } = await view.locator(".composer").evaluate((composer) => {
    composer.style.width = "240px";
    const shown = [...composer.querySelectorAll(".pickers > *, .answers > *")].filter((child) => child.offsetHeight > 0);
    const edge = composer.getBoundingClientRect().right;
    const boxes = shown.map((child) => child.getBoundingClientRect());
    composer.style.width = "";
    return { rows: new Set(boxes.map(({ top }) => top)).size, cut: boxes.some(({ right }) => right > edge), count: boxes.length };
  });
  assert.ok(count >= 6 && rows <= 3 && !cut, `${count} in ${rows} rows${cut ? ", one cut off" : ""}`);
});

test("a reload brings back the words and what goes with them", async () => {
  const { page, view } = editor;
  await view.getByLabel("Message", { exact: true }).fill("half a thought");
  // The view tells one thing after the other: once it is asked what to attach, the extension has the words.
  await view.getByRole("button", { name: "Attach…" }).click();
  await page.locator(".quick-input-list .monaco-list-row", { hasText: "Files…" }).click();
  await page.locator(".quick-input-list .monaco-list-row", { hasText: "a.txt" }).click();
  await page.keyboard.press("Enter");
  await view.locator(".chip", { hasText: /^a\.txt/ }).waitFor();
  await page.reload();
  await view.locator(".chip", { hasText: /^a\.txt/ }).waitFor();
  await view.locator(".chip", { hasText: "broken.json" }).waitFor();
  assert.equal(await view.getByLabel("Message", { exact: true }).inputValue(), "half a thought");
});

test("what could not be sent comes back with what went with it", async () => {
  const { page, view, workspace } = editor;
  renameSync(workspace, `${workspace}.away`);
  await send(view, "say: nobody hears");
  await page.locator(".notification-toast", { hasText: "workspace" }).waitFor();
  renameSync(`${workspace}.away`, workspace);
  await view.locator(".chip", { hasText: "a.txt" }).waitFor();
  assert.equal(await view.getByLabel("Message", { exact: true }).inputValue(), "say: nobody hears");
  await command(page, "Notifications: Clear All Notifications");
  for (const name of ["a.txt", "broken.json"]) await view.getByRole("button", { name: `Leave out ${name}` }).click();
});

test("words are given to the agent that works", async () => {
  const { view } = editor;
  await view.getByLabel("Who answers the next message").selectOption("quartet");
  await send(view, "run true");
  await view.locator(".request").waitFor();
  await view.getByLabel("Message", { exact: true }).fill("say: steered");
  await view.getByRole("button", { name: "Steer" }).click();
  await view.locator(".user", { hasText: "say: steered" }).waitFor();
  await view.locator(".request").getByRole("button", { name: "Allow", exact: true }).click();
  await view.locator(".agent", { hasText: "steered" }).last().waitFor();
  await ended();
});

test("what waits can be changed, moved and removed", async () => {
  const { view } = editor;
  await send(view, "run true\nfail: boom");
  await view.locator(".request").waitFor();
  const rows = view.getByLabel("Queue").getByRole("listitem");
  for (const [index, text] of ["say: one", "say: two", "say: three"].entries()) {
    await send(view, text);
    await rows.nth(index).getByText(text).waitFor();
  }
  await rows.nth(0).getByRole("button", { name: "Edit" }).click();
  await view.getByLabel("The queued message").fill("say: first\nsay: second line");
  await view.getByLabel("The queued message").press("Enter");
  await rows.nth(0).getByText("second line").waitFor();
  await rows.nth(0).press("Alt+ArrowDown");
  await rows.nth(1).getByText("second line").waitFor();
  assert.match(await view.locator(".queue li:focus").innerText(), /second line/);
  await rows.nth(2).getByRole("button", { name: "Move up" }).click();
  await rows.nth(1).getByText("say: three").waitFor();
  await rows.nth(0).getByRole("button", { name: "Remove" }).click();
  await rows.nth(2).waitFor({ state: "detached" });
  assert.deepEqual(await rows.locator(".text").allInnerTexts(), ["say: three", "say: first\nsay: second line"]);
});

test("a held queue says so, and goes on when it is told to", async () => {
  const { view } = editor;
  await view.locator(".request").getByRole("button", { name: "Allow", exact: true }).click();
  await view.getByText("The queue is held").waitFor();
  assert.equal(await view.getByLabel("Queue").getByRole("listitem").count(), 2);
  await view.getByRole("button", { name: "Go on" }).click();
  await view.locator(".agent", { hasText: "second line" }).waitFor();
  await view.getByText("The queue is held").waitFor({ state: "detached" });
});

test("what is being written of a queued message is not lost where that is sent meanwhile", async () => {
  const { view } = editor;
  await send(view, "run true");
  await view.locator(".request").waitFor();
  await send(view, "say: as it was");
  const rows = view.getByLabel("Queue").getByRole("listitem");
  await rows.nth(0).getByRole("button", { name: "Edit" }).click();
  await view.getByLabel("The queued message").fill("say: as it should be");
  await view.locator(".request").getByRole("button", { name: "Allow", exact: true }).click();
  await view.locator(".agent", { hasText: "as it was" }).waitFor();
  assert.equal(await view.getByLabel("Message", { exact: true }).inputValue(), "say: as it should be");
  await view.getByLabel("Message", { exact: true }).fill("");
});

test("a run that works is interrupted", async () => {
  const { view } = editor;
  await send(view, "say: begun\nsleep 60000");
  await view.locator(".agent", { hasText: "begun" }).waitFor();
  await view.getByRole("button", { name: "Interrupt" }).click();
  await view.locator(".row:last-child .end.interrupted").waitFor();
  assert.equal(await view.getByRole("button", { name: "Interrupt" }).isVisible(), false);
});

/** The thread's newest run, as the daemon has it. */
async function lastRun() {
  const { threads } = await client.call("thread/list", { workspace: pathToFileURL(editor.workspace).href });
  return (await client.call("thread/read", { threadId: threads[0].id })).runs.at(-1);
}

async function ended() {
  await client.call("run/wait", { runId: (await lastRun()).id });
}

function inExplorer(name) {
  return editor.page.locator(".explorer-folders-view .monaco-list-row", { hasText: name });
}

/** Open a file by its name; the editor puts the cursor into it. */
async function openFile(name) {
  const { page } = editor;
  await page.keyboard.press("F1");
  await page.locator(".quick-input-widget input").first().fill(name);
  await page.locator(".quick-input-list .monaco-list-row", { hasText: name }).first().click();
  await page.locator(".tabs-container .tab.active", { hasText: name }).waitFor();
  await page.locator(".editor-instance .monaco-editor.focused").waitFor();
}
