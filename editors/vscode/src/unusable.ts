/** Why an agent cannot be used. */
import type { Provider } from "./protocol";

export type Unusable = "notInstalled" | "notLoggedIn" | "broken";

export function unusable({ installed, authenticated, problem }: Provider): Unusable | undefined {
  if (!installed) return "notInstalled";
  if (authenticated === false) return "notLoggedIn";
  return problem === null ? undefined : "broken";
}
