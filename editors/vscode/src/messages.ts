/** What the extension and the thread view tell each other. */
import type { Page, PageAnchor } from "./heldItems";
import type { Preview } from "./preview";
import type { Answer, Item, ModelSelection, Provider, Run, RuntimeRequest, Thread } from "./protocol";

type Decision = RuntimeRequest["options"][number]["decision"];

export interface Shown {
  readonly thread: Thread | null;
  readonly runs: readonly Run[];
  readonly items: readonly Item[];
  readonly requests: readonly RuntimeRequest[];
  readonly providers: readonly Provider[];
  /** The items before which some are not held. */
  readonly gaps: readonly string[];
  readonly draft: string;
  /** The names of what goes with the next message. */
  readonly attachments: readonly string[];
  readonly problem: string | null;
  readonly preview: Preview | null;
  /** The item to show first; null for the newest ones. */
  readonly place: string | null;
}

export type Change =
  | { readonly type: "reset"; readonly shown: Shown }
  | { readonly type: "thread"; readonly thread: Thread }
  | { readonly type: "run"; readonly run: Run }
  | { readonly type: "item"; readonly item: Item }
  | { readonly type: "request"; readonly request: RuntimeRequest }
  | { readonly type: "page"; readonly page: Page; readonly anchor: PageAnchor }
  | { readonly type: "attachments"; readonly attachments: readonly string[] }
  /** Words that could not be sent come back. */
  | { readonly type: "unsent"; readonly text: string }
  | { readonly type: "preview"; readonly preview: Preview | null }
  | { readonly type: "place"; readonly itemId: string }
  | { readonly type: "append"; readonly itemId: string; readonly field: string; readonly text: string };

/** Batches are numbered from 1 after each `ready`; a view that finds a gap asks anew with `ready`. */
export interface Batch {
  readonly number: number;
  readonly changes: readonly Change[];
}

export type Delivery = "auto" | "queue" | "steer";

/** The run on whose row a menu was opened. */
export interface RunContext {
  readonly webviewSection: "run";
  readonly runStatus: Run["status"];
  readonly threadId: string;
  readonly runId: string;
}

export type FromView =
  | { readonly type: "ready" }
  /** The item that was to be shown is in sight. */
  | { readonly type: "arrived" }
  | { readonly type: "send"; readonly text: string; readonly delivery: Delivery }
  | { readonly type: "draft"; readonly text: string }
  | { readonly type: "page"; readonly anchor: PageAnchor }
  | { readonly type: "output"; readonly itemId: string; readonly field: string; readonly path?: string }
  | { readonly type: "copy"; readonly text: string }
  | { readonly type: "thread"; readonly threadId: string }
  | { readonly type: "interrupt" }
  | { readonly type: "attach" }
  | { readonly type: "detach"; readonly name: string }
  | { readonly type: "select"; readonly selection: ModelSelection }
  | { readonly type: "chooseProvider" }
  | { readonly type: "mode"; readonly runtimeMode: Thread["runtimeMode"] }
  | { readonly type: "preview" }
  | { readonly type: "closePreview" }
  | { readonly type: "regenerate"; readonly handoffId: string }
  | { readonly type: "proposed"; readonly requestId: string; readonly path: string }
  | { readonly type: "handoff"; readonly handoffId: string }
  | { readonly type: "respond"; readonly requestId: string; readonly optionId?: string; readonly decision?: Decision; readonly answers?: Answer[]; readonly message?: string }
  | { readonly type: "cancelRun"; readonly runId: string }
  | { readonly type: "editRun"; readonly runId: string; readonly text: string }
  | { readonly type: "moveRun"; readonly runId: string; readonly beforeRunId: string | null }
  | { readonly type: "resumeQueue" }
  | { readonly type: "retry"; readonly runId: string }
  | { readonly type: "diff"; readonly runId: string };
