const WORDS: ReadonlyMap<string, string> = new Map([
  ['0', 'editing'],
  ['1', 'enabled'],
  ['2', 'disabled'],
  ['3', 'under maintenance'],
]);

/** Returns the status of a region in words. A status without a word is shown as the platform sent it. */
export function regionStatusWord(status: string): string {
  return WORDS.get(status) ?? `unknown (${status})`;
}

/**
 * Returns whether a region accepts changes. The platform refuses writes to any other region, so Portolan does not send
 * them.
 */
export function takesChanges(status: string): boolean {
  return status === '1';
}
