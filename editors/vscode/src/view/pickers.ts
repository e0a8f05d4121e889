/** Who answers next, with which model, and what it may do without asking. */
import * as l10n from "@vscode/l10n";
import type { FromView } from "../messages";
import type { ModelSelection, Provider, Thread } from "../protocol";
import { type Unusable, unusable, wrongWith } from "../unusable";
import { element, signButton } from "./dom";

const MODES: Record<Thread["runtimeMode"], () => string> = {
  approvalRequired: () => l10n.t("Asks before edits and commands"),
  autoAcceptEdits: () => l10n.t("Asks before commands"),
  fullAccess: () => l10n.t("Never asks"),
  readOnly: () => l10n.t("Changes nothing"),
};
const WRONG: Record<Unusable, () => string> = {
  notInstalled: () => l10n.t("not installed"),
  notLoggedIn: () => l10n.t("not logged in"),
  broken: () => l10n.t("cannot be used"),
};

export class Pickers {
  readonly root = element("div", "pickers");
  private readonly who = element("select", "");
  private readonly model = element("select", "");
  private readonly mode = element("select", "");
  private readonly problem = element("p", "problem");
  private providers: readonly Provider[] = [];

  constructor(post: (message: FromView) => void) {
    const select = (selection: ModelSelection) => post({ type: "select", selection });
    this.who.setAttribute("aria-label", l10n.t("Who answers the next message"));
    this.who.addEventListener("change", () => select({ provider: this.who.value, model: null }));
    this.model.setAttribute("aria-label", l10n.t("Model"));
    this.model.addEventListener("change", () => select({ provider: this.who.value, model: this.model.value || null }));
    this.mode.setAttribute("aria-label", l10n.t("What the agent may do without asking"));
    this.mode.addEventListener("change", () => post({ type: "mode", runtimeMode: this.mode.value as Thread["runtimeMode"] }));
    this.mode.append(...Object.entries(MODES).map(([mode, label]) => option(mode, label())));
    this.problem.setAttribute("role", "status");
    const all = signButton("…", l10n.t("All agents, and what is wrong with those that cannot be used"), () => post({ type: "chooseProvider" }));
    this.root.append(this.who, this.model, this.mode, all, this.problem);
  }

  provider(kind: string): Provider | undefined {
    return this.providers.find((provider) => provider.kind === kind);
  }

  show(providers: readonly Provider[]): void {
    this.providers = providers;
    this.who.replaceChildren(
      ...providers.map((provider) => {
        const why = unusable(provider);
        const made = option(provider.kind, why === undefined ? provider.label : `${provider.label} (${WRONG[why]()})`);
        made.disabled = why !== undefined;
        return made;
      }),
    );
  }

  refresh(thread: Thread | null): void {
    const selection = thread?.selection ?? { provider: this.providers[0]?.kind ?? "", model: null };
    const provider = this.provider(selection.provider);
    this.who.value = selection.provider;
    this.mode.value = thread?.runtimeMode ?? "approvalRequired";
    this.showModels(provider, selection.model);
    this.problem.textContent = provider === undefined ? "" : wrongWith(provider);
  }

  private showModels(provider: Provider | undefined, selected: string | null): void {
    const known = provider?.models.map(({ id, label }) => [id, label] as const) ?? [];
    const own = selected === null || known.some(([id]) => id === selected) ? [] : [[selected, selected] as const];
    const options = [["", l10n.t("Its own model")] as const, ...known, ...own];
    this.model.hidden = options.length === 1;
    if ([...this.model.options].map(({ value }) => value).join("\n") !== options.map(([id]) => id).join("\n"))
      this.model.replaceChildren(...options.map(([id, label]) => option(id, label)));
    this.model.value = selected ?? "";
  }
}

function option(value: string, label: string): HTMLOptionElement {
  const made = element("option", "", label);
  made.value = value;
  return made;
}
