/** Runs in the editor's extension host beside the extension, with the real API and a client of the same daemon. */
import assert from "node:assert/strict";
import { renameSync, writeFileSync } from "node:fs";
import * as vscode from "vscode";
import { CheckpointDocuments } from "../../../editors/vscode/src/checkpoints";
import { Daemon } from "../../../editors/vscode/src/client";
import { HandoffDocuments } from "../../../editors/vscode/src/handoffDocuments";
import type { Thread } from "../../../editors/vscode/src/protocol";
import { configuredCommand } from "../../../editors/vscode/src/settings";

export interface Result {
  readonly name: string;
  readonly error: string | null;
}

const tests: [string, () => Promise<void>][] = [];
const test = (name: string, act: () => Promise<void>) => tests.push([name, act]);
const extension = () => vscode.extensions.getExtension("midstream.midstream")!;
const workspace = () => vscode.Uri.file(vscode.workspace.workspaceFolders![0]!.uri.fsPath).toString();

let daemon: Daemon;
let thread: Thread;

test("the extension is active without having been asked, and every command that it names exists", async () => {
  assert.equal(extension().isActive, true);
  const named = extension().packageJSON.contributes.commands.map(({ command }: { command: string }) => command);
  const known = new Set(await vscode.commands.getCommands(true));
  assert.deepEqual(named.filter((name: string) => !known.has(name)), []);
  assert.ok(named.length > 20);
});

test("a workspace cannot say which program is started, with which Python, or where it keeps its data", async () => {
  const settings = vscode.workspace.getConfiguration("midstream");
  for (const [name, value] of [["command", ["/tmp/evil"]], ["python", "/tmp/evil"], ["dataDir", "/tmp"], ["rehearsal", false]] as const)
    await assert.rejects(Promise.resolve(settings.update(name, value, vscode.ConfigurationTarget.Workspace)), name);
});

test("every setting and every step of the walkthrough has words", async () => {
  const { configuration, walkthroughs, viewsWelcome } = extension().packageJSON.contributes;
  const texts = [...Object.values<{ markdownDescription: string }>(configuration.properties).map((setting) => setting.markdownDescription)];
  for (const { title, description } of walkthroughs[0].steps) texts.push(title, description);
  for (const { contents } of viewsWelcome) texts.push(contents);
  assert.deepEqual(texts.filter((text) => !text || text.startsWith("%")), []);
});

test("the walkthrough's links, and the events that complete its steps, name commands and views that there are", async () => {
  const { walkthroughs, views } = extension().packageJSON.contributes;
  const known = new Set(await vscode.commands.getCommands(true));
  const named = new Set(Object.values<{ id: string }[]>(views).flat().map(({ id }) => id));
  for (const { description, completionEvents } of walkthroughs[0].steps) {
    for (const [, command] of description.matchAll(/\(command:([\w.]+)/g)) assert.ok(known.has(command), command);
    for (const event of completionEvents) {
      const [kind, name] = event.split(":");
      if (kind === "onCommand") assert.ok(known.has(name), event);
      if (kind === "onView") assert.ok(named.has(name), event);
    }
  }
});

test("the file of a checkpoint can be read, and what changed since opens as a diff", async () => {
  const { thread: made } = await daemon.request("thread/create", { workspace: workspace(), title: "In the host" });
  thread = made;
  await say("write a.txt: one");
  await say("append a.txt: two");
  const { checkpoints } = await daemon.request("checkpoint/list", { threadId: thread.id });
  const first = checkpoints.find((one) => one.kind === "run" && one.runOrdinal === 1)!;
  const uri = CheckpointDocuments.uri(first.id, vscode.workspace.workspaceFolders![0]!.uri, "a.txt");
  assert.equal((await vscode.workspace.openTextDocument(uri)).getText().trim(), "one");
  await vscode.commands.executeCommand("midstream.showCheckpoint", first);
  await until(() => vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs).some(({ label }) => /run 1/.test(label)));
});

test("a handoff is a file that can be read and changed until it is sent, and not moved or removed", async () => {
  await daemon.request("provider/switch", { threadId: thread.id, selection: { provider: "understudy", model: null } });
  const { handoffs } = await daemon.request("handoff/preview", { threadId: thread.id });
  const uri = HandoffDocuments.uri(handoffs[0]!.id);
  const { fs } = vscode.workspace;
  const before = Buffer.from(await fs.readFile(uri)).toString();
  const stat = await fs.stat(uri);
  assert.equal(stat.size, Buffer.byteLength(before));
  assert.equal(stat.permissions, undefined);
  const document = await vscode.workspace.openTextDocument(uri);
  const edit = new vscode.WorkspaceEdit();
  edit.insert(uri, new vscode.Position(0, 0), "Mind the tests.\n");
  await vscode.workspace.applyEdit(edit);
  assert.equal(await document.save(), true);
  assert.match(Buffer.from(await fs.readFile(uri)).toString(), /^> Mind the tests\.$/m);
  await assert.rejects(Promise.resolve(fs.delete(uri)));
  await assert.rejects(Promise.resolve(fs.rename(uri, uri.with({ path: "/x/Handoff.md" }))));
});

test("a handoff that was sent can no longer be written", async () => {
  await say("say: received");
  const { handoffs } = await daemon.request("thread/read", { threadId: thread.id });
  const uri = HandoffDocuments.uri(handoffs.at(-1)!.id);
  const { fs } = vscode.workspace;
  assert.equal((await fs.stat(uri)).permissions, vscode.FilePermission.Readonly);
  await assert.rejects(Promise.resolve(fs.writeFile(uri, Buffer.from("x"))));
});

test("the document of a handoff that was sent is closed where the editor brought it back", async () => {
  const { handoffs } = await daemon.request("thread/read", { threadId: thread.id });
  await vscode.window.showTextDocument(HandoffDocuments.uri(handoffs.at(-1)!.id), { preview: false });
  const shown = () => vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs).some(({ label }) => label === "Handoff.md");
  await until(shown);
  await vscode.commands.executeCommand("midstream.restart");
  await until(() => !shown());
});

/** Send a message, allow all that is asked, and wait for the run's end. */
async function say(text: string): Promise<void> {
  const allowing = daemon.on("thread/event", (event) => {
    if (event.type !== "request" || event.record.status !== "pending") return;
    void daemon.request("request/respond", { requestId: event.record.id, decision: "accept" });
  });
  await daemon.request("thread/subscribe", { threadId: thread.id });
  const { run } = await daemon.request("run/start", { threadId: thread.id, message: { text } });
  const ended = await daemon.request("run/wait", { runId: run.id });
  allowing.dispose();
  assert.equal(ended.run.status, "completed");
}

async function until(holds: () => boolean): Promise<void> {
  for (const deadline = Date.now() + 20_000; !holds(); await new Promise((resolve) => setTimeout(resolve, 20)))
    assert.ok(Date.now() < deadline, "nothing came of it");
}

export async function activate(): Promise<void> {
  const target = process.env.MIDSTREAM_HOST_RESULTS;
  if (target === undefined) return;
  const results: Result[] = [];
  const log = vscode.window.createOutputChannel("Host tests", { log: true });
  daemon = await Daemon.start(configuredCommand()!, log);
  for (const [name, act] of tests) {
    const error = await act().then(() => null, (reason: unknown) => (reason instanceof Error ? (reason.stack ?? reason.message) : String(reason)));
    results.push({ name, error });
  }
  await daemon.end();
  // Renamed, so that nobody reads half of it.
  writeFileSync(`${target}.part`, JSON.stringify(results));
  renameSync(`${target}.part`, target);
}
