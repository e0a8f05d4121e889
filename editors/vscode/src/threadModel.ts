/** One thread as this client holds it: records replaced whole by events, text appended by offset. */
import { HeldItems, type Page } from "./heldItems";
import type { Change } from "./messages";
import type { Item, Run, RunOutput, RuntimeRequest, Thread, ThreadEvent, ThreadRead } from "./protocol";

export class ThreadModel {
  thread: Thread;
  readonly runs = new Map<string, Run>();
  readonly items = new HeldItems();
  readonly requests = new Map<string, RuntimeRequest>();
  sequence: number;
  private itemsThrough = 0;
  private readonly lengths = new Map<string, number>();

  constructor(read: ThreadRead) {
    this.thread = read.thread;
    this.sequence = read.sequence;
    for (const run of read.runs) this.runs.set(run.id, run);
    for (const request of read.requests) if (request.status === "pending") this.requests.set(request.id, request);
  }

  /** Take the newest page, which already contains the events up to `sequence`. */
  takeLast(page: Page, sequence: number): void {
    this.items.takePage(page, { last: true });
    this.itemsThrough = sequence;
  }

  /** Take an event; undefined where it is old or of no interest, "gap" where one before it is missing. */
  apply(event: ThreadEvent): Change | "gap" | undefined {
    if (event.sequence <= this.sequence) return undefined;
    if (event.sequence > this.sequence + 1) return "gap";
    this.sequence = event.sequence;
    switch (event.type) {
      case "thread":
        this.thread = event.record;
        return { type: "thread", thread: this.thread };
      case "run": {
        const run = event.record;
        this.runs.set(run.id, run);
        return { type: "run", run };
      }
      case "item": {
        if (event.sequence <= this.itemsThrough) return undefined;
        const item = event.record;
        this.items.put(item);
        this.lengths.clear();
        return { type: "item", item };
      }
      case "request": {
        const request = event.record;
        if (request.status === "pending") this.requests.set(request.id, request);
        else this.requests.delete(request.id);
        return { type: "request", request };
      }
      default:
        return undefined;
    }
  }

  /** Append text being written; undefined where it is held already, "gap" where text before it is missing. */
  write(output: RunOutput): Change | "gap" | undefined {
    const item = this.items.get(output.itemId) as (Item & Record<string, unknown>) | undefined;
    const held = item?.[output.field];
    if (item === undefined || typeof held !== "string" || (item.shortened ?? []).length > 0) return undefined;
    const key = `${output.itemId} ${output.field}`;
    const length = this.lengths.get(key) ?? codePoints(held);
    if (output.offset > length) return "gap";
    const text = [...output.text].slice(length - output.offset).join("");
    if (text === "") return undefined;
    this.items.put({ ...item, [output.field]: held + text } as Item);
    this.lengths.set(key, length + codePoints(text));
    return { type: "append", itemId: item.id, field: output.field, text };
  }
}

function codePoints(text: string): number {
  return [...text].length;
}
