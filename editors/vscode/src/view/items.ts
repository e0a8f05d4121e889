/** What each item looks like. */
import * as l10n from "@vscode/l10n";
import type { FromView } from "../messages";
import type { Answer, FileChangeItem, ForkItem, HandoffItem, Item, MergeBackItem, QuestionItem, Shortened, TodoItem } from "../protocol";
import { button, element } from "./dom";
import { Prose } from "./prose";
import { TOLD } from "./strategies";

const STEPS: Record<TodoItem["steps"][number]["status"], readonly [mark: string, said: string]> = {
  pending: ["☐", l10n.t("to do")],
  running: ["▸", l10n.t("under way")],
  completed: ["☑", l10n.t("done")],
};
const STREAMED: Partial<Record<Item["type"], string>> = { agentMessage: "text", reasoning: "text", command: "output", plan: "markdown" };

/** What items need of the view that they stand in. */
export interface Surroundings {
  readonly isOpen: (id: string) => boolean;
  readonly setOpen: (id: string, open: boolean) => void;
  readonly post: (message: FromView) => void;
  /** Whether this thread was forked from that one. */
  readonly isSource: (threadId: string) => boolean;
  /** Whether a transfer brought a fork's work back. */
  readonly isMergeBack: (transferId: string) => boolean;
}

/** An item's element; `update`, where it has one, shows a later record in it, and is false where it cannot. */
export interface DrawnItem {
  readonly root: HTMLElement;
  readonly update?: (item: Item) => boolean;
}

/** The item with more text at the end of the field that is being written. */
export function grown(item: Item, field: string, text: string): Item {
  return STREAMED[item.type] === field ? ({ ...item, [field]: writtenText(item) + text } as Item) : item;
}

/** The text of an item that is written piece by piece. */
function writtenText(item: Item): string {
  return String((item as Item & Record<string, unknown>)[STREAMED[item.type] ?? ""] ?? "");
}

export function drawItem(item: Item, around: Surroundings): DrawnItem {
  const text = (field: string, value: string, path?: string) => cut(item, field, value, around.post, path);
  const fold = (className: string, title: string, state: string, body: () => readonly HTMLElement[]) =>
    folded(item, around, className, title, state, body);
  switch (item.type) {
    case "userMessage":
      return { root: element("div", "user", element("h3", "badge", l10n.t("You")), element("div", "text", ...text("text", item.text))) };
    case "agentMessage":
      return prose(item, item.text, "agent", around.post);
    case "plan":
      return prose(item, item.markdown, "plan", around.post, l10n.t("Plan"));
    case "reasoning": {
      const written = text("text", item.text);
      return growing(item, written, fold("reasoning", l10n.t("Thinking"), "", () => [output(...written)]));
    }
    case "command": {
      const written = text("output", item.output);
      const state = item.exitCode === null ? stateOf(item) : l10n.t("exit {0}", item.exitCode);
      return growing(item, written, fold("command", `$ ${item.command}`, state, () => [output(...written)]));
    }
    case "tool": {
      const name = item.server === undefined ? item.name : `${item.server}: ${item.name}`;
      const input = typeof item.input === "string" ? item.input : JSON.stringify(item.input, null, 2);
      const results = () => (item.output === undefined ? [] : [output(...text("output", item.output))]);
      return fold("tool", name, stateOf(item), () => [output(...text("input", input)), ...results()]);
    }
    case "webSearch": {
      const results = (item.results ?? []).map((result) => element("li", "", result.title ?? "", " ", link(result.url)));
      return fold("tool", l10n.t("Searched: {0}", item.query), stateOf(item), () => [element("ul", "", ...results)]);
    }
    case "fileChange":
      return fold("files", titleOf(item), stateOf(item), () => item.changes.map((change) => output(...text("diff", change.diff ?? "", change.path))));
    case "todo":
      return { root: element("div", "todo", element("h3", "", l10n.t("To do")), element("ul", "", ...item.steps.map(step))) };
    case "subagent": {
      const result = () => (item.result === null ? [] : [new Prose(item.result).root]);
      const drawn = fold("subagent", l10n.t("Subagent: {0}", item.title), stateOf(item), () => [output(...text("prompt", item.prompt)), ...result()]);
      const { childThreadId } = item;
      // What it asks for is asked there.
      const open = childThreadId !== null && button(l10n.t("Open its thread"), () => around.post({ type: "thread", threadId: childThreadId }), "link");
      return open ? { root: element("div", "", drawn.root, open) } : drawn;
    }
    case "handoff":
      return { root: divider(item, around) };
    case "fork":
    case "mergeBack":
      return { root: elsewhere(item, around) };
    case "notice":
      return { root: element("div", "notice", item.message) };
    case "error":
      return { root: element("div", "error", item.message) };
    case "compaction":
      return { root: element("div", "notice", l10n.t("The agent shortened its own history.")) };
    case "approval":
      return { root: element("div", "notice", l10n.t("You did not allow: {0}", item.prompt)) };
    case "question":
      return { root: element("div", "notice", ...(item.answers ?? []).map((answer) => element("div", "", answered(item, answer)))) };
    case "checkpoint":
      return { root: element("div", "") };
  }
}

