/** Reading again what changed: one reading at a time, and once more where news came meanwhile. */
export class Rereading {
  private stale = false;
  private active = false;

  /** `read` is followed by `done`; where it fails, what was read before stays. */
  constructor(
    private readonly read: () => Promise<void>,
    private readonly done: () => void,
  ) {}

  async request(): Promise<void> {
    this.stale = true;
    if (this.active) return;
    this.active = true;
    try {
      while (this.stale) {
        this.stale = false;
        await this.read();
      }
      this.done();
    } catch {
      // The daemon went away; its successor's first news asks again.
    } finally {
      this.active = false;
    }
  }
}
