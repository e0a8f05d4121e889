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

/** What is wrong with the daemon that answered, in words for the user; undefined where nothing is. */
export function incompatibility(server: { name: string; version?: string } | undefined, protocolVersion: unknown): string | undefined {
  if (server?.name !== "midstream") return `This is not Midstream: it calls itself ${server?.name ?? "nothing"}. Check the setting midstream.command.`;
  if (protocolVersion !== PROTOCOL_VERSION)
    return `Midstream ${server.version ?? ""} speaks version ${String(protocolVersion)} of the protocol, and this extension version ${PROTOCOL_VERSION}. Update the older of them.`;
  return undefined;
}
