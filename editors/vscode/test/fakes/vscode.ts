/** What the parts of the extension that have unit tests take from the editor. */
export const l10n = { t: (text: string, ...args: unknown[]) => text.replace(/\{(\d+)\}/g, (_, place: string) => String(args[Number(place)])) };
export const env = { language: "en-GB" };

export class EventEmitter<T> {
  private readonly listeners = new Set<(told: T) => void>();
  readonly event = (listener: (told: T) => void) => {
    this.listeners.add(listener);
    return { dispose: () => void this.listeners.delete(listener) };
  };
  fire(told: T): void {
    for (const listener of this.listeners) listener(told);
  }
  dispose(): void {
    this.listeners.clear();
  }
}
