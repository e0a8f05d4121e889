/** What each item looks like. */
import type { HandoffItem, Item, Run } from "../protocol";
import { button, element } from "./dom";
import { render } from "./markdown";

const STRATEGIES: Record<HandoffItem["strategy"], string> = {
  delta_since_target_last_seen: "told what it missed",
  full_thread_summary: "told the whole thread",
  checkpoint_summary: "told how things stand",
  manual_context: "told your own words",
};
export const STREAMED: Partial<Record<Item["type"], string>> = { agentMessage: "text", reasoning: "text", command: "output", plan: "markdown" };

/** The element of an item; undefined where the view shows nothing of it. */
export function itemElement(item: Item, run: Run | undefined, openHandoff: (id: string) => void): HTMLElement | undefined {
  switch (item.type) {
    case "userMessage":
      return article("user", "You", element("div", "text", item.text));
    case "agentMessage":
      return article("agent", run?.provider ?? "agent", prose(item.text));
    case "plan":
      return article("agent", `${run?.provider ?? "agent"} plans`, prose(item.markdown));
    case "reasoning":
      return folded("reasoning", "Thinking", item.text);
    case "command":
      return folded("command", `$ ${item.command}`, item.output, item.exitCode === null ? item.status : `exit ${item.exitCode}`, item.exitCode);
    case "tool":
      return folded("tool", item.name, `${JSON.stringify(item.input, null, 2)}\n${item.output ?? ""}`, item.status);
    case "webSearch":
      return folded("tool", `Searched: ${item.query}`, (item.results ?? []).map((result) => result.url).join("\n"));
    case "fileChange":
      return folded("files", item.changes.map((change) => `${change.kind} ${change.path}`).join(", "), item.changes.map((change) => change.diff ?? "").join("\n"));
    case "todo": {
      const marks = { pending: "☐", running: "▸", completed: "☑" };
      return article("todo", "To do", element("ul", "", ...item.steps.map((step) => element("li", step.status, `${marks[step.status]} ${step.text}`))));
    }
    case "subagent":
      return folded("tool", `Subagent: ${item.title}`, `${item.prompt}\n\n${item.result ?? ""}`, item.status);
    case "handoff": {
      const said = `${item.fromProviders.join(", ")} → ${item.toProvider}: ${STRATEGIES[item.strategy]}`;
      const why = element("span", "why", item.reasons.map((reason) => reason.message).join(" "));
      return element("section", "switch", element("strong", "", said), why, button("Exact text", () => openHandoff(item.handoffId), "link"));
    }
    case "notice":
    case "error":
      return article(item.type, item.type === "error" ? "Error" : "Notice", element("div", "text", item.message));
    case "compaction":
      return article("notice", "Notice", element("div", "text", "The agent shortened its own history."));
    default:
      return undefined;
  }
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
