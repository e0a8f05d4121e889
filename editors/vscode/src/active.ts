/** Whether an agent is at work on a run, or on one of a thread, or waits for the user in it. */
import type { Run, Thread } from "./protocol";

const ACTIVE: readonly (Run["status"] | Thread["status"])[] = ["starting", "running", "waiting"];

export function isActive({ status }: Pick<Run, "status"> | Pick<Thread, "status">): boolean {
  return ACTIVE.includes(status);
}
