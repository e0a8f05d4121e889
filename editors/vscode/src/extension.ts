/** Wires the parts of the extension together. */
import * as vscode from "vscode";
import { chooseAttachments, chooseFiles, fileOf, problemsOf, selectionOf } from "./attachments";
import { checkpointCommands, checkpointFileCommands, createCheckpoint } from "./checkpointCommands";
import { CHECKPOINT_SCHEME, CheckpointDocuments, type CheckpointFile } from "./checkpoints";
import { CheckpointsView } from "./checkpointsView";
import { doctor } from "./doctor";
import { showError } from "./errors";
import { HANDOFF_SCHEME } from "./handoffDocuments";
import { Launcher } from "./launcher";
import type { RunContext } from "./messages";
import { OUTPUT_SCHEME, OutputDocuments } from "./outputDocuments";
import { PROPOSED_SCHEME, ProposedDocuments } from "./proposed";
import type { Checkpoint } from "./protocol";
import { chooseAgent } from "./providerPicker";
import { runCommands, runOf } from "./runCommands";
import { searchThreads } from "./searching";
import { Session } from "./session";
import { watchSettings } from "./settings";
import { Status } from "./status";
import { cancelHandoff, regenerate, sendWithHandoff } from "./switching";
import { threadCommands } from "./threadCommands";
import { ThreadsView } from "./threadsView";
import { THREAD_PANEL, ThreadView } from "./threadView";
import { hear } from "./viewCommands";

/** What a key says instead of a row. */
const SELECTED = "selected";

export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel("Midstream", { log: true });
  const launcher = new Launcher(context, log);
  const session = new Session(context.workspaceState, log, context.storageUri, () => launcher.launch());
  const view = new ThreadView(context.extensionUri, () => session.whole(), (message) => hear(session, message));
  const threads = new ThreadsView(session);
  const checkpoints = new CheckpointsView(session);
  const status = new Status();
  context.subscriptions.push(log, launcher, session, view, threads, checkpoints, status);
  context.subscriptions.push(watchSettings((config) => session.running?.configure(config)));

  session.onChange((change) => {
    if (change === "reset") view.reset();
    else view.tell(change);
    if (change === "reset" || change.type === "run" || change.type === "thread") {
      status.show({ version: session.running?.version, problem: session.problem, thread: session.thread });
    }
    if (change !== "reset" && change.type === "request" && change.request.status === "pending" && !view.visible) void notify(change.request.prompt);
  });

  context.subscriptions.push(
    vscode.window.registerWebviewViewProvider("midstream.thread", view),
    vscode.window.registerWebviewPanelSerializer(THREAD_PANEL, view),
    vscode.workspace.registerFileSystemProvider(HANDOFF_SCHEME, session.next.handoffs, { isCaseSensitive: true }),
    vscode.workspace.registerTextDocumentContentProvider(CHECKPOINT_SCHEME, new CheckpointDocuments(() => session.whenRunning())),
    vscode.workspace.registerTextDocumentContentProvider(PROPOSED_SCHEME, new ProposedDocuments(session)),
    vscode.workspace.registerTextDocumentContentProvider(OUTPUT_SCHEME, new OutputDocuments(() => session.whenRunning())),
  );

  const register = <A extends unknown[]>(name: string, act: (...args: A) => Promise<unknown>) =>
    context.subscriptions.push(
      vscode.commands.registerCommand(`midstream.${name}`, (...args: A) => act(...args).catch(showError)),
    );
  const shownHandoff = (uri?: vscode.Uri) => {
    const shown = uri ?? vscode.window.activeTextEditor?.document.uri;
    if (shown?.scheme !== HANDOFF_SCHEME) throw new Error(vscode.l10n.t("Open a handoff first, with Midstream: Preview Handoff."));
    return shown;
  };
  register("newThread", () => session.create());
  register("openThread", (id: string) => threads.open(id));
  register("openInEditor", async () => view.openPanel());
  register("restart", () => session.start());
  register("interrupt", () => session.interrupt());
  register("install", async () => {
    await launcher.install();
    await session.start();
  });
  register("doctor", async () => {
    if (launcher.command === undefined) throw new Error(session.problem ?? vscode.l10n.t("Midstream is still starting."));
    await doctor(launcher.command, log);
  });
  register("showLog", async () => log.show());
  register("filterThreads", () => threads.askForFilter());
  register("searchThreads", () => searchThreads(session));
  register("clearThreadFilter", async () => threads.filter(""));
  register("showArchivedThreads", async () => threads.showArchived(true));
  register("hideArchivedThreads", async () => threads.showArchived(false));
  register("switch", () => chooseAgent(session));
  register("attach", async () => session.next.attach(await chooseAttachments()));
  register("attachSelection", async () => session.next.attach([selectionOf(vscode.window.activeTextEditor)]));
  register("attachProblems", async () => session.next.attach([problemsOf(vscode.window.activeTextEditor?.document.uri)]));
  register("attachFile", async (file?: vscode.Uri, files?: vscode.Uri[]) =>
    session.next.attach(file === undefined ? await chooseFiles() : (files ?? [file]).map(fileOf)),
  );
  register("previewHandoff", () => session.next.preview());
  register("sendHandoff", async (uri?: vscode.Uri) => sendWithHandoff(session, shownHandoff(uri)));
  register("cancelHandoff", async (uri?: vscode.Uri) => cancelHandoff(session, shownHandoff(uri)));
  register("regenerateHandoff", async (uri?: vscode.Uri) => regenerate(session, { handoffId: (await session.next.handoffs.of(shownHandoff(uri))).id }));
  register("createCheckpoint", async () => {
    await createCheckpoint(session);
    checkpoints.refresh();
  });
  for (const [name, act] of Object.entries(checkpointCommands)) register(name, async (checkpoint?: Checkpoint) => act(session, known(checkpoint)));
  for (const [name, act] of Object.entries(checkpointFileCommands)) register(name, async (file?: CheckpointFile) => act(session, known(file)));
  for (const [name, act] of Object.entries(runCommands))
    register(name, async (context: RunContext) => act(session, await runOf(session, context)));
  for (const [name, act] of Object.entries(threadCommands))
    register(name, async (...given: [(string | typeof SELECTED)?]) => {
      // From the palette it is about the open thread.
      const [row] = given;
      const thread = row === SELECTED ? threads.selected : given.length === 0 ? session.thread : known(threads.find(row ?? ""));
      if (thread === undefined) throw new Error(vscode.l10n.t("Open or select a thread first."));
      await act(session, thread);
      threads.refresh();
    });

  void session.start();
  context.subscriptions.push(vscode.workspace.onDidGrantWorkspaceTrust(() => void session.start()));
}

/** What a menu is about: the editor knows no row while it takes rows anew. */
function known<Of>(of: Of | undefined): Of {
  if (of === undefined) throw new Error(vscode.l10n.t("The row changed just now. Choose again."));
  return of;
}

async function notify(prompt: string): Promise<void> {
  const show = vscode.l10n.t("Show");
  if ((await vscode.window.showInformationMessage(prompt, show)) === show) await vscode.commands.executeCommand("midstream.thread.focus");
}
