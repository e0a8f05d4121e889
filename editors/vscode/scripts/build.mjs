// Bundles the extension for the editor's Node, and the thread view for its browser.
import { build } from "esbuild";

const shared = { bundle: true, minify: true, logLevel: "warning" };
await build({
  ...shared,
  entryPoints: ["src/extension.ts"],
  outfile: "dist/extension.js",
  platform: "node",
  target: "node20",
  format: "cjs",
  external: ["vscode"],
});
await build({
  ...shared,
  entryPoints: ["src/view/main.ts"],
  outfile: "dist/view.js",
  platform: "browser",
  target: "es2022",
  format: "iife",
});
