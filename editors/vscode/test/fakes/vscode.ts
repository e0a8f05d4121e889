/** What pure parts of the extension take from the editor, for unit tests. */
export const l10n = { t: (text: string, ...args: unknown[]) => text.replace(/\{(\d+)\}/g, (_, place: string) => String(args[Number(place)])) };
export const env = { language: "en-GB" };
