import assert from "node:assert/strict";
import { test } from "node:test";
import type { AgentMessageItem, Run, RuntimeRequest, Thread, ThreadEvent, ThreadRead } from "../src/protocol";
import { ThreadModel } from "../src/threadModel";

const thread = { id: "thr_1", title: "A" } as Thread;
const read: ThreadRead = { thread, runs: [], providerThreads: [], transfers: [], handoffs: [], checkpoints: [], requests: [], sequence: 4 };
const said = (text: string, ordinal = 1) => ({ id: `itm_${ordinal}`, ordinal, type: "agentMessage", text }) as AgentMessageItem;
const event = (sequence: number, type: ThreadEvent["type"], record: unknown) => ({ threadId: "thr_1", sequence, commandId: null, type, record }) as ThreadEvent;
const output = (offset: number, text: string) => ({ threadId: "thr_1", runId: "run_1", itemId: "itm_1", field: "text" as const, offset, text });

test("an event that the snapshot contains changes nothing", () => {
  const model = new ThreadModel(read);
  assert.equal(model.apply(event(4, "thread", { ...thread, title: "B" })), undefined);
  assert.equal(model.thread.title, "A");
});

test("a missing event is told and not passed over", () => {
  const model = new ThreadModel(read);
  assert.equal(model.apply(event(6, "thread", { ...thread, title: "B" })), "gap");
  assert.equal(model.sequence, 4);
  assert.deepEqual(model.apply(event(5, "thread", { ...thread, title: "C" })), { type: "thread", thread: { ...thread, title: "C" } });
});

test("an item event that the page contains does not put its text back", () => {
  const model = new ThreadModel(read);
  model.takeLast({ items: [said("whole text")], previousItemId: null, nextItemId: null }, 6);
  assert.equal(model.apply(event(5, "item", said("who"))), undefined);
  assert.equal((model.items.get("itm_1") as AgentMessageItem).text, "whole text");
});

test("an item that came by an event is newer than the page's", () => {
  const model = new ThreadModel(read);
  model.apply(event(5, "item", said("new")));
  model.takeLast({ items: [said("old")], previousItemId: null, nextItemId: null }, 4);
  assert.equal((model.items.get("itm_1") as AgentMessageItem).text, "new");
});

test("output that overlaps is cut, counted in code points", () => {
  const model = new ThreadModel(read);
  model.takeLast({ items: [said("a😀b")], previousItemId: null, nextItemId: null }, 4);
  assert.deepEqual(model.write(output(2, "b😀c")), { type: "append", itemId: "itm_1", field: "text", text: "😀c" });
  assert.deepEqual(model.write(output(5, "d")), { type: "append", itemId: "itm_1", field: "text", text: "d" });
  assert.equal(model.write(output(0, "a😀")), undefined);
  assert.equal((model.items.get("itm_1") as AgentMessageItem).text, "a😀b😀cd");
});

test("output behind text that is missing is a gap", () => {
  const model = new ThreadModel(read);
  model.takeLast({ items: [said("ab")], previousItemId: null, nextItemId: null }, 4);
  assert.equal(model.write(output(3, "d")), "gap");
});

test("a record shorter than its output counts anew", () => {
  const model = new ThreadModel(read);
  model.takeLast({ items: [said("ab")], previousItemId: null, nextItemId: null }, 4);
  model.write(output(2, "cdef"));
  model.apply(event(5, "item", said("abc")));
  assert.deepEqual(model.write(output(3, "x")), { type: "append", itemId: "itm_1", field: "text", text: "x" });
});

test("an answered request no longer waits", () => {
  const request = { id: "req_1", status: "pending" } as RuntimeRequest;
  const model = new ThreadModel({ ...read, requests: [request, { ...request, id: "req_0", status: "expired" }] });
  assert.deepEqual([...model.requests.keys()], ["req_1"]);
  model.apply(event(5, "request", { ...request, status: "resolved" }));
  assert.equal(model.requests.size, 0);
});

test("items stand in the order of the thread, whatever order they came in", () => {
  const model = new ThreadModel(read);
  model.takeLast({ items: [said("c", 3), said("a", 1), said("b", 2)], previousItemId: null, nextItemId: null }, 4);
  model.apply(event(5, "run", { id: "run_1" } as Run));
  assert.deepEqual(model.items.ordered().map((item) => item.ordinal), [1, 2, 3]);
});
