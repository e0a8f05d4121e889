// Bundles each unit test and runs it with Node's own runner.
import { spawnSync } from "node:child_process";
import { globSync } from "node:fs";
import { build } from "esbuild";

await build({ entryPoints: globSync("test/*.test.ts"), outdir: "dist/test", bundle: true, alias: { vscode: "./test/fakes/vscode.ts" }, platform: "node", format: "esm", outExtension: { ".js": ".mjs" }, logLevel: "warning", banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" } });
const { status } = spawnSync(process.execPath, ["--test", ...globSync("dist/test/*.mjs")], { stdio: "inherit" });
process.exit(status ?? 1);
