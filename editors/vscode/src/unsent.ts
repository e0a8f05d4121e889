/** Words that came back from a failed sending, and those written since. */
export function joined(unsent: string, written: string): string {
  return written === "" ? unsent : `${unsent}\n${written}`;
}
