/** Where the user writes; around it what waits in the queue, what goes with the message, and who answers. */
import * as l10n from "@vscode/l10n";
import { isActive } from "../active";
import type { Delivery, FromView, Shown } from "../messages";
import type { Run, Thread } from "../protocol";
import { joined } from "../unsent";
import { button, element, signButton } from "./dom";
import { Pickers } from "./pickers";
import { Queue } from "./queue";

export class Composer {
  readonly root = element("footer", "composer");
  private readonly text = element("textarea", "");
  private readonly attachments = element("ul", "chips");
  private readonly problem = element("p", "problem");
  private readonly send = button(l10n.t("Send"), () => this.deliver("auto"), "primary");
  private readonly steer = button(l10n.t("Steer"), () => this.deliver("steer"));
  private readonly stop = button(l10n.t("Interrupt"), () => this.post({ type: "interrupt" }));
  private readonly queue: Queue;
  private readonly pickers: Pickers;
  /** From then on the words in the box are newer than those that were kept. */
  private shown = false;

  constructor(private readonly post: (message: FromView) => void) {
    this.queue = new Queue(post, (text) => this.takeBack(text));
    this.pickers = new Pickers(post);
    this.text.setAttribute("aria-label", l10n.t("Message"));
    this.text.placeholder = l10n.t("Message to the agent (Enter sends, Shift+Enter breaks the line)");
    this.text.rows = 3;
    this.text.addEventListener("input", () => this.keepDraft());
    this.text.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.deliver("auto");
    });
    this.attachments.setAttribute("aria-label", l10n.t("What goes with the message"));
    this.problem.setAttribute("role", "alert");
    const attach = signButton("+", l10n.t("Attach…"), () => post({ type: "attach" }));
    const preview = button(l10n.t("Preview handoff"), () => post({ type: "preview" }));
    const actions = element("div", "answers", attach, preview, this.steer, this.stop, this.send);
    this.root.append(this.queue.root, this.problem, this.attachments, this.text, this.pickers.root, actions);
  }

  show(shown: Shown): void {
    if (!this.shown) this.text.value = shown.draft;
    this.shown = true;
    this.problem.textContent = shown.problem ?? "";
    this.showAttachments(shown.attachments);
    this.pickers.show(shown.providers);
  }

  showAttachments(names: readonly string[]): void {
    this.attachments.hidden = names.length === 0;
    this.attachments.replaceChildren(
      ...names.map((name) => {
        const remove = signButton("×", l10n.t("Leave out {0}", name), () => this.post({ type: "detach", name }), "link");
        return element("li", "chip", name, " ", remove);
      }),
    );
  }

  /** Take back words that could not be sent. */
  takeBack(unsent: string): void {
    this.text.value = joined(unsent, this.text.value);
    this.keepDraft();
  }

  /** Show who answers next, and what of the runs waits or goes on. */
  refresh(thread: Thread | null, runs: readonly Run[]): void {
    this.pickers.refresh(thread);
    this.queue.refresh(thread?.queueHeld ?? false, runs);
    const active = runs.find(isActive);
    this.stop.hidden = this.steer.hidden = active === undefined;
    const unsteerable = active && this.pickers.provider(active.provider)?.capabilities.steer === false;
    this.steer.disabled = unsteerable === true;
    this.steer.title = unsteerable ? l10n.t("This agent takes no words while it works.") : "";
    this.send.textContent = active ? l10n.t("Queue") : l10n.t("Send");
  }

  /** What the user knows a provider as. */
  nameOf(provider: string): string {
    return this.pickers.provider(provider)?.label ?? provider;
  }

  private keepDraft(): void {
    this.post({ type: "draft", text: this.text.value });
  }

  private deliver(delivery: Delivery): void {
    const text = this.text.value.trim();
    if (text === "") return;
    this.text.value = "";
    this.post({ type: "send", text, delivery });
  }
}
