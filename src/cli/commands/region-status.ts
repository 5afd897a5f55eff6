const WORDS: Readonly<Record<string, string>> = {
  0: 'editing',
  1: 'enabled',
  2: 'disabled',
  3: 'under maintenance',
};

/** A region's status in words. Only `1` takes changes; whatever the platform may say besides is shown as it came. */
export function regionStatusWord(status: string): string {
  return (Object.hasOwn(WORDS, status) ? WORDS[status] : undefined) ?? `unknown (${status})`;
}

/** A platform refuses writes to a region with any other status, and so do we, before sending them. */
export function takesChanges(status: string): boolean {
  return status === '1';
}
