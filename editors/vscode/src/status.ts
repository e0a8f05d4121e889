/** What the status bar says of the session, and the context keys that decide which commands can be used. */
import * as vscode from "vscode";
import { isActive } from "./active";
import type { Thread } from "./protocol";

/** What of a session matters here. */
export interface Situation {
  readonly version: string | undefined;
  readonly problem: string | null;
  readonly thread: Thread | undefined;
}

export class Status implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem("midstream", vscode.StatusBarAlignment.Right);
  private readonly keys = new Map<string, boolean>();

  constructor() {
    this.item.name = "Midstream";
  }

  show(situation: Situation): void {
    const shown = describe(situation);
    this.item.text = `$(${shown.icon}) ${shown.text}`;
    this.item.tooltip = shown.tooltip;
    this.item.command = shown.command;
    this.item.accessibilityInformation = { label: `${shown.text}. ${shown.tooltip}`, role: "button" };
    this.item.backgroundColor =
      shown.background && new vscode.ThemeColor(`statusBarItem.${shown.background}Background`);
    this.item.show();
    for (const [key, value] of Object.entries(contextOf(situation))) {
      if (this.keys.get(key) === value) continue;
      this.keys.set(key, value);
      void vscode.commands.executeCommand("setContext", `midstream.${key}`, value);
    }
  }

  dispose(): void {
    this.item.dispose();
  }
}

interface Shown {
  readonly icon: string;
  readonly text: string;
  readonly tooltip: string;
  readonly command: string;
  readonly background?: "warning" | "error";
}

function describe({ version, problem, thread }: Situation): Shown {
  if (version === undefined) {
    const command = "midstream.restart";
    if (problem === null)
      return { icon: "sync~spin", text: "Midstream", tooltip: vscode.l10n.t("Midstream starts"), command };
    return { icon: "debug-disconnect", text: "Midstream", tooltip: problem, command, background: "error" };
  }
  const text = thread?.selection.provider ?? "Midstream";
  if (thread?.status === "waiting") {
    const tooltip = vscode.l10n.t("An agent waits for your answer");
    return { icon: "bell-dot", text, tooltip, command: "midstream.thread.focus", background: "warning" };
  }
  if (thread?.queueHeld) {
    return {
      icon: "debug-pause",
      text,
      tooltip: vscode.l10n.t("The queue is held"),
      command: "midstream.thread.focus",
    };
  }
  const tooltip = vscode.l10n.t("Midstream {0}: choose who answers next", version);
  return {
    icon: contextOf({ version, problem, thread }).runActive ? "sync~spin" : "comment-discussion",
    text,
    tooltip,
    command: "midstream.switch",
  };
}

function contextOf({ version, thread }: Situation): Record<"running" | "threadOpen" | "runActive", boolean> {
  const active = thread !== undefined && isActive(thread);
  return {
    running: version !== undefined,
    threadOpen: thread !== undefined,
    runActive: version !== undefined && active,
  };
}
