import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, afterEach, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { startClient } from "./client.mjs";
import { say, send, startEditor } from "./editor.mjs";

let editor;
before(async () => {
  editor = await startEditor();
});
after(() => editor?.end());
afterEach((context) => editor?.keep(context));

test("what another client does in the thread is seen here, and its request can be answered here", async () => {
  const { view, workspace } = editor;
  await say(view, "say: opened here");
  const client = await startClient(editor);
  const { threads } = await client.call("thread/list", { workspace: pathToFileURL(workspace).href });
  const { run } = await client.call("run/start", { threadId: threads[0].id, message: { text: "say: from a script\nrun echo shared" } });
  await view.locator(".user", { hasText: "from a script" }).waitFor();
  await view.locator(".request").getByRole("button", { name: "Allow", exact: true }).click();
  assert.equal((await client.call("run/wait", { runId: run.id })).run.status, "completed");
  await view.locator(".command", { hasText: "echo shared" }).waitFor();
  client.end();
});

test("a reload in the middle of an answer loses none of it", async () => {
  const { page, view } = editor;
  await send(view, "stream 40 20\nsleep 3000\nsay: after the reload");
  await view.locator(".user", { hasText: "stream 40 20" }).waitFor();
  await page.reload();
  await view.locator(".agent", { hasText: "after the reload" }).waitFor();
  await view.locator(".end.completed").nth(2).waitFor();
  const answers = await view.locator(".agent .prose").allInnerTexts();
  assert.ok(answers.some((answer) => answer.length >= 800), answers.join("\n"));
});

test("a killed daemon is started again, with the thread as it was", async () => {
  const { view, env } = editor;
  const { pid } = JSON.parse(readFileSync(join(env.XDG_DATA_HOME, "midstream/daemon.lock"), "utf8"));
  process.kill(pid, "SIGKILL");
  await say(view, "say: still here");
  await view.locator(".agent", { hasText: "still here" }).waitFor();
  await view.locator(".user", { hasText: "opened here" }).waitFor();
  const again = JSON.parse(readFileSync(join(env.XDG_DATA_HOME, "midstream/daemon.lock"), "utf8"));
  assert.notEqual(again.pid, pid);
});
