/** Choosing who answers next: each agent with what is installed, logged in, and what is wrong and what to do. */
import * as vscode from "vscode";
import type { ModelSelection, Provider } from "./protocol";
import type { Session } from "./session";
import { type Unusable, unusable, wrongWith } from "./unusable";

const ICONS: Record<Unusable, string> = { notInstalled: "circle-slash", notLoggedIn: "key", broken: "warning" };

interface AgentPick extends vscode.QuickPickItem {
  readonly provider: Provider;
}

/** Let the user choose an agent, and a model and an effort where there are some. */
export async function chooseAgent(session: Session): Promise<void> {
  const provider = await chooseProvider(session);
  if (provider === undefined) return;
  const selection = await chooseModel(provider);
  if (selection !== undefined) await session.select(selection);
}

async function chooseProvider(session: Session): Promise<Provider | undefined> {
  const picker = vscode.window.createQuickPick<AgentPick>();
  picker.placeholder = vscode.l10n.t("Who answers the next message?");
  picker.matchOnDetail = true;
  picker.buttons = [{ iconPath: new vscode.ThemeIcon("refresh"), tooltip: vscode.l10n.t("Look anew for agents") }];
  const show = () => (picker.items = session.knownProviders.map((provider) => pickOf(provider, session.thread?.selection.provider)));
  show();
  const chosen = await new Promise<Provider | undefined>((resolve, reject) => {
    picker.onDidTriggerButton(async () => {
      picker.busy = true;
      await session.readProviders(true).catch(reject);
      picker.busy = false;
      show();
    });
    picker.onDidAccept(() => resolve(picker.selectedItems[0]?.provider));
    picker.onDidHide(() => resolve(undefined));
    picker.show();
  }).finally(() => picker.dispose());
  if (chosen === undefined || unusable(chosen) === undefined) return chosen;
  // A list and a toast cut off what to do, which comes last.
  await vscode.window.showWarningMessage(chosen.problem?.message ?? chosen.label, { modal: true, ...(chosen.problem && { detail: chosen.problem.action }) });
  return undefined;
}

function pickOf(provider: Provider, selected: string | undefined): AgentPick {
  const why = unusable(provider);
  const said = [provider.version, provider.kind === selected ? vscode.l10n.t("answers now") : ""];
  return {
    label: provider.label,
    description: said.filter(Boolean).join(" · "),
    detail: provider.problem?.action || wrongWith(provider) || vscode.l10n.t("Ready to answer."),
    iconPath: new vscode.ThemeIcon(why === undefined ? "check" : ICONS[why]),
    provider,
  };
}

async function chooseModel({ kind, models }: Provider): Promise<ModelSelection | undefined> {
  if (models.length === 0) return { provider: kind, model: null };
  const own = { label: vscode.l10n.t("The agent's own choice"), model: undefined };
  const picks = [own, ...models.map((model) => ({ label: model.label, description: windowOf(model.contextWindow), model }))];
  const chosen = await vscode.window.showQuickPick(picks, { placeHolder: vscode.l10n.t("Which model?") });
  if (chosen === undefined) return undefined;
  const { model } = chosen;
  const efforts = model?.efforts ?? [];
  if (model === undefined || efforts.length === 0) return { provider: kind, model: model?.id ?? null };
  const usual = vscode.l10n.t("The usual effort");
  const effort = await vscode.window.showQuickPick([usual, ...efforts], { placeHolder: vscode.l10n.t("How much effort?") });
  if (effort === undefined) return undefined;
  return { provider: kind, model: model.id, ...(effort === usual ? {} : { options: { effort } }) };
}

function windowOf(tokens: number | undefined): string {
  return tokens === undefined ? "" : vscode.l10n.t("{0} tokens", tokens);
}
