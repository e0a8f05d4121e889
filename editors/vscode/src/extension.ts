/** Wires the parts of the extension together. */
import * as vscode from "vscode";
import { chooseAttachments, chooseFiles, fileOf, problemsOf, selectionOf } from "./attachments";
import { CHECKPOINT_SCHEME, CheckpointDocuments, type CheckpointFile, CheckpointTree, showChanges } from "./checkpoints";
import { showError } from "./errors";
import { HANDOFF_SCHEME } from "./handoffDocuments";
import { OUTPUT_SCHEME, OutputDocuments } from "./outputDocuments";
import type { Checkpoint, Thread } from "./protocol";
import { chooseAgent } from "./providerPicker";
import { restore } from "./restore";
import { Session } from "./session";
import { PROPOSED_SCHEME, ProposedDocuments } from "./proposed";
import { cancelHandoff, regenerate, sendWithHandoff } from "./switching";
import { threadCommands } from "./threadCommands";
import { ThreadsView } from "./threadsView";
import { THREAD_PANEL, ThreadView } from "./threadView";
import { hear } from "./viewCommands";

export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel("Midstream", { log: true });
  const session = new Session(context.workspaceState, log, context.storageUri);
  const view = new ThreadView(context.extensionUri, () => session.whole(), (message) => hear(session, message));
  const threads = new ThreadsView(session);
  const checkpoints = new CheckpointTree(() => session.running, () => session.thread?.id);
  const status = vscode.window.createStatusBarItem("midstream", vscode.StatusBarAlignment.Right);
  status.command = "midstream.switch";
  context.subscriptions.push(log, session, view, threads, checkpoints, status);

  session.onChange((change) => {
    if (change === "reset") view.reset();
    else view.tell(change);
    if (change === "reset" || change.type === "run" || change.type === "thread") {
      checkpoints.refresh();
      const thread = session.thread;
      status.text = `$(comment-discussion) ${thread?.selection.provider ?? "Midstream"}${thread?.status === "waiting" ? " $(bell-dot)" : ""}`;
      status.tooltip = session.running ? vscode.l10n.t("Midstream {0}: choose who answers next", session.running.version) : vscode.l10n.t("Midstream is not running");
      status.show();
      void vscode.commands.executeCommand("setContext", "midstream.running", session.running !== undefined);
    }
    if (change !== "reset" && change.type === "request" && change.request.status === "pending" && !view.visible) void notify(change.request.prompt);
  });

  context.subscriptions.push(
    vscode.window.registerWebviewViewProvider("midstream.thread", view),
    vscode.window.registerWebviewPanelSerializer(THREAD_PANEL, view),
    vscode.window.registerTreeDataProvider("midstream.checkpoints", checkpoints),
    vscode.workspace.registerFileSystemProvider(HANDOFF_SCHEME, session.handoffs, { isCaseSensitive: true }),
    vscode.workspace.registerTextDocumentContentProvider(CHECKPOINT_SCHEME, new CheckpointDocuments(() => session.daemon)),
    vscode.workspace.registerTextDocumentContentProvider(PROPOSED_SCHEME, new ProposedDocuments(session)),
    vscode.workspace.registerTextDocumentContentProvider(OUTPUT_SCHEME, new OutputDocuments(() => session.daemon)),
  );

  const register = <A extends unknown[]>(name: string, act: (...args: A) => Promise<unknown>) =>
    context.subscriptions.push(
      vscode.commands.registerCommand(`midstream.${name}`, (...args: A) =>
        act(...args).catch(showError),
      ),
    );
  const shownHandoff = (uri?: vscode.Uri) => {
    const shown = uri ?? vscode.window.activeTextEditor?.document.uri;
    if (shown?.scheme !== HANDOFF_SCHEME) throw new Error(vscode.l10n.t("Open a handoff first, with Midstream: Preview Handoff."));
    return shown;
  };
  register("newThread", () => session.create());
  register("openThread", (thread: Thread) => session.open(thread));
  register("openInEditor", async () => view.openPanel());
  register("restart", () => session.start());
  register("interrupt", () => session.interrupt());
  register("showLog", async () => log.show());
  register("filterThreads", () => threads.askForFilter());
  register("clearThreadFilter", async () => threads.filter(""));
  register("showArchivedThreads", async () => threads.showArchived(true));
  register("hideArchivedThreads", async () => threads.showArchived(false));
  register("switch", () => chooseAgent(session));
  register("attach", async () => session.attach(await chooseAttachments()));
  register("attachSelection", async () => session.attach([selectionOf(vscode.window.activeTextEditor)]));
  register("attachProblems", async () => session.attach([problemsOf(vscode.window.activeTextEditor?.document.uri)]));
  register("attachFile", async (file?: vscode.Uri, files?: vscode.Uri[]) =>
    session.attach(file === undefined ? await chooseFiles() : (files ?? [file]).map(fileOf)),
  );
  register("previewHandoff", () => session.preview());
  register("sendHandoff", async (uri?: vscode.Uri) => sendWithHandoff(session, shownHandoff(uri)));
  register("cancelHandoff", async (uri?: vscode.Uri) => cancelHandoff(session, shownHandoff(uri)));
  register("regenerateHandoff", async (uri?: vscode.Uri) => regenerate(session, { handoffId: (await session.handoffs.of(shownHandoff(uri))).id }));
  register("createCheckpoint", async () => {
    await session.daemon.request("checkpoint/create", { threadId: (await session.current()).id });
    checkpoints.refresh();
  });
  register("showCheckpoint", ({ id, threadId, runOrdinal }: Checkpoint) =>
    showChanges(session.daemon, threadId, session.workspace, id, "workspace", vscode.l10n.t("Since checkpoint {0}", runOrdinal ?? "")),
  );
  register("restoreCheckpoint", ({ id }: Checkpoint) => restore(session.daemon, session.workspace, id));
  register("restoreFile", ({ checkpoint, file }: CheckpointFile) => restore(session.daemon, session.workspace, checkpoint.id, [file.path]));
  for (const [name, act] of Object.entries(threadCommands))
    register(name, async (given?: Thread | "selected") => {
      const thread = given === "selected" ? threads.selected : (given ?? session.thread);
      if (thread === undefined) throw new Error(vscode.l10n.t("Open a thread first."));
      await act(session, thread);
      threads.refresh();
    });

  if (vscode.workspace.isTrusted) void session.start();
  context.subscriptions.push(vscode.workspace.onDidGrantWorkspaceTrust(() => void session.start()));
}

async function notify(prompt: string): Promise<void> {
  const show = vscode.l10n.t("Show");
  if ((await vscode.window.showInformationMessage(prompt, show)) === show) await vscode.commands.executeCommand("midstream.thread.focus");
}
