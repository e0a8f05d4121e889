import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, afterEach, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { startClient } from "./client.mjs";
import { command, startEditor, until } from "./editor.mjs";
import { agree, answer, choose, decline, dialog, menuOf, pick, row, said } from "./trees.mjs";

let editor;
let client;
let page;
/** A run that has ended as `status`. */
async function ran(threadId, text, status = "completed") {
  const { run } = await client.call("run/start", { threadId, message: { text } });
  const ended = await client.call("run/wait", { runId: run.id });
  assert.equal(ended.run.status, status);
  return ended.run;
}
async function make(title, ...texts) {
  const { thread } = await client.call("thread/create", {
    workspace: pathToFileURL(editor.workspace).href,
    title,
    runtimeMode: "fullAccess",
  });
  for (const text of texts) await ran(thread.id, text);
  return thread;
}
const runsOf = async ({ id }) => (await client.call("thread/read", { threadId: id })).runs;
const listed = async () => (await client.call("thread/list", {})).threads;

/** The title above the thread that is open, and the row that is selected. */
const heading = (title) => editor.view.getByRole("heading", { level: 1, name: title, exact: true });
const selected = (title) => page.locator(`.tree-explorer-viewlet-tree-view .monaco-list-row.selected[aria-label^="${title}, "]`);

before(async () => {
  editor = await startEditor({ config: '[reader]\ndelegate_to = ["understudy"]\n' });
  ({ page } = editor);
  client = await startClient(editor);
  await page.locator('.activitybar [aria-label^="Midstream"]').first().click();
});
after(async () => {
  client?.end();
  await editor?.end();
});
afterEach((context) => editor?.keep(context));

test("a fork that asks something is seen on itself, and on its source", async () => {
  const source = await make("Source", "say: one");
  const { thread: fork } = await client.call("thread/fork", { threadId: source.id, title: "Branch" });
  await client.call("thread/update", { threadId: fork.id, runtimeMode: "approvalRequired" });
  const { run } = await client.call("run/start", { threadId: fork.id, message: { text: "run echo asked" } });
  const child = row(page, "Branch, rehearsal, waits for you, a fork");
  await child.waitFor();
  assert.equal(await child.getAttribute("aria-level"), "2");
  await child.locator(".codicon-bell-dot").waitFor();
  await row(page, "Source, rehearsal, one below waits for you").locator(".codicon-bell").waitFor();
  const { requests } = await client.call("request/list", { threadId: fork.id });
  await client.call("request/respond", { requestId: requests[0].id, decision: "accept" });
  await client.call("run/wait", { runId: run.id });
  await page.locator('[aria-label="Source, rehearsal"]').waitFor();
  await page.locator('[aria-label="Branch, rehearsal, a fork"]').waitFor();
});

test("what a fork gives back stands on its source until that is cancelled", async () => {
  await choose(page, "Branch", "Merge Back into Its Source…");
  await pick(page, "run echo asked");
  await row(page, "Source, rehearsal, 1 to merge").locator(".codicon-git-merge").waitFor();
  await choose(page, "Source", "Cancel What the Next Message Carries…");
  await pick(page, "What the fork “Branch” did");
  await page.locator('[aria-label="Source, rehearsal"]').waitFor();
});

test("a queue that is held says so, and goes on from its row", async () => {
  const held = await make("Held");
  const { run } = await client.call("run/start", {
    threadId: held.id,
    message: { text: "sleep 500\nfail: provider_error: no more" },
  });
  const queued = await client.call("run/start", {
    threadId: held.id,
    message: { text: "say: afterwards" },
    delivery: "queue",
  });
  await client.call("run/wait", { runId: run.id });
  await row(page, "Held, rehearsal, queue held").locator(".codicon-debug-pause").waitFor();
  assert.ok(!(await menuOf(page, "Source")).includes("Let the Queue Go On"));
  await choose(page, "Held", "Let the Queue Go On");
  assert.equal((await client.call("run/wait", { runId: queued.run.id })).run.status, "completed");
  await page.locator('[aria-label="Held, rehearsal"]').waitFor();
});

test("a filter by title says that it is on, keeps what leads to a match, and is taken away", async () => {
  await page.getByRole("button", { name: "Filter Threads…" }).click();
  await answer(page, "Threads whose title contains", "branch");
  await page.getByText("Only threads whose title contains “branch”.").waitFor();
  await row(page, "Held").waitFor({ state: "detached" });
  await row(page, "Branch").waitFor();
  await row(page, "Source").waitFor();
  await page.getByRole("button", { name: "Show All Threads Again" }).click();
  await row(page, "Held").waitFor();
  await page.getByText("Only threads whose title contains").waitFor({ state: "detached" });
});

test("a thread is renamed by key, archived, and brought back", async () => {
  await row(page, "Held").click();
  await page.keyboard.press("F2");
  await answer(page, "The thread's title", "Renamed");
  await choose(page, "Renamed", "Archive Thread");
  await row(page, "Renamed").waitFor({ state: "detached" });
  await command(page, "Midstream: Show Archived Threads Too");
  await choose(page, "Renamed, rehearsal, archived", "Bring Back from the Archive");
  await page.locator('[aria-label="Renamed, rehearsal"]').waitFor();
});

test("a fork is made from an earlier run, and knows no later one", async () => {
  await make("Long", "say: first", "say: second");
  await choose(page, "Long", "Fork from an Earlier Run…");
  await pick(page, "Run 1: say: first");
  await editor.view.locator(".agent", { hasText: "first" }).waitFor();
  const fork = (await listed()).find(({ lineage, title }) => lineage.parentThreadId !== null && title !== "Branch");
  const { runs } = await client.call("thread/read", { threadId: fork.id });
  assert.deepEqual(
    runs.map(({ message }) => message.text),
    ["say: first"],
  );
});

