import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, afterEach, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { startClient } from "./client.mjs";
import { startEditor, until } from "./editor.mjs";
import { agree, answer, choose, chooseFromMenu, decline, dialog, row, said } from "./trees.mjs";

let editor;
let client;
let page;
const content = () => {
  const file = join(editor.workspace, "a.txt");
  return existsSync(file) ? readFileSync(file, "utf8") : "";
};
const lines = () => content().trim().split("\n");

/** A thread with two runs that wrote, open in the view. */
before(async () => {
  editor = await startEditor();
  ({ page } = editor);
  client = await startClient(editor);
  const { thread } = await client.call("thread/create", {
    workspace: pathToFileURL(editor.workspace).href,
    title: "Two runs",
    runtimeMode: "fullAccess",
  });
  for (const text of ["write a.txt: one", "append a.txt: two"]) {
    const { run } = await client.call("run/start", { threadId: thread.id, message: { text } });
    assert.equal((await client.call("run/wait", { runId: run.id })).run.status, "completed");
  }
  await page.locator('.activitybar [aria-label^="Midstream"]').first().click();
  await row(page, "Two runs").click();
});
after(async () => {
  client?.end();
  await editor?.end();
});
afterEach((context) => editor?.keep(context));

test("a checkpoint says when it was taken, after which run, and which files changed", async () => {
  await row(page, "After run 2").waitFor();
  assert.match(await row(page, "After run 1").getAttribute("aria-label"), /^After run 1, \d+:\d\d.*, 1 file changed$/);
  await row(page, "After run 1").click();
  await row(page, "a.txt, added, +1 −0").waitFor();
});

test("a file of a checkpoint opens beside the real one", async () => {
  await row(page, "a.txt, added").click();
  await page.locator('.tab[aria-label*="a.txt (After run 1 ↔ now)"]').waitFor();
  const changed = page.locator(".editor-instance .modified-in-monaco-diff-editor .view-lines");
  await changed.getByText("two").waitFor();
  const before = page.locator(".editor-instance .original-in-monaco-diff-editor .view-lines");
  await before.getByText("one").waitFor();
  assert.equal(await before.getByText("two").count(), 0);
});

test("one file is restored after it was shown what that does, and the restore is undone", async () => {
  await choose(page, "a.txt, added", "Restore This File…");
  assert.match(await said(page), /Written:\s+a\.txt/);
  await decline(page);
  assert.deepEqual(lines(), ["one", "two"]);
  await choose(page, "a.txt, added", "Restore This File…");
  await agree(page, "Restore");
  await until(() => content().trim() === "one", content);
  await page.locator(".notification-toast").getByRole("button", { name: "Undo" }).click();
  await until(() => lines().length === 2, content);
});

test("what was written before all runs is deleted by a restore, and comes back from the list", async () => {
  await choose(page, "Before run 1", "Restore These Files…");
  assert.match(await said(page), /Deleted:\s+a\.txt/);
  await agree(page, "Restore");
  await until(() => content() === "", content);
  // The newest of three: two were taken by the test before.
  await page.locator('.monaco-list-row[aria-label^="Before a restore"]').nth(2).waitFor();
  await choose(page, "Before a restore", "Undo This Restore…");
  assert.match(await said(page), /Written:\s+a\.txt/);
  await agree(page, "Restore");
  await until(() => lines().length === 2, content);
});

test("unsaved edits are shown before a restore, which writes only when it is told to", async () => {
  await page.locator('.activitybar [aria-label^="Explorer"]').first().click();
  await page.locator(".explorer-folders-view .monaco-list-row", { hasText: "a.txt" }).dblclick();
  const text = page
    .locator(".editor-instance .monaco-editor:not(.diff-editor *) .view-lines", { hasText: "two" })
    .last();
  await text.click();
  await page.keyboard.press("Control+End");
  await page.keyboard.type("unsaved");
  await page.locator('.activitybar [aria-label^="Midstream"]').first().click();
  await choose(page, "After run 1", "Restore These Files…");
  assert.match(await said(page), /In conflict:\s+a\.txt: has unsaved edits in the editor\s+Unsaved edits.*\s+a\.txt/);
  await decline(page);
  assert.deepEqual(lines(), ["one", "two"]);
  await choose(page, "After run 1", "Restore These Files…");
  await agree(page, "Restore Anyway");
  await until(() => content().trim() === "one", content);
  await text.getByText("unsaved").waitFor();
});

test("a checkpoint that the user takes has the name that they give it", async () => {
  await page.getByRole("button", { name: "Create Checkpoint…" }).click();
  await answer(page, "What the checkpoint is called", "Before the harvest");
  await row(page, "Before the harvest").waitFor();
});

test("a thread is forked from a checkpoint, and from a run's menu, each as it was then", async () => {
  const { view } = editor;
  await choose(page, "After run 1", "Fork the Conversation from Here");
  await view.locator(".user", { hasText: "write a.txt: one" }).waitFor();
  await view.locator(".user", { hasText: "append a.txt: two" }).waitFor({ state: "detached" });
  await openSource(1);
  await view.locator(".user", { hasText: "append a.txt: two" }).waitFor();
  await chooseOfRun(0, "Fork after This Run");
  await view.locator(".user", { hasText: "append a.txt: two" }).waitFor({ state: "detached" });
  const { threads } = await client.call("thread/list", {});
  assert.deepEqual(threads.map(({ lineage }) => lineage.relationshipToParent).sort(), ["fork", "fork", null]);
  await openSource(2);
  await view.locator(".user", { hasText: "append a.txt: two" }).waitFor();
});

test("the files are restored as a run left them, from its menu", async () => {
  await chooseOfRun(1, "Restore the Files as It Left Them…");
  assert.match(await said(page), /Written:\s+a\.txt/);
  await agree(page, "Restore");
  await until(() => lines().length === 2, content);
  await chooseOfRun(1, "Show What Changed Since It Began");
  await page.locator('.tab[aria-label*="since run 2 began"]').waitFor();
});

test("the menu of a run in the thread takes it back from there", async () => {
  const { view } = editor;
  await chooseOfRun(1, "Take Back This Run and All after It…");
  assert.match(await said(page), /Runs that are taken back:\s+Run 2: append a\.txt: two/);
  await dialog(page)
    .getByRole("button", { name: "Take Back, Keep Files" })
    .or(dialog(page).getByRole("button", { name: "Take Back", exact: true }))
    .first()
    .click();
  await view.locator(".end.rolled_back").waitFor();
});

test("nothing of all this shows an identifier", async () => {
  const shown = await page.locator("body").evaluate((body) => {
    const named = [...body.querySelectorAll("[aria-label], [title]")].map(
      (one) => `${one.getAttribute("aria-label")} ${one.title}`,
    );
    return [body.innerText, ...named].filter((text) => /\b(thr|run|ckp|trf|itm)_\w/.test(text));
  });
  assert.deepEqual(shown, []);
});

/** Open the source by its row, once the tree shows its forks: the editor drops a click on a tree that it draws anew. */
async function openSource(forks) {
  await page.locator('[aria-label="Fork of Two runs, rehearsal, a fork"]').nth(forks - 1).waitFor();
  await page.locator('[aria-label="Two runs, rehearsal"]').click();
}

/** Choose an entry of the menu of a run in the thread. */
async function chooseOfRun(index, entry) {
  await editor.view.locator(".end").nth(index).click({ button: "right" });
  await chooseFromMenu(page, entry);
}
