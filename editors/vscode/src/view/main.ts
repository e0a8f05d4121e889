/** The thread view in the browser: takes numbered batches, and asks anew where one is missing. */
import "./language";
import * as l10n from "@vscode/l10n";
import type { Batch, Change, FromView } from "../messages";
import type { Item, Run, RuntimeRequest, Thread } from "../protocol";
import { Composer } from "./composer";
import { button, element } from "./dom";
import { itemElement, STREAMED } from "./items";
import { requestCard } from "./requests";

declare function acquireVsCodeApi(): { postMessage(message: FromView): void };
const api = acquireVsCodeApi();
const post = (message: FromView) => api.postMessage(message);

const log = element("div", "log");
log.setAttribute("role", "log");
log.tabIndex = 0;
const requests = element("div", "requests");
const earlier = button(l10n.t("Earlier"), () => post({ type: "earlier" }), "earlier");
const composer = new Composer(post);
const main = document.querySelector("main")!;
main.append(log, requests, composer.root);
new IntersectionObserver(([entry]) => entry?.isIntersecting && post({ type: "earlier" }), { root: log, rootMargin: "400px" }).observe(earlier);

// Whether the newest text is kept in sight: until the user scrolls away from it.
let following = true;
const follow = () => following && log.scrollTo({ top: log.scrollHeight });
log.addEventListener("scroll", () => (following = log.scrollHeight - log.scrollTop - log.clientHeight < 40));
new ResizeObserver(follow).observe(log);

let expected = 1;
let thread: Thread | null = null;
const runs = new Map<string, Run>();
const items = new Map<string, Item>();
const elements = new Map<string, HTMLElement>();
const stale = new Set<string>();

addEventListener("message", ({ data }: MessageEvent<Batch>) => {
  if (data.number !== expected) {
    expected = 1;
    if (data.number !== 1) return post({ type: "ready" });
  }
  expected += 1;
  for (const change of data.changes) take(change);
  for (const id of stale) draw(id);
  stale.clear();
  composer.refresh(thread?.selection.provider ?? "", thread?.queueHeld ?? false, [...runs.values()]);
  if (data.changes[0]?.type === "reset") following = true;
  follow();
  // What came into sight is measured only now.
  requestAnimationFrame(follow);
});

function take(change: Change): void {
  switch (change.type) {
    case "reset": {
      for (const held of [runs, items, elements]) held.clear();
      stale.clear();
      thread = change.shown.thread;
      for (const run of change.shown.runs) runs.set(run.id, run);
      log.replaceChildren(earlier);
      earlier.hidden = !change.shown.earlier;
      for (const item of change.shown.items) keep(item);
      change.shown.runs.forEach(showUsage);
      requests.replaceChildren();
      change.shown.requests.forEach(showRequest);
      composer.show(change.shown);
      break;
    }
    case "thread":
      thread = change.thread;
      break;
    case "run":
      runs.set(change.run.id, change.run);
      showUsage(change.run);
      break;
    case "item":
      keep(change.item);
      break;
    case "append": {
      const item = items.get(change.itemId) as (Item & Record<string, unknown>) | undefined;
      if (item && STREAMED[item.type] === change.field) keep({ ...item, [change.field]: String(item[change.field]) + change.text } as Item);
      break;
    }
    case "request":
      showRequest(change.request);
      break;
    case "earlier": {
      const height = log.scrollHeight;
      earlier.hidden = !change.earlier;
      for (const item of change.items) if (!items.has(item.id)) keep(item);
      for (const id of stale) draw(id);
      stale.clear();
      log.scrollTop += log.scrollHeight - height;
      break;
    }
  }
}

function keep(item: Item): void {
  items.set(item.id, item);
  stale.add(item.id);
}

/** Draw an item in its place, open where it was open. */
function draw(id: string): void {
  const item = items.get(id)!;
  const old = elements.get(id);
  const made = itemElement(item, item.runId === null ? undefined : runs.get(item.runId), (handoffId) => post({ type: "handoff", handoffId }));
  if (made === undefined) return;
  if (made instanceof HTMLDetailsElement && old instanceof HTMLDetailsElement) made.open = old.open;
  made.dataset.ordinal = String(item.ordinal);
  elements.set(id, made);
  if (old) return old.replaceWith(made);
  let before = log.lastElementChild as HTMLElement | null;
  while (before && Number(before.dataset.ordinal ?? -1) > item.ordinal) before = before.previousElementSibling as HTMLElement | null;
  if (before) before.after(made);
  else log.prepend(made);
}

function showRequest(request: RuntimeRequest): void {
  const old = requests.querySelector(`[data-request="${request.id}"]`);
  if (request.status !== "pending") return old?.remove();
  const card = requestCard(request, post);
  card.dataset.request = request.id;
  if (old) old.replaceWith(card);
  else requests.append(card);
}

/** Under the last item of an ended run: how it ended, what it used, and its changes. */
function showUsage(run: Run): void {
  if (run.completedAt === null) return;
  const last = [...items.values()].filter((item) => item.runId === run.id).sort((a, b) => b.ordinal - a.ordinal)[0];
  if (last === undefined) return;
  for (const id of stale) draw(id);
  stale.clear();
  log.querySelector(`[data-run="${run.id}"]`)?.remove();
  const tokens = run.usage ? ` · ${l10n.t("{0} tokens", run.usage.inputTokens + run.usage.outputTokens)}` : "";
  const line = element("div", `end ${run.status}`, `${run.provider} · ${run.status}${run.failure ? `: ${run.failure.message}` : ""}${tokens} `);
  if (run.baselineCheckpointId !== null) line.append(button(l10n.t("Changes"), () => post({ type: "diff", runId: run.id }), "link"));
  line.dataset.run = run.id;
  line.dataset.ordinal = String(last.ordinal + 0.5);
  const after = [...log.children].reverse().find((child) => Number((child as HTMLElement).dataset.ordinal ?? -1) <= last.ordinal);
  after?.after(line);
}

post({ type: "ready" });
