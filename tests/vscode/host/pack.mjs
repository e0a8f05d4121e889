// Packs the tests that run inside the editor's extension host, as an extension of their own.
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const require = createRequire(new URL("../../../editors/vscode/package.json", import.meta.url));
const { build } = require("esbuild");
const { createVSIX } = require("@vscode/vsce");

/** Write the .vsix into a folder and answer where it stands. */
export async function packHostTests(folder) {
  const packagePath = join(folder, "host-tests.vsix");
  const bundle = { bundle: true, platform: "node", format: "cjs", external: ["vscode"], logLevel: "warning" };
  await build({ ...bundle, entryPoints: [join(here, "tests.ts")], outfile: join(here, "dist/tests.js") });
  await createVSIX({ cwd: here, packagePath, dependencies: false, allowMissingRepository: true, skipLicense: true });
  return packagePath;
}
