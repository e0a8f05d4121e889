/** The items held of a thread, in its order, and before which of them some are not held. Used on both sides of the view. */
import type { Item, ThreadItemsResult } from "./protocol";

/** Where a page of items lies, in the terms of `thread/items`; a run's is the one around its first item. */
export type PageAnchor =
  | { readonly first: true }
  | { readonly beforeItemId: string }
  | { readonly afterItemId: string }
  | { readonly aroundItemId: string }
  | { readonly runId: string };

export type Page = Pick<ThreadItemsResult, "items" | "previousItemId" | "nextItemId">;

export class HeldItems {
  private readonly held = new Map<string, Item>();
  private order: string[] = [];
  private readonly gaps = new Set<string>();

  /** Start from items in order, and the ids of those before which some are missing. */
  constructor(items: readonly Item[] = [], gaps: readonly string[] = []) {
    for (const item of items) this.held.set(item.id, item);
    this.order = items.map((item) => item.id);
    for (const id of gaps) this.gaps.add(id);
  }

  get(id: string): Item | undefined {
    return this.held.get(id);
  }

  ordered(): Item[] {
    return this.order.map((id) => this.held.get(id)!);
  }

  /** The ids of the items before which some are missing. */
  gapsBefore(): ReadonlySet<string> {
    return this.gaps;
  }

  /** Hold an item, in the place of an older record of it. */
  put(item: Item): void {
    if (!this.held.has(item.id)) {
      const place = this.placeOf(item.ordinal);
      const next = this.order[place];
      // It lies in the middle of what is missing there.
      if (next !== undefined && this.gaps.has(next)) this.gaps.add(item.id);
      this.order.splice(place, 0, item.id);
    }
    this.held.set(item.id, item);
  }

  /** Hold the items of a page that are not held yet: what came by an event is newer than the page. */
  takePage({ items, previousItemId, nextItemId }: Page, anchor: PageAnchor | { readonly last: true }): void {
    const fresh = new Set(items.filter((item) => !this.held.has(item.id)).map((item) => item.id));
    for (const item of items) if (fresh.has(item.id)) this.put(item);
    // A page lies right beside the item that it was asked for by: nothing is missing between them.
    const stretch = items.map((item) => item.id);
    if ("afterItemId" in anchor) stretch.unshift(anchor.afterItemId);
    if ("beforeItemId" in anchor) stretch.push(anchor.beforeItemId);
    for (const id of stretch.slice(1)) this.gaps.delete(id);
    const [first, last] = [stretch[0], stretch.at(-1)];
    if (first !== undefined && (fresh.has(first) || previousItemId === null)) this.mark(first, previousItemId !== null);
    const next = last === undefined ? undefined : this.order[this.placeOf(this.held.get(last)!.ordinal) + 1];
    if (next !== undefined && (fresh.has(last!) || nextItemId === null)) this.mark(next, nextItemId !== null);
  }

  private mark(id: string, missing: boolean): void {
    const { ordinal } = this.held.get(id)!;
    const before = this.held.get(this.order[this.placeOf(ordinal) - 1] ?? "");
    if (missing && before?.ordinal !== ordinal - 1) this.gaps.add(id);
    else this.gaps.delete(id);
  }

  /** How many items held stand before this ordinal. */
  private placeOf(ordinal: number): number {
    let [low, high] = [0, this.order.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.held.get(this.order[middle]!)!.ordinal < ordinal) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