test("a thread is exported to a file, and to a document", async () => {
  await choose(page, "Renamed", "Export Thread…");
  await pick(page, "JSON Lines");
  await pick(page, "Save to a File…");
  const place = page.locator(".quick-input-widget input").first();
  const file = join(editor.workspace, "Renamed.jsonl");
  await page.waitForFunction((path) => document.querySelector(".quick-input-widget input")?.value === path, file);
  await place.press("Enter");
  await until(() => existsSync(file) && readFileSync(file, "utf8") !== "");
  const lines = readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.ok(JSON.stringify(lines).includes("afterwards"));
  await choose(page, "Renamed", "Export Thread…");
  await pick(page, "Markdown");
  await pick(page, "Open as a Document");
  await page.locator(".editor-instance .view-lines", { hasText: "afterwards" }).waitFor();
});

test("a thread is found by what was said in it", async () => {
  await command(page, "Midstream: Search in Threads…");
  await page.getByPlaceholder("Words that were said in a thread").fill("afterwards");
  await page.locator(".quick-input-list .monaco-list-row", { hasText: "Renamed" }).first().click();
  await editor.view.locator(".user", { hasText: "say: afterwards" }).waitFor();
});

test("a rollback names the runs and files that go, and restores the files where it is told to", async () => {
  const file = join(editor.workspace, "rolled.txt");
  const thread = await make("Rolled", "say: kept", "write rolled.txt: one");
  assert.ok(existsSync(file));
  await choose(page, "Rolled", "Roll Back…");
  await pick(page, "Run 2: write rolled.txt");
  assert.match(await said(page), /Runs that are taken back:\s+Run 2: write rolled\.txt: one\s+Deleted:\s+rolled\.txt/);
  await decline(page);
  assert.ok(existsSync(file));
  await choose(page, "Rolled", "Roll Back…");
  await pick(page, "Run 2: write rolled.txt");
  await agree(page, "Take Back and Restore Files");
  await until(() => !existsSync(file));
  const { runs } = await client.call("thread/read", { threadId: thread.id });
  assert.deepEqual(
    runs.map(({ status }) => status),
    ["completed", "rolled_back"],
  );
});

test("work that an agent gave away stands below its thread, asks there, and opens from the thread, named above it and selected", async () => {
  const source = await make("Giving");
  await client.call("thread/update", { threadId: source.id, runtimeMode: "approvalRequired" });
  const order = JSON.stringify({ provider: "understudy", prompt: "run echo picked", title: "Pick apples" });
  const { run } = await client.call("run/start", { threadId: source.id, message: { text: `call delegate ${order}` } });
  const child = row(page, "Pick apples, understudy, waits for you, work that another thread gave away");
  await child.waitFor();
  assert.equal(await child.getAttribute("aria-level"), "2");
  await row(page, "Giving, rehearsal, one below waits for you").click();
  await heading("Giving").waitFor();
  await selected("Giving").waitFor();
  await editor.view.getByRole("button", { name: "Open its thread" }).click();
  await heading("Pick apples").waitFor();
  await selected("Pick apples").waitFor();
  await editor.view.locator(".request").getByRole("button", { name: "Allow", exact: true }).click();
  assert.equal((await client.call("run/wait", { runId: run.id })).run.status, "completed");
  await page.locator('[aria-label="Giving, rehearsal"]').waitFor();
});

test("what failed is tried again from the thread", async () => {
  const thread = await make("Failing");
  const { id } = await ran(thread.id, "fail: provider_error: no more", "failed");
  await row(page, "Failing").click();
  await editor.view.getByRole("button", { name: "Try Again" }).click();
  await until(async () => (await runsOf(thread)).find((run) => run.id === id).attempts.length === 2);
  assert.equal((await client.call("run/wait", { runId: id })).run.status, "failed");
});

test("a thread goes on in a fresh conversation, which is told all", async () => {
  const thread = await make("Tired", "say: ripe", "say: riper");
  await choose(page, "Tired", "Begin a Fresh Conversation with the Next Message");
  await until(async () => (await client.call("handoff/preview", { threadId: thread.id })).plan.strategy === "full_thread_summary");
  await ran(thread.id, "say: afresh");
  await row(page, "Tired").click();
  await editor.view.locator(".switch", { hasText: "told the whole thread" }).waitFor();
});

test("a key is about the row that was clicked, also while rows change", async () => {
  const busy = await make("Busy");
  const box = page.locator(".quick-input-widget", { hasText: "The thread's title" }).locator("input").first();
  for (const title of Array(4).fill(["Failing", "Giving", "Rolled"]).flat()) {
    const { run } = await client.call("run/start", { threadId: busy.id, message: { text: "say: on" } });
    await row(page, title).click();
    await heading(title).waitFor();
    await page.keyboard.press("F2");
    await box.waitFor();
    assert.equal(await box.inputValue(), title);
    await box.press("Escape");
    await box.waitFor({ state: "hidden" });
    await client.call("run/wait", { runId: run.id });
  }
});

test("a thread is deleted only when that is confirmed, and the open one then makes room", async () => {
  await row(page, "Rolled").click();
  await editor.view.locator(".user", { hasText: "say: kept" }).waitFor();
  await row(page, "Rolled").press("Delete");
  await dialog(page).getByText("Delete “Rolled” with its checkpoints?").waitFor();
  await decline(page);
  await choose(page, "Rolled", "Delete Thread…");
  await agree(page, "Delete");
  await row(page, "Rolled").waitFor({ state: "detached" });
  await editor.view.locator(".user").first().waitFor({ state: "detached" });
});
