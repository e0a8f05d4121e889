/** The card that says what the next agent will be told; the next message is sent with just that. */
import * as l10n from "@vscode/l10n";
import type { FromView } from "../messages";
import { type Preview, ranges, type ShownHandoff } from "../preview";
import { button, element } from "./dom";
import { intention, TOLD } from "./strategies";

export function previewCard(preview: Preview, agent: string, post: (message: FromView) => void): HTMLElement {
  const { plan, handoffs } = preview;
  const close = button("×", () => post({ type: "closePreview" }), "link");
  close.setAttribute("aria-label", l10n.t("Close the preview"));
  const heading = element("h2", "", intention(preview, agent), " ", close);
  const card = element("section", "preview", heading);
  card.setAttribute("aria-label", l10n.t("Preview of the handoff"));
  const why = plan.reasons.map((reason) => reason.message).join(" ");
  if (why !== "") card.append(element("p", "", why));
  for (const handoff of handoffs) card.append(told(handoff, handoffs.length > 1, post));
  if (handoffs.length > 0) card.append(element("p", "", l10n.t("Your next message goes with this.")));
  return card;
}

function told(handoff: ShownHandoff, named: boolean, post: (message: FromView) => void): HTMLElement {
  const { runOrdinals, tokens, redactions, fallbackReason } = handoff;
  const size = l10n.t("about {0} of at most {1} tokens", tokens.estimated.toLocaleString(), tokens.budget.toLocaleString());
  const runs = runOrdinals.length === 0 ? undefined : (runOrdinals.length === 1 ? l10n.t("Run {0}", runOrdinals[0]!) : l10n.t("Runs {0}", ranges(runOrdinals)));
  const secrets = redactions === 0 ? undefined : l10n.t("{0} secrets left out", redactions);
  const what = handoff.ofFork ? l10n.t("What comes back from a fork") : named ? TOLD[handoff.strategy] : undefined;
  const facts = [what, runs, size, secrets].filter(Boolean).join(" · ");
  const part = element("div", "told", element("p", "", facts));
  if (fallbackReason !== null) part.append(element("p", "", fallbackReason));
  const open = () => post({ type: "handoff", handoffId: handoff.id });
  if (handoff.ofFork) {
    part.append(element("div", "answers", button(l10n.t("Read it"), open)));
    return part;
  }
  const edit = button(l10n.t("Edit handoff"), open);
  const again = button(l10n.t("Make it anew…"), () => post({ type: "regenerate", handoffId: handoff.id }));
  part.append(element("div", "answers", edit, again));
  return part;
}
