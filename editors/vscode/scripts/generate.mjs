// Writes src/protocol.ts from protocol/schema.json; with --check, fails where it is not what the schema says.
import { readFileSync, writeFileSync } from "node:fs";
import { compile } from "json-schema-to-typescript";

const target = new URL("../src/protocol.ts", import.meta.url);
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
const text = `${withoutNotes}
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
if (!process.argv.includes("--check")) writeFileSync(target, text);
else if (readFileSync(target, "utf8") !== text) throw new Error("src/protocol.ts is out of date: run `npm run generate`.");
