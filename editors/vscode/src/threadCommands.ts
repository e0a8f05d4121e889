/** What can be done with a thread as a whole. */
import * as vscode from "vscode";
import { exportThread } from "./exporting";
import type { Thread } from "./protocol";
import { rollBack } from "./rollingBack";
import { pickRun, standing } from "./runPick";
import type { Session } from "./session";
import { titleOf } from "./threadTree";
import { cancelTransfer, mergeBack } from "./transfers";

export type Command = (session: Session, thread: Thread) => Promise<unknown>;

export const threadCommands: Readonly<Record<string, Command>> = {
  async renameThread({ daemon }, { id, title }) {
    const wish = await vscode.window.showInputBox({ value: title, prompt: vscode.l10n.t("The thread's title") });
    if (wish) await daemon.request("thread/update", { threadId: id, title: wish });
  },

  forkThread: (session, thread) => session.fork(thread.id, { type: "latestStable" }, thread),

  async forkFromRun(session, thread) {
    const { runs } = await session.daemon.request("thread/read", { threadId: thread.id });
    const run = await pickRun(
      standing(runs, thread.id).filter(({ completedAt }) => completedAt !== null),
      vscode.l10n.t("Fork after this run"),
    );
    if (run !== undefined) await session.fork(thread.id, { type: "run", runId: run.id }, thread);
  },

  mergeBack: ({ daemon }, thread) => mergeBack(daemon, thread),
  cancelTransfer: ({ daemon }, thread) => cancelTransfer(daemon, thread),
  resumeQueue: ({ daemon }, { id }) => daemon.request("queue/resume", { threadId: id }),
  rollBack: ({ daemon, workspace }, { id }) => rollBack(daemon, workspace, id),
  exportThread: ({ daemon, workspace }, thread) => exportThread(daemon, workspace, thread),
  /** The next message begins a new conversation with the agent, which is handed what came before. */
  startAfresh: ({ daemon }, { id, selection }) =>
    daemon.request("provider/switch", { threadId: id, selection, context: "clean" }),
  archiveThread: ({ daemon }, { id }) => daemon.request("thread/archive", { threadId: id }),
  unarchiveThread: ({ daemon }, { id }) => daemon.request("thread/unarchive", { threadId: id }),

  async deleteThread({ daemon }, thread) {
    const act = vscode.l10n.t("Delete");
    const asked = vscode.l10n.t("Delete “{0}” with its checkpoints?", titleOf(thread));
    const detail = vscode.l10n.t("This cannot be undone. The files in the workspace stay as they are.");
    const chosen = await vscode.window.showWarningMessage(asked, { modal: true, detail }, act);
    if (chosen === act) await daemon.request("thread/delete", { threadId: thread.id });
  },
};
