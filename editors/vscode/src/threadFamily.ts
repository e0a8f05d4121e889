/** Threads as a tree: forks and delegated work under the thread they came from. Pure. */
import type { Thread } from "./protocol";

export class ThreadFamily {
  private readonly children = new Map<string | undefined, Thread[]>();
  private readonly all: ReadonlyMap<string, Thread>;

  /** Take threads in the order to show them in; with a `title`, only those that have it in theirs and those above them. */
  constructor(threads: readonly Thread[], title = "") {
    this.all = new Map(threads.map((thread) => [thread.id, thread]));
    const wanted = new Set<string>();
    for (const thread of threads)
      if (thread.title.toLowerCase().includes(title.toLowerCase()))
        for (let kept: Thread | undefined = thread; kept !== undefined; kept = this.parentOf(kept)) wanted.add(kept.id);
    for (const thread of threads.filter(({ id }) => wanted.has(id))) {
      const parent = this.parentOf(thread)?.id;
      this.children.set(parent, [...(this.children.get(parent) ?? []), thread]);
    }
  }

  /** A thread that is shown. */
  find(id: string): Thread | undefined {
    const thread = this.all.get(id);
    return thread && this.childrenOf(this.parentOf(thread)?.id).includes(thread) ? thread : undefined;
  }

  /** The thread it came from, where that is listed too. */
  parentOf({ lineage }: Thread): Thread | undefined {
    return this.all.get(lineage.parentThreadId ?? "");
  }

  /** Those under a thread, or at the top. */
  childrenOf(id?: string): Thread[] {
    return this.children.get(id) ?? [];
  }

  /** The threads from which the given ones are reached downwards, without themselves. */
  above(ids: Iterable<string>): ReadonlySet<string> {
    const found = new Set<string>();
    for (const id of ids) {
      const thread = this.all.get(id);
      for (let over = thread && this.parentOf(thread); over !== undefined; over = this.parentOf(over))
        found.add(over.id);
    }
    return found;
  }
}
