/** The messages that wait, in their order: each can be changed in its place, moved, and removed. */
import * as l10n from "@vscode/l10n";
import type { FromView } from "../messages";
import type { Run } from "../protocol";
import { button, element, signButton } from "./dom";

export class Queue {
  readonly root = element("div", "queued");
  private readonly title = element("h3", "", l10n.t("Queue"));
  private readonly notice = element("p", "held");
  private readonly list = element("ol", "queue");
  private readonly editors = new Map<string, { readonly row: HTMLElement; readonly changed: () => string }>();
  private waiting: readonly Run[] = [];

  /** `unsent` takes the words of an editor whose message left the queue meanwhile. */
  constructor(
    private readonly post: (message: FromView) => void,
    private readonly unsent: (text: string) => void,
  ) {
    this.notice.setAttribute("role", "status");
    this.list.setAttribute("aria-label", l10n.t("Queue"));
    this.title.hidden = true;
    this.root.append(this.title, this.notice, this.list);
  }

  refresh(held: boolean, runs: readonly Run[]): void {
    const waiting = runs.filter((run) => run.status === "queued").sort((a, b) => (a.queuePosition ?? 0) - (b.queuePosition ?? 0));
    this.showHeld(held && waiting.length > 0);
    // A run's record is replaced whole, so that the same records are the same queue.
    if (waiting.length === this.waiting.length && waiting.every((run, index) => run === this.waiting[index])) return;
    this.waiting = waiting;
    this.title.hidden = waiting.length === 0;
    for (const [id, { changed }] of this.editors) {
      if (waiting.some((run) => run.id === id)) continue;
      this.editors.delete(id);
      if (changed() !== "") this.unsent(changed());
    }
    this.draw();
  }

  private showHeld(held: boolean): void {
    if (held === this.notice.hasChildNodes()) return;
    const goOn = button(l10n.t("Go on"), () => this.post({ type: "resumeQueue" }));
    this.notice.replaceChildren(...(held ? [l10n.t("The queue is held: what waits is sent once you say so."), " ", goOn] : []));
  }

  /** Draw the list anew, with the focus where it was. */
  private draw(): void {
    const focused = document.activeElement as HTMLElement | null;
    const key = this.list.contains(focused) ? focused?.dataset.key : undefined;
    this.list.replaceChildren(...this.waiting.map((run, index) => this.editors.get(run.id)?.row ?? this.row(run, index)));
    if (key !== undefined) this.list.querySelector<HTMLElement>(`[data-key="${key}"]`)?.focus();
  }

  private row(run: Run, index: number): HTMLElement {
    const act = (name: string, label: string, does: () => void) => {
      const made = signButton(name, label, does, "link");
      made.dataset.key = `${run.id} ${name}`;
      return made;
    };
    const up = act("↑", l10n.t("Move up (Alt+Up)"), () => this.move(index, -1));
    const down = act("↓", l10n.t("Move down (Alt+Down)"), () => this.move(index, 1));
    up.disabled = index === 0;
    down.disabled = index === this.waiting.length - 1;
    const edit = act("✎", l10n.t("Edit"), () => this.edit(run));
    const remove = act("×", l10n.t("Remove"), () => this.post({ type: "cancelRun", runId: run.id }));
    const text = element("span", "text", run.message.text);
    const row = element("li", "", element("span", "badge", run.provider), " ", text, " ", element("span", "acts", up, down, edit, remove));
    row.tabIndex = 0;
    row.dataset.key = run.id;
    row.addEventListener("keydown", (event) => {
      if (!event.altKey || (event.key !== "ArrowUp" && event.key !== "ArrowDown")) return;
      event.preventDefault();
      row.focus();
      this.move(index, event.key === "ArrowUp" ? -1 : 1);
    });
    return row;
  }

  private move(index: number, by: -1 | 1): void {
    const run = this.waiting[index];
    const target = index + by;
    if (run === undefined || target < 0 || target >= this.waiting.length) return;
    const before = this.waiting[by === -1 ? target : target + 1];
    this.post({ type: "moveRun", runId: run.id, beforeRunId: before?.id ?? null });
  }

  private edit(run: Run): void {
    const text = element("textarea", "");
    text.value = run.message.text;
    text.setAttribute("aria-label", l10n.t("The queued message"));
    const close = () => {
      this.editors.delete(run.id);
      this.draw();
      this.list.querySelector<HTMLElement>(`[data-key="${run.id}"]`)?.focus();
    };
    /** What the message is to be; empty where that is nothing new. */
    const changed = () => (text.value.trim() === run.message.text ? "" : text.value.trim());
    const save = () => {
      if (changed() !== "") this.post({ type: "editRun", runId: run.id, text: changed() });
      close();
    };
    text.addEventListener("keydown", (event) => {
      if (event.key === "Escape") close();
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      save();
    });
    const answers = element("div", "answers", button(l10n.t("Cancel"), close), button(l10n.t("Change"), save, "primary"));
    this.editors.set(run.id, { row: element("li", "", text, answers), changed });
    this.draw();
    text.focus();
  }
}
