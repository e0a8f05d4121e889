/** Running a program to its end. */
import { spawn } from "node:child_process";

export interface Ended {
  readonly status: number | null;
  readonly output: string;
}

/** Run a program in a folder; each piece of what it writes is told, and a signal ends it with its children. */
export function run(
  [program, ...args]: readonly [string, ...string[]],
  folder: string,
  tell: (text: string) => void,
  signal: AbortSignal,
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const child = spawn(program, args, { cwd: folder, detached: true, stdio: ["ignore", "pipe", "pipe"] });
    const end = () => child.pid !== undefined && process.kill(-child.pid, "SIGKILL");
    signal.addEventListener("abort", end, { once: true });
    let output = "";
    const hear = (text: string) => {
      output += text;
      tell(text);
    };
    child.stdout.setEncoding("utf8").on("data", hear);
    child.stderr.setEncoding("utf8").on("data", hear);
    child.once("error", reject);
    child.once("close", (status) => {
      signal.removeEventListener("abort", end);
      if (signal.aborted) reject(signal.reason as Error);
      else resolve({ status, output });
    });
  });
}
