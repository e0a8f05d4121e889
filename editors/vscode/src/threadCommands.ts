/** What can be done with a thread as a whole. */
import * as vscode from "vscode";
import type { Thread } from "./protocol";
import type { Session } from "./session";

export type Command = (session: Session, thread: Thread) => Promise<void>;

export const threadCommands: Readonly<Record<string, Command>> = {
  async renameThread({ daemon }, { id, title }) {
    const wish = await vscode.window.showInputBox({ value: title, prompt: vscode.l10n.t("The thread's title") });
    if (wish) await daemon.request("thread/update", { threadId: id, title: wish });
  },

  async forkThread(session, { id }) {
    const { thread } = await session.daemon.request("thread/fork", { threadId: id, from: { type: "latestStable" } });
    await session.open(thread);
  },

  async mergeBack({ daemon }, { id }) {
    await daemon.request("thread/mergeBack", { threadId: id });
    void vscode.window.showInformationMessage(vscode.l10n.t("The next message in the source thread carries what this fork did."));
  },

  async rollBack({ daemon }, { id }) {
    const { runs } = await daemon.request("thread/read", { threadId: id });
    const picks = runs
      .filter((run) => run.threadId === id && run.ordinal !== null && run.status !== "rolled_back")
      .map((run) => ({ label: vscode.l10n.t("Keep up to run {0}", run.ordinal!), description: run.message.text, ordinal: run.ordinal! }));
    const chosen = await vscode.window.showQuickPick(picks, { placeHolder: vscode.l10n.t("Take back the runs after…") });
    if (chosen !== undefined) await daemon.request("thread/rollback", { threadId: id, toRunOrdinal: chosen.ordinal });
  },

  async exportThread({ daemon }, { id }) {
    const { content } = await daemon.request("thread/export", { threadId: id, format: "markdown" });
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ content, language: "markdown" }));
  },

  async archiveThread({ daemon }, { id }) {
    await daemon.request("thread/archive", { threadId: id });
  },

  async deleteThread({ daemon }, { id, title }) {
    const act = vscode.l10n.t("Delete");
    const asked = vscode.l10n.t("Delete “{0}” with its checkpoints?", title);
    if ((await vscode.window.showWarningMessage(asked, { modal: true }, act)) === act) await daemon.request("thread/delete", { threadId: id });
  },
};
