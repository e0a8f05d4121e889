// A package index of our own: the packages that Midstream needs, and a hostile `midstream` of a higher version.
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { createReadStream, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";

/** Puts a wheel of `midstream` 99.0 into a folder, which leaves the mark whenever a Python starts that has it. */
const HOSTILE = `
import sys, zipfile
folder, mark = sys.argv[1:]
info = "midstream-99.0.dist-info/"
with zipfile.ZipFile(f"{folder}/midstream-99.0-py3-none-any.whl", "w") as wheel:
    wheel.writestr("hostile.pth", f"import os; open({mark!r}, 'w')\\n")
    wheel.writestr(info + "METADATA", "Metadata-Version: 2.1\\nName: midstream\\nVersion: 99.0\\n")
    wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr(info + "RECORD", "")
`;

/** Serve what `requirements` name from `folder`, where it is fetched to; what ran of the hostile package leaves `mark`. */
export async function startPackageIndex({ python, requirements, folder, mark }) {
  mkdirSync(folder);
  const fetched = ["-I", "-m", "pip", "download", "-qq", "--require-hashes", "--no-deps", "--only-binary", ":all:"];
  execFileSync(python, [...fetched, "--dest", folder, "--requirement", requirements], { stdio: ["ignore", "ignore", "inherit"] });
  execFileSync(python, ["-c", HOSTILE, folder, mark]);
  const asked = [];
  const server = createServer((request, response) => {
    const [, kind, name] = request.url.split("/");
    asked.push(name);
    if (kind === "files") return void createReadStream(join(folder, name)).pipe(response);
    const links = readdirSync(folder).filter((file) => normal(file.split("-")[0]) === name);
    response.setHeader("content-type", "text/html");
    response.end(links.map((file) => `<a href="/files/${file}">${file}</a>`).join("\n"));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const url = `http://127.0.0.1:${server.address().port}/simple/`;
  /** What pip must be told to use this index alone. */
  const variables = { PIP_CONFIG_FILE: "/dev/null", PIP_INDEX_URL: url, PIP_NO_CACHE_DIR: "1", PIP_FIND_LINKS: "", PIP_EXTRA_INDEX_URL: "" };
  /** Put other bytes in the place of a package's wheel until the answer is called. */
  const replace = (name) => {
    const wheel = join(folder, readdirSync(folder).find((file) => normal(file.split("-")[0]) === name));
    renameSync(wheel, `${wheel}.kept`);
    writeFileSync(wheel, "not what was tested");
    return () => renameSync(`${wheel}.kept`, wheel);
  };
  const end = () => {
    server.close();
    rmSync(folder, { recursive: true });
  };
  return { asked, variables, replace, end };
}

const normal = (name) => name.toLowerCase().replaceAll(/[-_.]+/g, "-");
