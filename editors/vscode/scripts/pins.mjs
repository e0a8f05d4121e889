// Fails where requirements.txt has other versions than those that Midstream is tested with, or lacks one that it needs.
import { readFileSync } from "node:fs";

const read = (path) => readFileSync(new URL(path, import.meta.url), "utf8");
const pinsOf = (text) =>
  new Map([...text.matchAll(/^([\w.-]+)==([^\s;]+)/gm)].map(([, name, version]) => [normal(name), version]));
const normal = (name) => name.toLowerCase().replace(/[-_.]+/g, "-");

const pins = pinsOf(read("../requirements.txt"));
const tested = pinsOf(read("../../../constraints.txt"));
const [, needed] = /^dependencies = \[([^\]]*)\]/m.exec(read("../../../pyproject.toml"));
const names = [...needed.matchAll(/"([\w.-]+)/g)].map(([, name]) => normal(name));
const old = [...pins]
  .filter(([name, version]) => tested.has(name) && tested.get(name) !== version)
  .map(([name]) => name);
const lacking = names.filter((name) => !pins.has(name));
if (old.length + lacking.length > 0)
  throw new Error(
    `requirements.txt is out of date (${[...old, ...lacking].join(", ")}): run \`npm run requirements\`.`,
  );
