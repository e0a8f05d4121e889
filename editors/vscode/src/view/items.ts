/** What each item looks like. */
import * as l10n from "@vscode/l10n";
import type { HandoffItem, Item, Run } from "../protocol";
import { button, element } from "./dom";
import { render } from "./markdown";

const STRATEGIES: Record<HandoffItem["strategy"], string> = {
  delta_since_target_last_seen: l10n.t("told what it missed"),
  full_thread_summary: l10n.t("told the whole thread"),
  checkpoint_summary: l10n.t("told how things stand"),
  manual_context: l10n.t("told your own words"),
};
export const STREAMED: Partial<Record<Item["type"], string>> = { agentMessage: "text", reasoning: "text", command: "output", plan: "markdown" };

/** The element of an item; undefined where the view shows nothing of it. */
export function itemElement(item: Item, run: Run | undefined, openHandoff: (id: string) => void): HTMLElement | undefined {
  switch (item.type) {
    case "userMessage":
      return article("user", l10n.t("You"), element("div", "text", item.text));
    case "agentMessage":
      return article("agent", who(run), prose(item.text));
    case "plan":
      return article("agent", l10n.t("{0} plans", who(run)), prose(item.markdown));
    case "reasoning":
      return folded("reasoning", l10n.t("Thinking"), item.text);
    case "command":
      return folded("command", `$ ${item.command}`, item.output, item.exitCode === null ? item.status : l10n.t("exit {0}", item.exitCode), item.exitCode);
    case "tool":
      return folded("tool", item.name, `${JSON.stringify(item.input, null, 2)}\n${item.output ?? ""}`, item.status);
    case "webSearch":
      return folded("tool", l10n.t("Searched: {0}", item.query), (item.results ?? []).map((result) => result.url).join("\n"));
    case "fileChange":
      return folded("files", item.changes.map((change) => `${change.kind} ${change.path}`).join(", "), item.changes.map((change) => change.diff ?? "").join("\n"));
    case "todo": {
      const marks = { pending: "☐", running: "▸", completed: "☑" };
      return article("todo", l10n.t("To do"), element("ul", "", ...item.steps.map((step) => element("li", step.status, `${marks[step.status]} ${step.text}`))));
    }
    case "subagent":
      return folded("tool", l10n.t("Subagent: {0}", item.title), `${item.prompt}\n\n${item.result ?? ""}`, item.status);
    case "handoff": {
      const said = `${item.fromProviders.join(", ")} → ${item.toProvider}: ${STRATEGIES[item.strategy]}`;
      const why = element("span", "why", item.reasons.map((reason) => reason.message).join(" "));
      return element("section", "switch", element("strong", "", said), why, button(l10n.t("Exact text"), () => openHandoff(item.handoffId), "link"));
    }
    case "notice":
    case "error":
      return article(item.type, item.type === "error" ? l10n.t("Error") : l10n.t("Notice"), element("div", "text", item.message));
    case "compaction":
      return article("notice", l10n.t("Notice"), element("div", "text", l10n.t("The agent shortened its own history.")));
    default:
      return undefined;
  }
}

function who(run: Run | undefined): string {
  return run?.provider ?? l10n.t("agent");
}

function article(className: string, who: string, body: HTMLElement): HTMLElement {
  return element("article", className, element("header", "badge", who), body);
}

function prose(text: string): HTMLElement {
  const made = element("div", "prose");
  made.innerHTML = render(text);
  return made;
}

function folded(className: string, title: string, body: string, state = "", exitCode: number | null = 0): HTMLElement {
  const summary = element("summary", "", element("code", "", title), element("span", exitCode === 0 || exitCode === null ? "state" : "state bad", state));
  const output = element("pre", "output", body);
  output.tabIndex = 0;
  return element("details", className, summary, output);
}
