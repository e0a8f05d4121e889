/** Where the user writes, and chooses who answers; above it what waits in the queue. */
import * as l10n from "@vscode/l10n";
import type { Delivery, FromView, Shown } from "../messages";
import type { Run } from "../protocol";
import { button, element } from "./dom";

export class Composer {
  readonly root = element("footer", "composer");
  private readonly text = element("textarea", "");
  private readonly queue = element("ol", "queue");
  private readonly provider = element("select", "");
  private readonly problem = element("p", "problem");
  private readonly send = button(l10n.t("Send"), () => this.deliver("auto"), "primary");
  private readonly steer = button(l10n.t("Steer"), () => this.deliver("steer"));
  private readonly stop = button(l10n.t("Interrupt"), () => this.post({ type: "interrupt" }));

  constructor(private readonly post: (message: FromView) => void) {
    this.text.setAttribute("aria-label", l10n.t("Message"));
    this.text.placeholder = l10n.t("Message to the agent (Enter sends, Shift+Enter breaks the line)");
    this.text.rows = 3;
    this.text.addEventListener("input", () => post({ type: "draft", text: this.text.value }));
    this.text.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.deliver("auto");
    });
    this.provider.setAttribute("aria-label", l10n.t("Who answers the next message"));
    this.provider.addEventListener("change", () => post({ type: "switch", provider: this.provider.value }));
    this.problem.setAttribute("role", "alert");
    const preview = button(l10n.t("Preview handoff"), () => post({ type: "preview" }));
    this.root.append(this.queue, this.problem, this.text, element("div", "answers", this.provider, preview, this.steer, this.stop, this.send));
  }

  show(shown: Shown): void {
    this.text.value = shown.draft;
    this.problem.textContent = shown.problem ?? "";
    this.provider.replaceChildren(
      ...shown.providers.map((provider) => {
        const option = element("option", "", provider.problem === null ? provider.label : `${provider.label}: ${provider.problem.message}`);
        option.value = provider.kind;
        option.disabled = !provider.installed || provider.authenticated === false;
        return option;
      }),
    );
  }

  /** Show who answers next, and what of the runs waits or goes on. */
  refresh(selected: string, held: boolean, runs: readonly Run[]): void {
    this.provider.value = selected;
    const active = runs.some((run) => ["starting", "running", "waiting"].includes(run.status));
    this.stop.hidden = this.steer.hidden = !active;
    this.send.textContent = active ? l10n.t("Queue") : l10n.t("Send");
    const queued = runs.filter((run) => run.status === "queued").sort((a, b) => (a.queuePosition ?? 0) - (b.queuePosition ?? 0));
    this.queue.replaceChildren(...queued.map((run, index) => this.queued(run, queued[index - 1])));
    if (!held || queued.length === 0) return;
    const goOn = button(l10n.t("Go on"), () => this.post({ type: "resumeQueue" }));
    this.queue.append(element("li", "", l10n.t("The queue is held."), " ", goOn));
  }

  private queued(run: Run, before: Run | undefined): HTMLElement {
    const up = before && button(l10n.t("Move up"), () => this.post({ type: "moveUp", runId: run.id, beforeRunId: before.id }), "link");
    const edit = button(l10n.t("Edit"), () => this.post({ type: "editRun", runId: run.id }), "link");
    const cancel = button(l10n.t("Remove"), () => this.post({ type: "cancelRun", runId: run.id }), "link");
    return element("li", "", element("span", "badge", run.provider), ` ${run.message.text} `, up, edit, cancel);
  }

  private deliver(delivery: Delivery): void {
    const text = this.text.value.trim();
    if (text === "") return;
    this.text.value = "";
    this.post({ type: "send", text, delivery });
    this.post({ type: "draft", text: "" });
  }
}
