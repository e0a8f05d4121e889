import assert from "node:assert/strict";
import { test } from "node:test";
import { EventEmitter } from "vscode";
import type { Daemon } from "../src/client";
import { Following } from "../src/following";
import type { AgentMessageItem, Notifications, Thread, ThreadEvent } from "../src/protocol";

const thread = (id: string, title = id) => ({ id, title }) as Thread;
const said = (ordinal: number) => ({ id: `itm_${ordinal}`, ordinal, type: "agentMessage", text: `${ordinal}` }) as AgentMessageItem;
const snapshot = (id: string, sequence = 4) => ({ sequence, snapshot: { thread: thread(id), runs: [], providerThreads: [], transfers: [], handoffs: [], checkpoints: [], requests: [], sequence } });
const page = (count: number, sequence = 4) => ({ items: Array.from({ length: count }, (_, index) => said(index + 1)), previousItemId: null, nextItemId: null, sequence });
const event = (threadId: string, sequence: number, type: ThreadEvent["type"], record: unknown) => ({ threadId, sequence, commandId: null, type, record }) as ThreadEvent;

/** A following whose daemon answers when the test says so. */
function following() {
  const emitters = new Map<string, EventEmitter<unknown>>();
  const asked: { method: string; threadId: string; answer: (result: unknown) => Promise<void>; refuse: () => Promise<void> }[] = [];
  const daemon = {
    on: (name: string, hear: (told: unknown) => void) => {
      const emitter = emitters.get(name) ?? new EventEmitter<unknown>();
      emitters.set(name, emitter);
      return emitter.event(hear);
    },
    request: (method: string, { threadId }: { threadId: string }) =>
      new Promise((resolve, reject) => {
        const settle = async (how: () => void) => (how(), void (await new Promise(setImmediate)));
        asked.push({ method, threadId, answer: (result) => settle(() => resolve(result)), refuse: () => settle(() => reject(new Error("gone"))) });
      }),
  } as unknown as Daemon;
  const made = new Following(daemon);
  const changes: string[] = [];
  made.onChange((change) => changes.push(change === "reset" ? change : change.type));
  return {
    following: made,
    changes,
    asked,
    tell: <N extends keyof Notifications>(name: N, told: Notifications[N]) => emitters.get(name)!.fire(told),
    take: (method: string) => {
      const first = asked.shift();
      assert.equal(first?.method, method);
      return first!;
    },
    items: () => made.model?.items.ordered().map((item) => item.id),
  };
}

/** A following that shows a thread of two items. */
async function showing(id: string) {
  const made = following();
  const opened = made.following.open(id);
  await made.take("thread/subscribe").answer(snapshot(id));
  await made.take("thread/items").answer(page(2));
  await opened;
  made.changes.length = 0;
  return made;
}

test("a thread is shown once its newest items are read, and not before", async () => {
  const { following: made, take, changes, items } = following();
  const opened = made.open("thr_1");
  await take("thread/subscribe").answer(snapshot("thr_1"));
  assert.equal(made.model, undefined);
  await take("thread/items").answer(page(2));
  await opened;
  assert.deepEqual([changes, items()], [["reset"], ["itm_1", "itm_2"]]);
});

test("what is shown stays, and goes on, until another thread is read; then it is left", async () => {
  const { following: made, take, tell, changes, asked, items } = await showing("thr_1");
  const opened = made.open("thr_2");
  await take("thread/subscribe").answer(snapshot("thr_2"));
  tell("thread/event", event("thr_1", 5, "item", said(3)));
  tell("thread/event", event("thr_2", 5, "thread", thread("thr_2", "renamed")));
  assert.deepEqual([changes, items()], [["item"], ["itm_1", "itm_2", "itm_3"]]);
  await take("thread/items").answer(page(1));
  await opened;
  assert.deepEqual([changes, items(), made.model?.thread.title], [["item", "reset"], ["itm_1"], "renamed"]);
  assert.deepEqual(asked.map(({ method, threadId }) => [method, threadId]), [["thread/unsubscribe", "thr_1"]]);
});

test("a thread that cannot be opened leaves what is shown as it was", async () => {
  const { following: made, take, tell, changes } = await showing("thr_1");
  const refused = assert.rejects(made.open("thr_2"));
  await take("thread/subscribe").refuse();
  await refused;
  tell("thread/event", event("thr_1", 5, "item", said(3)));
  assert.deepEqual([changes, made.model?.thread.id], [["item"], "thr_1"]);
});

