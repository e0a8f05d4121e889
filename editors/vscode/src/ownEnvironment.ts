/** The extension's own virtual environment, made from the wheel that it carries and from packages known by their hashes. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { Command } from "./daemon";
import {
  best,
  type Fault,
  faultOf,
  keyOf,
  type Made,
  makerOf,
  PIP_INSTALL,
  prefixOf,
  recentEnough,
} from "./environment";
import { run } from "./processes";

const MARK = "complete";

export class InstallationFault extends Error {
  constructor(readonly fault: Fault) {
    super(fault);
  }
}

export class OwnEnvironment {
  /** `carried` holds the wheel and its requirements; environments stand in `storage`, and `tell` is told what is done. */
  constructor(
    private readonly carried: string,
    private readonly storage: string,
    private readonly tell: (text: string) => void,
  ) {}

  /** The command of the finished environment, and whether it is made from what the extension carries now. */
  get found(): { readonly command: Command; readonly current: boolean } | undefined {
    const key = this.key;
    const chosen = best(this.made(), key);
    return chosen && { command: [join(chosen.folder, "bin", "midstream")], current: chosen.mark === key };
  }

  /** The first of these programs that is a Python recent enough. */
  async choosePython(candidates: readonly string[], signal: AbortSignal): Promise<string | undefined> {
    for (const python of candidates) {
      const ask = [python, "-I", "-c", "import platform; print(platform.python_version())"] as const;
      const answer = await run(ask, this.carried, () => undefined, signal).catch(() => undefined);
      if (answer?.status === 0 && recentEnough(answer.output)) return python;
    }
    return undefined;
  }

  /** Make the environment in a folder of its own, and then remove older ones; what is not finished does not stay. */
  async make(python: string, signal: AbortSignal): Promise<void> {
    mkdirSync(this.storage, { recursive: true });
    const folder = mkdtempSync(join(this.storage, prefixOf(process.pid)));
    try {
      await this.step("venv", [python, "-I", "-m", "venv", folder], signal);
      await this.step("pip", [join(folder, "bin", "python"), ...PIP_INSTALL], signal);
      writeFileSync(join(folder, MARK), this.key);
    } catch (error) {
      discard(folder);
      throw error;
    }
    for (const other of this.made()) if (other.folder !== folder && !beingMade(other)) discard(other.folder);
  }

  private async step(step: "venv" | "pip", command: Command, signal: AbortSignal): Promise<void> {
    this.tell(`${command.join(" ")}\n`);
    const { status, output } = await run(command, this.carried, this.tell, signal);
    if (status !== 0) throw new InstallationFault(faultOf(step, output));
  }

  private made(): Made[] {
    const names = existsSync(this.storage) ? readdirSync(this.storage) : [];
    const folders = names.filter((name) => makerOf(name) !== undefined).map((name) => join(this.storage, name));
    return folders.map((folder) => ({ folder, mark: textOf(join(folder, MARK)) }));
  }

  private get key(): string {
    return keyOf(readFileSync(join(this.carried, "requirements.txt"), "utf8"));
  }
}

/** Whether another window is at work on an environment. */
function beingMade({ folder, mark }: Made): boolean {
  if (mark !== undefined) return false;
  try {
    return process.kill(makerOf(basename(folder)) ?? 0, 0);
  } catch {
    return false;
  }
}

function discard(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

function textOf(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}
