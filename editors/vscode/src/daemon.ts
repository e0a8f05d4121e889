/** Where the daemon is looked for, and whether the one that answered can be spoken to. Pure: the file system is passed in. */
import { join } from "node:path";

export const PROTOCOL_VERSION = 1;

/** A program with the arguments that go before its own. */
export type Command = readonly [program: string, ...args: string[]];

export interface Surroundings {
  readonly path: string;
  readonly home: string;
  readonly workspaces: readonly string[];
  readonly executable: (file: string) => boolean;
}

/** Every program of one of these names that the user has, the first name first; never one from inside a workspace. */
export function findPrograms(names: readonly string[], surroundings: Surroundings): string[] {
  const { path, home, workspaces, executable } = surroundings;
  // A graphical session's PATH often lacks the user's own folders.
  const folders = [...path.split(":"), join(home, ".local/bin"), "/usr/local/bin", "/opt/homebrew/bin"];
  const absolute = folders.filter((folder) => folder.startsWith("/"));
  const files = names.flatMap((name) => absolute.map((folder) => join(folder, name)));
  const outside = (file: string) => !workspaces.some((workspace) => file.startsWith(`${workspace}/`));
  return [...new Set(files)].filter((file) => outside(file) && executable(file));
}

export type Incompatibility = "stranger" | "older" | "newer";

/** What is wrong with the daemon that answered; undefined where nothing is. */
export function incompatibility(name: string | undefined, protocolVersion: unknown): Incompatibility | undefined {
  if (name !== "midstream" || typeof protocolVersion !== "number") return "stranger";
  if (protocolVersion === PROTOCOL_VERSION) return undefined;
  return protocolVersion < PROTOCOL_VERSION ? "older" : "newer";
}
