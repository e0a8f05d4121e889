/** Why an agent cannot be used, and what to do about it. */
import type { Provider } from "./protocol";

export type Unusable = "notInstalled" | "notLoggedIn" | "broken";

export function unusable({ installed, authenticated, problem }: Provider): Unusable | undefined {
  if (!installed) return "notInstalled";
  if (authenticated === false) return "notLoggedIn";
  return problem === null ? undefined : "broken";
}

/** What is wrong with an agent and what to do, in the daemon's words; empty where nothing is. */
export function wrongWith({ problem }: Provider): string {
  return [problem?.message, problem?.action].filter(Boolean).join(" ");
}
