/** What stands before and behind a run: who answers, how it ended and what it used. */
import * as l10n from "@vscode/l10n";
import type { HeldItems } from "../heldItems";
import type { FromView, RunContext } from "../messages";
import type { Run } from "../protocol";
import { button, element } from "./dom";

/** How much of an answer is said by itself to a screen reader. */
const SPOKEN = 300;
const ENDS: Partial<Record<Run["status"], string>> = {
  completed: l10n.t("completed"),
  interrupted: l10n.t("interrupted"),
  failed: l10n.t("failed"),
  cancelled: l10n.t("cancelled"),
  rolled_back: l10n.t("taken back"),
};

export function beginning(run: Run): HTMLElement {
  const words = [l10n.t("run {0}", run.ordinal ?? ""), ...(run.selection.model === null ? [] : [run.selection.model])];
  return element("div", "begin", element("span", "badge", run.provider), element("span", "why", words.join(" · ")));
}

/** `changed` is how many files the run changed; undefined where that is not known. */
export function ending(run: Run, changed: number | undefined, post: (message: FromView) => void): HTMLElement {
  const failure = run.failure === null ? "" : `: ${run.failure.message}`;
  const said = element("span", "", [`${run.provider} ${ENDS[run.status] ?? run.status}${failure}`, ...used(run)].join(" · "));
  const again = (run.status === "failed" || run.status === "interrupted") && button(l10n.t("Try Again"), () => post({ type: "retry", runId: run.id }), "link");
  const changes = run.baselineCheckpointId !== null && changed !== 0 && button(l10n.t("Changes"), () => post({ type: "diff", runId: run.id }), "link");
  const line = element("div", `end ${run.status}`, said, again || undefined, changes || undefined);
  line.dataset.run = run.id;
  // What the run's menu is for, and what its conditions look at.
  const context: RunContext = { webviewSection: "run", runStatus: run.status, threadId: run.threadId, runId: run.id };
  line.dataset.vscodeContext = JSON.stringify({ ...context, preventDefaultContextMenuItems: true });
  return line;
}

/** What a run used: tokens, money, and how full the model's context is. */
function used({ usage }: Run): string[] {
  if (usage === null) return [];
  const { inputTokens, outputTokens, costUsd, contextTokens, contextWindow } = usage;
  const shown = [l10n.t("{0} tokens", (inputTokens + outputTokens).toLocaleString())];
  if (costUsd !== undefined) shown.push(`$${costUsd.toFixed(costUsd < 1 ? 3 : 2)}`);
  if (contextTokens !== undefined && contextWindow) shown.push(l10n.t("context {0}% full", Math.round((100 * contextTokens) / contextWindow)));
  return shown;
}

/** How a run ended, and the beginning of what its agent said last. */
export function lastWords(run: Run, items: HeldItems): string {
  const last = items.ordered().findLast((item) => item.runId === run.id && item.type === "agentMessage");
  const words = last?.type === "agentMessage" ? last.text.slice(0, SPOKEN) : "";
  return `${run.provider} ${ENDS[run.status] ?? run.status}. ${words}`;
}
