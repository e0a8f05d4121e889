/** A column of rows of which only those near the viewport are in the document. It keeps its place while rows above are measured. */
import { element } from "./dom";
import { Layout, type Sized } from "./layout";

/** How far beyond the viewport rows are drawn. */
const MARGIN = 1500;
/** How near to the viewport a gap makes its items be read. */
const NEAR_GAP = 600;
/** How near to the end the newest row is kept in sight. */
const NEAR_END = 40;
/** How far below the viewport's top a row is put that is gone to: what comes before it is seen to go on. */
const BELOW_TOP = 40;
/** How often rows are drawn at once because those drawn were smaller than thought. */
const MOST_PASSES = 5;

/** What stands still while rows change: a row so far below the viewport's top, or else the distance scrolled. */
type Place = { readonly key: string; readonly offset: number } | { readonly scrolled: number };

export class VirtualList<Row extends Sized> {
  readonly root = element("div", "log");
  private readonly column = element("div", "rows");
  private readonly layout = new Layout();
  private rows: readonly Row[] = [];
  /** For each row how many there are up to it, those included that are not known yet. */
  private counts: readonly number[] = [];
  private readonly drawn = new Map<string, HTMLElement>();
  private readonly stale = new Set<string>();
  private place: Place = { scrolled: 0 };
  private scrolled = 0;
  private frame = 0;
  /** Whether the newest row is kept in sight: until the user scrolls away from it. */
  private following = true;

  /** `fill` puts a row's content into its element, also where the element has older content; `miss` hears of a gap in sight. */
  constructor(
    private readonly fill: (row: Row, into: HTMLElement) => void,
    private readonly miss: (gap: Row, place: number) => void,
  ) {
    this.root.tabIndex = 0;
    this.root.setAttribute("role", "feed");
    this.root.append(this.column);
    this.root.addEventListener("scroll", () => this.hearScroll());
    this.root.addEventListener("keydown", (event) => this.hearKey(event));
    const sizes = new ResizeObserver(() => this.schedule());
    sizes.observe(this.root);
    sizes.observe(this.column);
  }

  /** Show these rows, at once: they come in batches already. */
  setRows(rows: readonly Row[]): void {
    let count = 0;
    this.rows = rows;
    this.counts = rows.map((row) => (count += row.missing ?? 1));
    this.layout.setRows(rows);
    this.paint();
  }

  /** Fill a row anew where it is in the document. */
  refresh(key: string): void {
    this.stale.add(key);
    this.schedule();
  }

  refreshAll(): void {
    for (const key of this.drawn.keys()) this.stale.add(key);
    this.schedule();
  }

  /** Keep the newest row in sight from the next paint on. */
  follow(): void {
    this.following = true;
    this.schedule();
  }

  /** Show a row near the top of the viewport. */
  goTo(key: string): void {
    this.following = false;
    this.place = { key, offset: BELOW_TOP };
    this.paint();
  }

  goToStart(): void {
    this.following = false;
    this.place = { scrolled: 0 };
    this.paint();
  }

  goToEnd(): void {
    this.following = true;
    this.paint();
  }

  private schedule(): void {
    this.frame ||= requestAnimationFrame(() => this.paint());
  }

  private paint(): void {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    const height = this.root.clientHeight;
    for (let pass = 0; pass < MOST_PASSES; pass += 1) {
      const top = this.topWanted(height);
      this.show(...this.layout.between(top - MARGIN, top + height + MARGIN));
      if (!this.layout.measure(this.heights())) break;
    }
    this.root.scrollTop = this.topWanted(height);
    this.scrolled = this.root.scrollTop;
    this.notePlace(height);
    this.findGap(height);
  }

  private topWanted(height: number): number {
    const end = Math.max(0, this.layout.height - height);
    if (this.following) return end;
    const { place } = this;
    const top = "key" in place ? (this.layout.topOf(place.key) ?? this.scrolled + place.offset) - place.offset : place.scrolled;
    return Math.min(end, Math.max(0, top));
  }

