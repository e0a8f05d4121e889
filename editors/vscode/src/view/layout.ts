/** Where the rows of a column stand: heights as measured where they were drawn, and estimated elsewhere. */

export interface Sized {
  readonly key: string;
  /** How many rows it stands for that are not known yet. */
  readonly missing?: number;
}

/** The height of a row before any was measured. */
const FIRST_GUESS = 60;

export class Layout {
  private rows: readonly Sized[] = [];
  private places = new Map<string, number>();
  private tops: number[] = [0];
  private readonly measured = new Map<string, number>();
  private sum = 0;

  setRows(rows: readonly Sized[]): void {
    this.rows = rows;
    this.places = new Map(rows.map((row, index) => [row.key, index]));
    this.place();
  }

  /** Take measured heights; true where one is not what was thought. */
  measure(heights: Iterable<readonly [string, number]>): boolean {
    let changed = false;
    for (const [key, height] of heights) {
      const known = this.measured.get(key);
      if (known === height) continue;
      this.sum += height - (known ?? 0);
      this.measured.set(key, height);
      changed = true;
    }
    if (changed) this.place();
    return changed;
  }

  get height(): number {
    return this.tops[this.rows.length]!;
  }

  get estimate(): number {
    return this.measured.size === 0 ? FIRST_GUESS : this.sum / this.measured.size;
  }

  topOf(key: string): number | undefined {
    const place = this.places.get(key);
    return place === undefined ? undefined : this.tops[place];
  }

  top(index: number): number {
    return this.tops[index]!;
  }

  heightOf(index: number): number {
    return this.top(index + 1) - this.top(index);
  }

  /** The row at this distance from the top of the column; the last one below its end. */
  at(distance: number): number {
    let [low, high] = [0, Math.max(0, this.rows.length - 1)];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.tops[middle]! <= distance) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** The first row between two distances, and the one behind the last. */
  between(from: number, to: number): readonly [number, number] {
    return this.rows.length === 0 ? [0, 0] : [this.at(from), this.at(to) + 1];
  }

  private place(): void {
    const { estimate } = this;
    this.tops = [0];
    let top = 0;
    for (const row of this.rows) {
      top += row.missing === undefined ? (this.measured.get(row.key) ?? estimate) : row.missing * estimate;
      this.tops.push(top);
    }
  }
}
