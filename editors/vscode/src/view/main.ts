/** The thread view in the browser: takes numbered batches, and asks anew where one is missing. */
import "./language";
import * as l10n from "@vscode/l10n";
import { HeldItems } from "../heldItems";
import type { Batch, Change, FromView, Shown } from "../messages";
import type { Preview } from "../preview";
import type { Run, RuntimeRequest, Thread } from "../protocol";
import { Composer } from "./composer";
import { element } from "./dom";
import { type DrawnItem, drawItem, grown } from "./items";
import { previewCard } from "./preview";
import { requestCard } from "./requests";
import { beginning, ending, lastWords } from "./runs";
import { pageAt, type Row, rowsOf } from "./rows";
import { VirtualList } from "./virtualList";

declare function acquireVsCodeApi(): { postMessage(message: FromView): void };
const api = acquireVsCodeApi();
const post = (message: FromView) => api.postMessage(message);

let expected = 1;
let thread: Thread | null = null;
let items = new HeldItems();
const runs = new Map<string, Run>();
const opened = new Set<string>();
/** The item to go to once it is held. */
let wanted: string | null = null;
/** Whether a page was asked for that did not come yet. */
let reading = false;

const drawn = new WeakMap<HTMLElement, DrawnItem>();
const list = new VirtualList<Row>(fill, (gap, place) => {
  if (gap.type !== "gap" || reading) return;
  reading = true;
  post({ type: "page", anchor: pageAt(gap, place, runs) });
});
const requests = element("div", "requests");
const previewed = element("div", "previews");
/** Says to a screen reader how a run ended: the list itself is silent, as rows come and go in it while it is scrolled. */
const spoken = element("div", "spoken");
const composer = new Composer((message) => {
  if (message.type === "send") list.follow();
  post(message);
});
const title = element("h1", "");
const hint = element("p", "hint", l10n.t("Write to an agent below. Choose another one at any time: it is told what it missed."));
document.querySelector("main")!.append(title, hint, list.root, spoken, requests, previewed, composer.root);
list.root.setAttribute("aria-label", l10n.t("Thread"));
spoken.setAttribute("role", "status");
list.root.addEventListener("click", ({ target }) => {
  const code = target instanceof Element && target.closest(".copy")?.parentElement?.querySelector("code");
  if (code) post({ type: "copy", text: code.textContent });
});

addEventListener("message", ({ data }: MessageEvent<Batch>) => {
  if (data.number !== expected) {
    expected = 1;
    if (data.number !== 1) return post({ type: "ready" });
  }
  expected += 1;
  for (const change of data.changes) take(change);
  if (data.changes.some((change) => change.type !== "append")) showRows();
  if (wanted !== null && items.get(wanted) !== undefined) {
    list.goTo(wanted);
    wanted = null;
    post({ type: "arrived" });
  }
  hint.hidden = runs.size > 0;
  title.textContent = thread?.title ?? "";
  title.title = title.textContent;
  composer.refresh(thread, [...runs.values()]);
});

function take(change: Change): void {
  switch (change.type) {
    case "reset":
      return reset(change.shown);
    case "thread":
      thread = change.thread;
      return;
    case "run":
      if (change.run.completedAt !== null && !runs.get(change.run.id)?.completedAt) spoken.textContent = lastWords(change.run, items);
      runs.set(change.run.id, change.run);
      return list.refresh(`end ${change.run.id}`);
    case "item":
      items.put(change.item);
      return list.refresh(change.item.id);
    case "append": {
      const item = items.get(change.itemId);
      if (item === undefined) return;
      items.put(grown(item, change.field, change.text));
      return list.refresh(item.id);
    }
    case "place":
      wanted = change.itemId;
      return;
    case "preview":
      return showPreview(change.preview);
    case "request":
      return showRequest(change.request);
    case "attachments":
      return composer.showAttachments(change.attachments);
    case "unsent":
      return composer.takeBack(change.text);
    case "page":
      reading = false;
      items.takePage(change.page, change.anchor);
  }
}

function reset(shown: Shown): void {
  if (thread?.id !== shown.thread?.id) {
    opened.clear();
    list.follow();
  }
  reading = false;
  wanted = shown.place;
  thread = shown.thread;
  items = new HeldItems(shown.items, shown.gaps);
  runs.clear();
  for (const run of shown.runs) runs.set(run.id, run);
  requests.replaceChildren();
  shown.requests.forEach(showRequest);
  composer.show(shown);
  showPreview(shown.preview);
  list.refreshAll();
}

function showRows(): void {
  list.setRows(rowsOf(items, runs, (id) => opened.has(id)));
}

function fill(row: Row, into: HTMLElement): void {
  into.className = `row ${row.type}-row`;
  switch (row.type) {
    case "item": {
      const item = items.get(row.key)!;
      if (drawn.get(into)?.update?.(item)) return;
      const made = drawItem(item, surroundings);
      drawn.set(into, made);
      into.style.setProperty("--depth", String(row.depth));
      return into.replaceChildren(made.root);
    }
    case "begin":
      return into.replaceChildren(beginning(row.run));
    case "end":
      return into.replaceChildren(ending(runs.get(row.run.id)!, row.changed, post));
    case "gap":
      return into.replaceChildren(l10n.t("Reading what is not shown yet …"));
  }
}

const surroundings = {
  post,
  isOpen: (id: string) => opened.has(id),
  setOpen: (id: string, open: boolean) => {
    if (open) opened.add(id);
    else opened.delete(id);
    // What a subagent did stands in rows of its own.
    showRows();
  },
  isMergeBack: (transferId: string) => items.ordered().some((item) => item.type === "mergeBack" && item.transferId === transferId),
  isSource: (threadId: string) => thread?.forkedFrom?.threadId === threadId,
};

function showPreview(preview: Preview | null): void {
  previewed.replaceChildren(...(preview === null ? [] : [previewCard(preview, composer.nameOf(preview.provider), post)]));
}

function showRequest(request: RuntimeRequest): void {
  const old = requests.querySelector(`[data-request="${request.id}"]`);
  if (request.status !== "pending") return old?.remove();
  const card = requestCard(request, post);
  card.dataset.request = request.id;
  if (old) old.replaceWith(card);
  else requests.append(card);
}

post({ type: "ready" });
