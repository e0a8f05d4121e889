/** Of what the extension's own Python environment is made, and whether one that was made before still serves. Pure. */
import { createHash } from "node:crypto";

/** The user's own choice goes first, then what Midstream is tested with, newest first. */
export const PYTHONS = ["python3", "python3.14", "python3.13", "python3.12", "python3.11"];
const OLDEST = [3, 11] as const;

/** What names the environment that is made from these requirements, which hold the wheel's own hash. */
export function keyOf(requirements: string): string {
  return createHash("sha256").update(requirements).digest("hex");
}

/** An environment as it is found: without a mark, which is written last, it was never finished. */
export interface Made {
  readonly folder: string;
  readonly mark: string | undefined;
}

/** The finished environment to use, the one that is made from these requirements before an older one. */
export function best(made: readonly Made[], key: string): Made | undefined {
  const finished = made.filter(({ mark }) => mark !== undefined);
  return finished.find(({ mark }) => mark === key) ?? finished[0];
}

const PREFIX = "environment-";

/** How the name of a folder begins that this process makes. */
export function prefixOf(processId: number): string {
  return `${PREFIX}${processId}-`;
}

/** The process that makes or made the environment in a folder; undefined where it is no environment. */
export function makerOf(name: string): number | undefined {
  const [, processId] = new RegExp(`^${PREFIX}(\\d+)-`).exec(name) ?? [];
  return processId === undefined ? undefined : Number(processId);
}

/** Whether a Python that calls itself so is one that Midstream runs on. */
export function recentEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major === OLDEST[0] && minor >= OLDEST[1];
}

/**
 * What pip is told: each file by its hash and none that the requirements do not name. The wheel of Midstream itself
 * stands there by its path, so that no index is asked for it; and nothing is built, so that nothing of it runs.
 */
export const PIP_INSTALL = [
  ...["-I", "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--progress-bar", "off"],
  ...["--require-hashes", "--no-deps", "--only-binary", ":all:", "-r", "requirements.txt"],
];

export type Fault = "environment" | "foreign" | "packages";

/** What a failed step means: the environment itself, files other than those that are known, or anything else of pip's. */
export function faultOf(step: "venv" | "pip", output: string): Fault {
  if (step === "venv") return "environment";
  return /DO NOT MATCH THE HASHES/.test(output) ? "foreign" : "packages";
}
