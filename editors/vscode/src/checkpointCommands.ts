/** What can be done with a checkpoint and with a file of one. */
import * as vscode from "vscode";
import { type CheckpointFile, nameOf, showChanges, showFile } from "./checkpoints";
import type { Checkpoint } from "./protocol";
import { restore, undoing } from "./restore";
import type { Session } from "./session";

type Commands<Of> = Readonly<Record<string, (session: Session, of: Of) => Promise<void>>>;

export const checkpointCommands: Commands<Checkpoint> = {
  showCheckpoint({ daemon, workspace }, checkpoint) {
    const title = vscode.l10n.t("Since “{0}”", nameOf(checkpoint));
    return showChanges(daemon, workspace, { threadId: checkpoint.threadId, from: checkpoint.id }, title);
  },

  restoreCheckpoint: ({ daemon, workspace }, checkpoint) =>
    restore(daemon, workspace, checkpoint.id, vscode.l10n.t("Restore the files of “{0}”?", nameOf(checkpoint))),
  undoRestore: ({ daemon, workspace }, { id }) => restore(daemon, workspace, id, undoing()),

  forkFromCheckpoint: (session, { id, threadId }) => session.fork(threadId, { type: "checkpoint", checkpointId: id }, session.thread),
};

export const checkpointFileCommands: Commands<CheckpointFile> = {
  showCheckpointFile: ({ workspace }, node) => showFile(workspace, node),
  restoreFile: ({ daemon, workspace }, { checkpoint, file }) =>
    restore(daemon, workspace, checkpoint.id, vscode.l10n.t("Restore {0} of “{1}”?", file.path, nameOf(checkpoint)), [file.path]),
};

/** Take a checkpoint of the open thread's files now. */
export async function createCheckpoint(session: Session): Promise<void> {
  const thread = await session.current();
  const label = await vscode.window.showInputBox({
    prompt: vscode.l10n.t("What the checkpoint is called; it may stay empty"),
  });
  if (label !== undefined)
    await session.daemon.request("checkpoint/create", { threadId: thread.id, ...(label === "" ? {} : { label }) });
}
