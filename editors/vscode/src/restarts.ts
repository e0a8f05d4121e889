/** How often a lost daemon is started again: so often within a time, so that one lost now and then always is. */
const MOST = 5;
const WITHIN_MILLISECONDS = 3 * 60_000;

export class Restarts {
  private times: readonly number[] = [];

  /** Whether one more is allowed at this time, which then counts; once it is not, the user's own start counts anew. */
  allow(now: number): boolean {
    this.times = this.times.filter((time) => now - time < WITHIN_MILLISECONDS);
    const allowed = this.times.length < MOST;
    this.times = allowed ? [...this.times, now] : [];
    return allowed;
  }
}