function answered({ questions }: QuestionItem, { questionId, values }: Answer): string {
  const asked = questions.find(({ id }) => id === questionId)?.text ?? "";
  return l10n.t("{0} You answered: {1}", asked, values.join(", "));
}

function stateOf({ status }: Item): string {
  return status === "completed" ? "" : status;
}

function titleOf(item: FileChangeItem): string {
  return item.changes.map((change) => `${change.kind} ${change.oldPath === undefined ? "" : `${change.oldPath} → `}${change.path}`).join(", ");
}

function step({ text, status }: TodoItem["steps"][number]): HTMLElement {
  const [mark, said] = STEPS[status];
  const shown = element("span", "", mark);
  shown.setAttribute("role", "img");
  shown.setAttribute("aria-label", said);
  return element("li", status, shown, ` ${text}`);
}

function link(url: string): HTMLElement {
  if (!/^https?:/i.test(url)) return element("code", "", url);
  const made = element("a", "", url);
  made.href = url;
  return made;
}

function prose(item: Item, text: string, className: string, post: Surroundings["post"], title?: string): DrawnItem {
  const heading = title === undefined ? undefined : element("h3", "", title);
  const [short] = item.shortened ?? [];
  if (short === undefined) {
    const body = new Prose(text);
    return { root: element("div", className, heading, body.root), update: (later) => later.shortened === undefined && body.write(writtenText(later)) };
  }
  const [head, tail] = parted(text, short);
  return { root: element("div", className, heading, new Prose(head).root, rest(item.id, short, post), new Prose(tail).root) };
}

function output(...text: Node[]): HTMLElement {
  const made = element("pre", "output", ...text);
  made.tabIndex = 0;
  return made;
}

/** A field's text, with what was left out of it to be had in its place. */
function cut(item: Item, field: string, text: string, post: Surroundings["post"], path?: string): Node[] {
  const short = item.shortened?.find((one) => one.field === field && (path === undefined || one.path === path));
  if (short === undefined) return [new Text(text)];
  const [head, tail] = parted(text, short);
  return [new Text(head), rest(item.id, short, post), new Text(tail)];
}

function parted(text: string, { headLength }: Shortened): readonly [string, string] {
  const points = [...text];
  return [points.slice(0, headLength).join(""), points.slice(headLength).join("")];
}

function rest(itemId: string, { field, path, headLength, tailOffset }: Shortened, post: Surroundings["post"]): HTMLElement {
  const show = () => post({ type: "output", itemId, field, ...(path === undefined ? {} : { path }) });
  return element("div", "rest", l10n.t("{0} characters are left out.", tailOffset - headLength), " ", button(l10n.t("Show all"), show, "link"));
}

/** A part that the user unfolds; its body is made only then. */
function folded(
  item: Item,
  around: Surroundings,
  className: string,
  title: string,
  state: string,
  body: () => readonly HTMLElement[],
): DrawnItem {
  const said = element("span", "", state);
  const root = element("details", className, element("summary", "", element("code", "", title), said));
  const unfold = () => root.childElementCount === 1 && root.append(...body());
  said.className = bad(item) ? "state bad" : "state";
  root.open = around.isOpen(item.id);
  if (root.open) unfold();
  root.addEventListener("toggle", () => {
    if (root.open) unfold();
    if (root.open !== around.isOpen(item.id)) around.setOpen(item.id, root.open);
  });
  return { root };
}

/** A part whose text is still being written shows more of it in its place. */
function growing(item: Item, [written]: readonly Node[], drawn: DrawnItem): DrawnItem {
  const update = (later: Item) => {
    const longer = writtenText(later);
    const grows = later.status === item.status && later.shortened === undefined && written instanceof Text && longer.startsWith(written.data);
    if (grows) written.appendData(longer.slice(written.length));
    return grows;
  };
  return { root: drawn.root, update };
}

function bad(item: Item): boolean {
  return item.status === "failed" || (item.type === "command" && (item.exitCode ?? 0) !== 0);
}

function divider(item: HandoffItem, { post, isMergeBack }: Surroundings): HTMLElement {
  const ofFork = isMergeBack(item.transferId);
  const told = ofFork ? l10n.t("told what a fork did") : TOLD[item.strategy];
  const reasons = item.reasons.filter(({ code }) => (code === "merge_back") === ofFork);
  const from = item.fromProviders.length === 0 ? "" : `${item.fromProviders.join(", ")} → `;
  const said = `${from}${item.toProvider}: ${told}`;
  const why = element("span", "why", reasons.map((reason) => reason.message).join(" "));
  return element("div", "switch", element("strong", "", said), why, button(l10n.t("Exact text"), () => post({ type: "handoff", handoffId: item.handoffId }), "link"));
}

function elsewhere(item: ForkItem | MergeBackItem, { post, isSource }: Surroundings): HTMLElement {
  const own = isSource(item.otherThreadId) ? l10n.t("Forked from another thread.") : l10n.t("A fork leaves here.");
  const said = item.type === "mergeBack" ? l10n.t("The work of a fork comes back.") : own;
  return element("div", "switch", element("strong", "", said), " ", button(l10n.t("Open it"), () => post({ type: "thread", threadId: item.otherThreadId }), "link"));
}
