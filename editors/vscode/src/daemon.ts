/** Where the daemon is looked for, and whether the one that answered can be spoken to. Pure: the file system is passed in. */
import { join } from "node:path";

export const PROTOCOL_VERSION = 1;

export interface Surroundings {
  readonly configured: readonly string[];
  readonly path: string;
  readonly home: string;
  readonly executable: (file: string) => boolean;
}

/** The command that starts the daemon, without its arguments for serving; undefined where none is found. */
export function findDaemon(surroundings: Surroundings, workspaces: readonly string[]): readonly string[] | undefined {
  if (surroundings.configured.length > 0) return surroundings.configured;
  // A graphical session's PATH often lacks the user's own folders.
  const folders = [...surroundings.path.split(":"), join(surroundings.home, ".local/bin"), "/usr/local/bin", "/opt/homebrew/bin"];
  const outside = (file: string) => !workspaces.some((workspace) => file.startsWith(workspace + "/"));
  const found = folders
    .filter((folder) => folder.startsWith("/"))
    .map((folder) => join(folder, "midstream"))
    .find((file) => outside(file) && surroundings.executable(file));
  return found === undefined ? undefined : [found];
}

export type Incompatibility = "stranger" | "older" | "newer";

/** What is wrong with the daemon that answered; undefined where nothing is. */
export function incompatibility(name: string | undefined, protocolVersion: unknown): Incompatibility | undefined {
  if (name !== "midstream" || typeof protocolVersion !== "number") return "stranger";
  if (protocolVersion === PROTOCOL_VERSION) return undefined;
  return protocolVersion < PROTOCOL_VERSION ? "older" : "newer";
}
