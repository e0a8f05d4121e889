import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { command, fillLongThread, say, send, startEditor } from "./editor.mjs";

const ITEMS = 5000;
let editor, view, log;
before(async () => {
  editor = await startEditor({ prepare: fillLongThread });
  view = editor.view;
  log = view.getByRole("feed");
  await item(ITEMS).waitFor();
});
after(() => editor?.end());
afterEach((context) => editor?.keep(context));

const item = (number) => view.locator(".agent", { hasText: `item ${number}.` });
const rows = () => view.locator(".row").count();
/** Scroll, and wait until the view has drawn what is there. */
async function scroll(act, argument) {
  await log.evaluate(act, argument);
  await log.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  await view.locator(".gap-row").waitFor({ state: "detached" });
}
const distance = (element) => element.evaluate((node) => node.getBoundingClientRect().top - node.closest(".log").getBoundingClientRect().top);

test("of 5,000 items only those near the viewport are in the document, the newest in sight", async () => {
  await item(ITEMS).waitFor();
  assert.ok((await rows()) < 150, `${await rows()} rows`);
  const left = await log.evaluate((node) => node.scrollHeight - node.scrollTop - node.clientHeight);
  assert.ok(Math.abs(left) <= 1, `${left} pixels below`);
  assert.ok((await log.evaluate((node) => node.scrollHeight)) > ITEMS * 20);
});

test("Home shows item 1 without those between, and End the newest one", async () => {
  await log.focus();
  await log.press("Home");
  await item(1).first().waitFor();
  assert.equal(await log.evaluate((node) => node.scrollTop), 0);
  const total = Number(await view.locator(".row").first().getAttribute("aria-setsize"));
  assert.ok(total >= ITEMS, `${total} in all`);
  assert.equal(await view.locator(".gap-row").count() + await item(3000).count(), 0);
  await log.press("End");
  await item(ITEMS).waitFor();
  assert.ok((await rows()) < 150, `${await rows()} rows`);
});

test("what is in sight stands still while the rows above it are read and measured", async () => {
  await log.press("End");
  for (const number of [4900, 4850, 4700]) {
    await scroll((node, share) => node.scrollTo({ top: node.scrollHeight * share }), number / ITEMS);
    const anchor = await view.locator(".log").evaluate((node) => {
      const top = node.getBoundingClientRect().top;
      return [...node.querySelectorAll(".row")].find((row) => row.getBoundingClientRect().top >= top).dataset.key;
    });
    const row = view.locator(`[data-key="${anchor}"]`);
    const before = await distance(row);
    // A step of 300 pixels moves what is in sight by 300 pixels, whatever is drawn and measured anew above it.
    await scroll((node) => node.scrollBy({ top: -300 }));
    assert.ok(Math.abs((await distance(row)) - before - 300) <= 2, `${before} became ${await distance(row)}`);
  }
});

test("a jump into the middle reads the items there", async () => {
  await log.evaluate((node) => node.scrollTo({ top: node.scrollHeight / 2 }));
  await view.locator(".agent", { hasText: /item 2[3-7]\d\d\./ }).first().waitFor();
  assert.ok((await rows()) < 200, `${await rows()} rows`);
});

test("what is found in a long thread is shown where it stands", async () => {
  const { page } = editor;
  await log.press("End");
  await command(page, "Midstream: Search in Threads…");
  await page.getByPlaceholder("Words that were said in a thread").fill("item 2345");
  await page.locator(".quick-input-list .monaco-list-row", { hasText: "item 2345" }).first().click();
  await item(2345).first().waitFor();
  const top = await distance(item(2345).first());
  assert.ok(top >= 0 && top < 100, `${top} pixels below the top`);
  assert.equal(await item(ITEMS).count(), 0);
});

test("the reader stays where they are while an agent writes, and is at the end again with their own message", async () => {
  await log.press("End");
  await send(view, "stream 60 200\nsleep 1500\nsay: the end of it");
  await view.locator(".row:last-child .agent").waitFor();
  await scroll((node) => node.scrollBy({ top: -2000 }));
  const [key, top] = await log.evaluate((node) => {
    const row = [...node.querySelectorAll(".row")].find((one) => one.getBoundingClientRect().bottom > 0);
    return [row.dataset.key, row.getBoundingClientRect().top];
  });
  await view.getByRole("button", { name: "Interrupt" }).waitFor({ state: "hidden" });
  const now = await view.locator(`[data-key="${key}"]`).evaluate((node) => node.getBoundingClientRect().top);
  assert.ok(Math.abs(now - top) <= 1, `${top} became ${now}`);
  await say(view, "say: seen at once");
  await view.locator(".agent", { hasText: "seen at once" }).waitFor();
});

test("what was unfolded stays so when it comes back into the document", async () => {
  await say(view, "run echo unfolded");
  const command = view.locator(".command", { hasText: "echo unfolded" });
  await command.locator("summary").click();
  await command.locator("pre", { hasText: "unfolded" }).waitFor();
  await log.press("Home");
  await item(1).first().waitFor();
  await command.waitFor({ state: "detached" });
  await log.press("End");
  await command.locator("pre", { hasText: "unfolded" }).waitFor();
});
