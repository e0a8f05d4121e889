/** How an agent is told of what it did not see, in words. */
import * as l10n from "@vscode/l10n";
import { editedIn, type Preview } from "../preview";
import type { SwitchPlan } from "../protocol";

type Strategy = SwitchPlan["strategy"];

/** Said of an agent that was told, behind its name. */
export const TOLD: Record<Exclude<Strategy, "none" | "unsupported" | "native_fork">, string> = {
  delta_since_target_last_seen: l10n.t("told what it missed"),
  full_thread_summary: l10n.t("told the whole thread"),
  checkpoint_summary: l10n.t("told how things stand"),
  manual_context: l10n.t("told your own words"),
};

/** What would happen with the next message. */
export function intention(preview: Preview, agent: string): string {
  const { plan, handoffs } = preview;
  switch (editedIn(preview)?.strategy ?? plan.strategy) {
    case "none":
      if (handoffs.length > 0) return l10n.t("{0} is told what comes back from a fork.", agent);
      return l10n.t("{0} knows all of this thread: nothing has to be handed over.", agent);
    case "delta_since_target_last_seen":
      return l10n.t("{0} is told what it missed.", agent);
    case "full_thread_summary":
      return l10n.t("{0} is told the whole thread.", agent);
    case "checkpoint_summary":
      return l10n.t("{0} is told how things stand.", agent);
    case "manual_context":
      return l10n.t("{0} is told your own words.", agent);
    case "native_fork":
      return l10n.t("{0} goes on in a copy of its own conversation.", agent);
    case "unsupported":
      return l10n.t("{0} cannot be told of this thread.", agent);
  }
}
