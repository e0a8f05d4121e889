// Writes src/protocol.ts from protocol/schema.json, and l10n/bundle.l10n.json from the texts in src;
// with --check, fails where one of them is old.
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { getL10nJson } from "@vscode/l10n-dev";
import { compile } from "json-schema-to-typescript";

const root = new URL("../", import.meta.url);
const schema = JSON.parse(readFileSync(new URL("../../../protocol/schema.json", import.meta.url), "utf8"));

// A union that shares fields is made a union of whole types: the library would forget the shared ones.
for (const type of Object.values(schema.$defs)) {
  const { oneOf, properties, required } = type;
  if (!oneOf || !properties) continue;
  type.oneOf = oneOf.map((branch) => ({ type: "object", properties: { ...properties, ...branch.properties }, required }));
  delete type.properties;
  delete type.required;
  delete type.type;
}

const records = await compile({ title: "Unused", $defs: schema.$defs }, "Unused", {
  additionalProperties: false,
  bannerComment: "// Generated from protocol/schema.json by `npm run generate`.",
  style: { printWidth: 120 },
  unreachableDefinitions: true,
});

const nameOf = (type) => type?.$ref?.split("/").pop() ?? (type?.type === "null" ? "null" : "undefined");
const entries = (table, line) => Object.entries(table).map(line).join("\n");
const methods = entries(
  schema["x-methods"],
  ([name, method]) => `  "${name}": { params: ${nameOf(method.params)}; result: ${nameOf(method.result)} };`,
);
const changing = Object.keys(schema["x-methods"]).filter((name) => schema["x-methods"][name].changes);
const notifications = entries(schema["x-notifications"], ([name, type]) => `  "${name}": ${nameOf(type)};`);
// The library says of each type where it stands in the schema, and makes an empty type of the whole.
const withoutNotes = records
  .replace(/\n?( \*\n)? \* This interface was referenced by `Unused`'s JSON-Schema\n \* via the `definition` "\w+"\./g, "")
  .replace(/\/\*\*\n \*\/\n/g, "")
  .replace(/export interface Unused \{[^}]*\}\n/, "");
const protocol = `${withoutNotes}
/** The requests: what each takes and answers. */
export interface Methods {
${methods}
}

/** The requests that change something, and so take a commandId. */
export const CHANGING: ReadonlySet<keyof Methods> = new Set<keyof Methods>([
${changing.map((name) => `  "${name}",`).join("\n")}
]);

/** The notifications of the daemon. */
export interface Notifications {
${notifications}
}
`;

const sources = globSync("src/**/*.ts", { cwd: root }).filter((name) => name !== "src/protocol.ts");
const scripts = sources.map((name) => ({ extension: ".ts", contents: readFileSync(new URL(name, root), "utf8") }));
const texts = Object.entries(await getL10nJson(scripts)).sort(([a], [b]) => (a < b ? -1 : 1));
const bundle = `${JSON.stringify(Object.fromEntries(texts), null, 2)}\n`;

for (const [name, text] of Object.entries({ "src/protocol.ts": protocol, "l10n/bundle.l10n.json": bundle })) {
  const file = new URL(name, root);
  if (!process.argv.includes("--check")) writeFileSync(file, text);
  else if (!existsSync(file) || readFileSync(file, "utf8") !== text)
    throw new Error(`${name} is out of date: run \`npm run generate\`.`);
}
