/** A region's status in words. Only `1` takes changes; whatever the platform may say besides is shown as it came. */
export function regionStatusWord(status: string): string {
  switch (status) {
    case '0':
      return 'editing';
    case '1':
      return 'enabled';
    case '2':
      return 'disabled';
    case '3':
      return 'under maintenance';
    default:
      return `unknown (${status})`;
  }
}

/** A platform refuses writes to a region with any other status, and so do we, before sending them. */
export function takesChanges(status: string): boolean {
  return status === '1';
}
