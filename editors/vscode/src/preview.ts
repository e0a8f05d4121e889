/** What the next agent would be told, as the user looks at it before they send. */
import type { ContextHandoff, HandoffPreviewResult, SwitchPlan } from "./protocol";

export interface Preview {
  readonly plan: SwitchPlan;
  /** Who would be told. */
  readonly provider: string;
  /** In the order in which they would be sent. */
  readonly handoffs: readonly ShownHandoff[];
}

export interface ShownHandoff extends Pick<ContextHandoff, "id" | "strategy" | "runOrdinals" | "tokens" | "redactions" | "fallbackReason"> {
  readonly ofFork: boolean;
}

export function previewOf({ plan, handoffs }: HandoffPreviewResult, provider: string): Preview {
  return { plan, provider, handoffs: handoffs.map(shown) };
}

/** The preview with one handoff in the place of another; the same one where it does not hold that. */
export function replaced(preview: Preview, oldId: string, handoff: ContextHandoff): Preview {
  if (!holds(preview, oldId)) return preview;
  return { ...preview, handoffs: preview.handoffs.map((held) => (held.id === oldId ? shown(handoff) : held)) };
}

export function holds(preview: Preview | null, handoffId: string): boolean {
  return preview?.handoffs.some(({ id }) => id === handoffId) ?? false;
}

function shown(handoff: ContextHandoff): ShownHandoff {
  const { id, strategy, runOrdinals, tokens, redactions, fallbackReason } = handoff;
  return { id, strategy, runOrdinals, tokens, redactions, fallbackReason, ofFork: tellsOfFork(handoff) };
}

/** The handoff of a preview that the user edited. */
export function editedIn(preview: Preview | null): ShownHandoff | undefined {
  return preview?.handoffs.find(({ strategy }) => strategy === "manual_context");
}

/** Whether it tells what a fork did: that is fixed since it was merged back, and its runs are the fork's. */
export function tellsOfFork({ threadId, coveredThreadId }: Pick<ContextHandoff, "threadId" | "coveredThreadId">): boolean {
  return coveredThreadId !== null && coveredThreadId !== threadId;
}

/** Ordinals as a reader counts them: `1–3, 5`. */
export function ranges(ordinals: readonly number[]): string {
  const parts: [from: number, to: number][] = [];
  for (const ordinal of [...ordinals].sort((a, b) => a - b)) {
    const last = parts.at(-1);
    if (last !== undefined && ordinal <= last[1] + 1) last[1] = ordinal;
    else parts.push([ordinal, ordinal]);
  }
  return parts.map(([from, to]) => (from === to ? `${from}` : `${from}–${to}`)).join(", ");
}
