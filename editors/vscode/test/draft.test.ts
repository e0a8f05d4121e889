import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { DraftStore } from "../src/draft";
import type { Attachment } from "../src/protocol";

const file = (uri: string): Attachment => ({ type: "file", uri });
const lines = (uri: string, text: string): Attachment => {
  const edge = { line: 0, character: 0 };
  return { type: "selection", uri, range: { start: edge, end: edge }, text };
};

const nameOf = (attachment: Attachment) => ("uri" in attachment ? `${attachment.type} ${attachment.uri}` : "image");
const folder = mkdtempSync(join(tmpdir(), "midstream-draft-"));
after(() => rmSync(folder, { recursive: true }));

let files = 0;
function store(): DraftStore {
  return new DraftStore(join(folder, String((files += 1)), "draft.json"), nameOf);
}

test("a draft is there for whoever opens its file next", () => {
  const path = join(folder, "kept", "draft.json");
  const first = new DraftStore(path, nameOf);
  first.write("half a thought");
  first.attach([file("a")]);
  assert.deepEqual(new DraftStore(path, nameOf).draft, { text: "half a thought", attachments: [file("a")] });
});

test("what is attached twice under one name is there once, as it was last", () => {
  const drafts = store();
  drafts.attach([lines("a", "old"), file("a")]);
  drafts.attach([lines("a", "new")]);
  assert.deepEqual(drafts.draft.attachments, [file("a"), lines("a", "new")]);
});

test("what is left out is gone, and the words stay", () => {
  const drafts = store();
  drafts.write("look");
  drafts.attach([file("a"), file("b")]);
  drafts.detach("file a");
  assert.deepEqual(drafts.draft, { text: "look", attachments: [file("b")] });
});

test("what could not be sent comes back before what was written since", () => {
  const drafts = store();
  drafts.attach([file("a"), lines("c", "old")]);
  const taken = drafts.take("first");
  assert.deepEqual(drafts.draft, { text: "", attachments: [] });
  drafts.write("second");
  drafts.attach([lines("c", "new")]);
  drafts.putBack(taken);
  assert.deepEqual(drafts.draft, { text: "first\nsecond", attachments: [file("a"), lines("c", "new")] });
});
