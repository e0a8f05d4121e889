// Builds the wheel of Midstream, and puts it with its requirements where the extension carries them.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const extension = fileURLToPath(new URL("../", import.meta.url));
const repository = fileURLToPath(new URL("../../../", import.meta.url));
const carried = `${extension}dist/python`;
const own = `${repository}.venv/bin/python`;
const python = existsSync(own) ? own : "python3";

rmSync(carried, { recursive: true, force: true });
mkdirSync(carried, { recursive: true });
const wheel = ["-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps", "-w", carried, repository];
execFileSync(python, wheel, { stdio: ["ignore", "inherit", "inherit"] });
const [name] = readdirSync(carried);
const hash = createHash("sha256")
  .update(readFileSync(`${carried}/${name}`))
  .digest("hex");
const packages = readFileSync(`${extension}requirements.txt`, "utf8");
writeFileSync(`${carried}/requirements.txt`, `${packages}./${name} \\\n    --hash=sha256:${hash}\n`);
