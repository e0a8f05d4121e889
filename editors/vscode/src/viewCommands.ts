/** What the user can ask for in the thread view. */
import * as vscode from "vscode";
import { chooseAttachments } from "./attachments";
import { showRun } from "./checkpoints";
import { showError } from "./errors";
import type { FromView } from "./messages";
import { openOutput } from "./outputDocuments";
import { chooseAgent } from "./providerPicker";
import type { Session } from "./session";
import { showProposed } from "./proposed";
import { regenerate } from "./switching";

type Asked = Exclude<FromView, { type: "ready" }>;
type Act<T> = (session: Session, message: Extract<Asked, { type: T }>) => unknown;

const acts: { readonly [T in Asked["type"]]: Act<T> } = {
  arrived: (session) => session.arrive(),
  send: ({ next }, { text, delivery }) => next.send(text, delivery),
  draft: ({ next }, { text }) => next.draft.write(text),
  attach: async ({ next }) => next.attach(await chooseAttachments()),
  detach: ({ next }, { name }) => next.detach(name),
  page: (session, { anchor }) => session.readPage(anchor),
  output: (_, message) => openOutput(message),
  copy: async (_, { text }) => vscode.env.clipboard.writeText(text),
  thread: (session, { threadId }) => session.openById(threadId),
  interrupt: (session) => session.interrupt(),
  select: (session, { selection }) => session.select(selection),
  chooseProvider: chooseAgent,
  mode: (session, { runtimeMode }) => session.allow(runtimeMode),
  preview: ({ next }) => next.preview(),
  closePreview: ({ next }) => next.dismissPreview(),
  handoff: ({ next }, { handoffId }) => next.handoffs.open(handoffId),
  regenerate: regenerate,
  proposed: showProposed,
  respond: ({ daemon }, { type: _, ...answer }) => daemon.request("request/respond", answer),
  cancelRun: ({ daemon }, { runId }) => daemon.request("run/cancel", { runId }),
  editRun: async ({ daemon, next }, { runId, text }) => {
    try {
      await daemon.request("run/edit", { runId, text });
    } catch (error) {
      next.takeBack({ text, attachments: [] });
      throw error;
    }
  },
  moveRun: ({ daemon }, { runId, beforeRunId }) => daemon.request("run/reorder", { runId, beforeRunId }),
  resumeQueue: async (session) => session.daemon.request("queue/resume", { threadId: (await session.current()).id }),
  retry: ({ daemon }, { runId }) => daemon.request("run/retry", { runId }),
  diff: async (session, { runId }) => {
    const run = session.run(runId);
    return run && showRun(session.daemon, session.workspace, run);
  },
};

/** Do what the user asked for; what goes wrong is shown. */
export async function hear(session: Session, message: FromView): Promise<void> {
  if (message.type === "ready") return;
  try {
    await (acts[message.type] as Act<Asked["type"]>)(session, message);
  } catch (error) {
    showError(error);
  }
}