test("a thread of which the daemon tells nothing leaves what is shown as it was", async () => {
  const { following: made, take } = await showing("thr_1");
  const opened = made.open("thr_2");
  await take("thread/subscribe").answer({ sequence: 0, snapshot: null });
  await opened;
  assert.equal(made.model?.thread.id, "thr_1");
});

test("of two threads opened at once the later is shown, and the other is left", async () => {
  const { following: made, take, asked, items } = following();
  const both = [made.open("thr_1"), made.open("thr_2")];
  await take("thread/subscribe").answer(snapshot("thr_1"));
  await take("thread/subscribe").answer(snapshot("thr_2"));
  assert.deepEqual([asked[0]?.method, asked[0]?.threadId], ["thread/unsubscribe", "thr_1"]);
  asked.shift();
  await take("thread/items").answer(page(1));
  await Promise.all(both);
  assert.deepEqual([made.model?.thread.id, items()], ["thr_2", ["itm_1"]]);
});

test("a missed event has the thread read anew, once", async () => {
  const { take, tell, changes, asked, items } = await showing("thr_1");
  tell("thread/event", event("thr_1", 7, "item", said(4)));
  tell("thread/event", event("thr_1", 8, "item", said(5)));
  await take("thread/subscribe").answer(snapshot("thr_1", 8));
  await take("thread/items").answer(page(5, 8));
  assert.deepEqual([changes, items(), asked], [["reset"], ["itm_1", "itm_2", "itm_3", "itm_4", "itm_5"], []]);
});

test("a thread that cannot be read anew goes on to be heard", async () => {
  const { take, tell, changes } = await showing("thr_1");
  tell("thread/event", event("thr_1", 7, "item", said(4)));
  await take("thread/subscribe").refuse();
  tell("thread/event", event("thr_1", 5, "item", said(3)));
  assert.deepEqual(changes, ["item"]);
});

test("a gap in what is shown does not stand in the way of what is opened, and is seen to where that fails", async () => {
  const { following: made, take, tell, changes, asked } = await showing("thr_1");
  const opened = made.open("thr_2");
  tell("thread/event", event("thr_1", 7, "item", said(4)));
  tell("thread/event", event("thr_1", 8, "item", said(5)));
  await take("thread/subscribe").answer(snapshot("thr_2"));
  await take("thread/items").answer(page(1));
  await opened;
  assert.deepEqual([changes, made.model?.thread.id], [["reset"], "thr_2"]);
  await take("thread/unsubscribe").answer({});
  const refused = assert.rejects(made.open("thr_3"));
  tell("thread/event", event("thr_2", 7, "item", said(4)));
  await take("thread/subscribe").refuse();
  await refused;
  await take("thread/subscribe").answer(snapshot("thr_2", 7));
  await take("thread/items").answer(page(2, 7));
  assert.deepEqual([changes, asked], [["reset", "reset"], []]);
});

test("who opens a thread that is out of step before it is read waits until it is shown", async () => {
  const { following: made, take, tell, items } = await showing("thr_1");
  let shown = "";
  const opened = made.open("thr_2").then(() => (shown = made.model?.thread.id ?? ""));
  await take("thread/subscribe").answer(snapshot("thr_2"));
  tell("thread/event", event("thr_2", 7, "item", said(3)));
  await take("thread/items").answer(page(1));
  assert.equal(shown, "");
  await take("thread/subscribe").answer(snapshot("thr_2", 7));
  await take("thread/items").answer(page(3, 7));
  await opened;
  assert.deepEqual([shown, items()], ["thr_2", ["itm_1", "itm_2", "itm_3"]]);
});

test("an ended subscription has the thread read anew", async () => {
  const { take, tell, changes } = await showing("thr_1");
  tell("thread/reset", { threadId: "thr_1", afterSequence: 4 });
  await take("thread/subscribe").answer(snapshot("thr_1", 8));
  await take("thread/items").answer(page(5, 8));
  assert.deepEqual(changes, ["reset"]);
});

test("a deleted thread is shown no more, and one that is read is not shown", async () => {
  const { following: made, take, tell, changes } = await showing("thr_1");
  const opened = made.open("thr_2");
  await take("thread/subscribe").answer(snapshot("thr_2"));
  tell("thread/deleted", { threadId: "thr_2" });
  await take("thread/items").answer(page(1));
  await opened;
  assert.deepEqual([changes, made.model?.thread.id], [[], "thr_1"]);
  tell("thread/deleted", { threadId: "thr_1" });
  assert.deepEqual([changes, made.model], [["reset"], undefined]);
});
