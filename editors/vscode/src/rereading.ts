/**
 * Reading again what changed: one reading at a time, and once more where news came meanwhile.
 *
 * What is read is shown only where it is not what is shown already: the editor knows no row while it takes new ones.
 */
export class Rereading {
  private stale = false;
  private active = false;
  private shown: string | undefined;

  /** `read` answers all that is shown of it; `done` follows where that is new. Where it fails, what was read before stays. */
  constructor(
    private readonly read: () => Promise<string>,
    private readonly done: () => void,
  ) {}

  async request(): Promise<void> {
    this.stale = true;
    if (this.active) return;
    this.active = true;
    try {
      let read = this.shown;
      while (this.stale) {
        this.stale = false;
        read = await this.read();
      }
      if (read === this.shown) return;
      this.shown = read;
      this.done();
    } catch {
      // The daemon went away; its successor's first news asks again.
    } finally {
      this.active = false;
    }
  }
}
