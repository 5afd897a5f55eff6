/** Describes the process that has a lease. */
export interface LeaseHolder {
  /** Random id of the process. */
  readonly id: string;
  /** Name of a replica, without spaces; undefined: the process is a command. */
  readonly replica?: string | undefined;
  /** The source that it works on; undefined: it is a command, or an earlier version, which does not say so. */
  readonly source?: string | undefined;
}

/** Returns the text that a lease stores: three words at most. Earlier versions read the second one only. */
export function holderText({ id, replica, source }: LeaseHolder): string {
  return [id, ...(replica === undefined ? [] : [replica, ...(source === undefined ? [] : [wordOf(source)])])].join(' ');
}

export function readHolder(text: string): LeaseHolder {
  const [id = '', replica, source] = text.split(' ');
  return { id, replica, source: source === undefined ? undefined : decodeURIComponent(source) };
}

/** Returns a source as the third word of a holder has it. */
export function wordOf(source: string): string {
  return encodeURIComponent(source);
}

/**
 * Whether two holders work on different sources. A platform has one leader for all sources, which reconciles its own source only, so that
 * the applications of the other one would never be reconciled: the controllers of one source at a time have the ledger.
 */
export function areRivals(left: Pick<LeaseHolder, 'source'>, right: Pick<LeaseHolder, 'source'>): boolean {
  return left.source !== undefined && right.source !== undefined && left.source !== right.source;
}
