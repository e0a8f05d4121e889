// Measures the thread view in the real editor beside a plain list: one JSON line of seconds a round, read by vscode.py.
import { command, fillLongThread, startEditor } from "../vscode/editor.mjs";

const ROUNDS = Number(process.argv[2]);
const LAST = "item 5000.";
const FIRST = "item 1.";

const editor = await startEditor({ prepare: fillLongThread });
const { page, view } = editor;
await view.locator(".agent", { hasText: LAST }).waitFor();
await page.locator('.activitybar [aria-label^="Midstream"]').first().click();
await command(page, "Midstream: New Thread");
const frame = (await (await view.locator("main").elementHandle()).ownerFrame());
const threads = page.locator(".tree-explorer-viewlet-tree-view .monaco-list-row");
const long = threads.filter({ hasText: "A thread" }).first();
await threads.nth(1).waitFor();
const small = threads.filter({ hasNotText: "A thread" }).first();

// What both sides measure with: a text is painted at the end of the frame in which it is in the document and in sight.
const measuring = () => {
  window.painted = (text) =>
    new Promise((resolve) => {
      const look = () => {
        const list = document.querySelector(".log");
        const bounds = list.getBoundingClientRect();
        const shown = [...list.querySelectorAll(".agent")].some((one) => {
          const { top, bottom } = one.getBoundingClientRect();
          return bottom > bounds.top && top < bounds.bottom && one.textContent.includes(text);
        });
        requestAnimationFrame(shown ? () => resolve(performance.timeOrigin + performance.now()) : look);
      };
      look();
    });
};
await frame.evaluate(measuring);

async function open() {
  await small.click();
  await frame.waitForFunction(() => document.querySelectorAll(".agent").length === 0);
  // The click is the command: the tree opens the thread by it.
  const clicked = page.evaluate(
    () => new Promise((resolve) => addEventListener("click", () => resolve(performance.timeOrigin + performance.now()), { capture: true, once: true })),
  );
  const shown = frame.evaluate((text) => window.painted(text), LAST);
  await long.click();
  return ((await shown) - (await clicked)) / 1000;
}

const jump = (where, { first, last, keys }) =>
  where.evaluate(
    async ([first, last, keys]) => {
      const list = document.querySelector(".log");
      const go = (key) =>
        keys
          ? list.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }))
          : (list.scrollTop = key === "Home" ? 0 : list.scrollHeight);
      const began = performance.timeOrigin + performance.now();
      go("Home");
      await window.painted(first);
      go("End");
      return ((await window.painted(last)) - began) / 1000;
    },
    [first, last, keys],
  );

// The plain list holds what the view draws for each item, in the view's own size.
const [width, height] = await view.locator(".log").evaluate((node) => [node.clientWidth, node.clientHeight]);
const texts = Array.from({ length: 5000 }, (_, index) => sentences(index + 1));
const plain = await page.context().newPage();
await plain.setViewportSize({ width, height });
await plain.evaluate(measuring);

const openPlain = () =>
  plain.evaluate(async ([texts, last]) => {
    document.body.replaceChildren();
    const began = performance.timeOrigin + performance.now();
    const rows = texts.map((text) => `<div class="row"><div class="agent">${text}</div></div>`).join("");
    document.body.innerHTML = `<div class="log" style="height: 100vh; overflow-y: auto">${rows}</div>`;
    const list = document.querySelector(".log");
    list.scrollTop = list.scrollHeight;
    return ((await window.painted(last)) - began) / 1000;
  }, [texts, LAST]);

function sentences(ordinal) {
  const all = Array.from({ length: (ordinal % 7) + 1 }, (_, index) => `Sentence ${index + 1} of <strong>item ${ordinal}</strong>.`).join(" ");
  return `<p>${all}</p>${ordinal % 50 === 0 ? "<pre><code>line\nline\n</code></pre>" : ""}`;
}

for (let round = 0; round < ROUNDS; round += 1) {
  await page.bringToFront();
  const [opened, jumped] = [await open(), await jump(frame, { first: FIRST, last: LAST, keys: true })];
  await plain.bringToFront();
  const [openedPlain, jumpedPlain] = [await openPlain(), await jump(plain, { first: FIRST, last: LAST, keys: false })];
  console.log(JSON.stringify({ opened, jumped, openedPlain, jumpedPlain }));
}
await editor.end();