  /** Have exactly these rows in the document; a row that stays keeps its element. */
  private show(from: number, to: number): void {
    const rows = this.rows.slice(from, to);
    const wanted = new Set(rows.map((row) => row.key));
    for (const [key, old] of this.drawn) {
      if (wanted.has(key)) continue;
      // The keys go on scrolling where the row that had the focus leaves.
      if (old.contains(document.activeElement)) this.root.focus({ preventScroll: true });
      old.remove();
      this.drawn.delete(key);
    }
    let next = this.column.firstElementChild;
    for (const [index, row] of rows.entries()) {
      const made = this.elementOf(row);
      made.setAttribute("aria-posinset", String(this.counts[from + index]));
      made.setAttribute("aria-setsize", String(this.counts.at(-1)));
      if (row.missing !== undefined) made.style.height = `${this.layout.heightOf(from + index)}px`;
      if (made === next) next = next.nextElementSibling;
      else this.column.insertBefore(made, next);
    }
    this.stale.clear();
    this.column.style.paddingTop = `${this.layout.top(from)}px`;
    this.column.style.paddingBottom = `${this.layout.height - this.layout.top(to)}px`;
  }

  private elementOf(row: Row): HTMLElement {
    const known = this.drawn.get(row.key);
    const made = known ?? element("div", "row");
    if (known === undefined) {
      made.setAttribute("role", "article");
      made.dataset.key = row.key;
      this.drawn.set(row.key, made);
    }
    if (known === undefined || this.stale.has(row.key)) this.fill(row, made);
    return made;
  }

  private *heights(): Iterable<readonly [string, number]> {
    for (const row of this.rows) {
      const made = row.missing === undefined ? this.drawn.get(row.key) : undefined;
      if (made !== undefined) yield [row.key, made.getBoundingClientRect().height];
    }
  }

  /** Remember the first row in sight, or the distance scrolled where none is known there. */
  private notePlace(height: number): void {
    const [from, to] = this.layout.between(this.scrolled, this.scrolled + height);
    const index = from + this.rows.slice(from, to).findIndex((row) => row.missing === undefined);
    const row = this.rows[index];
    this.place = row === undefined || row.missing !== undefined ? { scrolled: this.scrolled } : { key: row.key, offset: this.layout.top(index) - this.scrolled };
  }

  private findGap(height: number): void {
    const [from, to] = this.layout.between(this.scrolled - NEAR_GAP, this.scrolled + height + NEAR_GAP);
    const index = from + this.rows.slice(from, to).findIndex((row) => row.missing !== undefined);
    const gap = this.rows[index];
    if (gap?.missing === undefined) return;
    const place = (this.scrolled + height / 2 - this.layout.top(index)) / this.layout.estimate;
    this.miss(gap, Math.min(gap.missing, Math.max(0, place)));
  }

  private hearScroll(): void {
    const { scrollTop, scrollHeight, clientHeight } = this.root;
    const left = scrollHeight - scrollTop - clientHeight;
    // Moving up leaves the newest row, unless it was the end that came nearer.
    if (left <= 1) this.following = true;
    else if (scrollTop < this.scrolled) this.following = false;
    else if (left < NEAR_END) this.following = true;
    if (scrollTop === this.scrolled) return;
    this.scrolled = scrollTop;
    this.notePlace(clientHeight);
    this.paint();
  }

  /** At once, whatever lies between: the browser's own way would pass through all of it. */
  private hearKey(event: KeyboardEvent): void {
    const elsewhere = event.target instanceof Element && event.target.closest("input, textarea, select, pre") !== null;
    if (elsewhere || event.altKey || event.shiftKey || (event.key !== "Home" && event.key !== "End")) return;
    event.preventDefault();
    if (event.key === "Home") this.goToStart();
    else this.goToEnd();
  }
}
