import { hash } from 'node:crypto';
import type { ScopeKey } from '../model/ids.ts';
import type { EpochMs } from '../model/time.ts';

/** What a chain's first line names as its predecessor. */
export const chainStart = '0'.repeat(64);

/** One line of a scope's history as it is hashed: `detail` is JSON text, exactly as stored. */
export interface ChainLine {
  readonly scope: ScopeKey;
  /** Place in the scope's chain, from 1. */
  readonly line: number;
  readonly serial: number;
  readonly atMs: EpochMs;
  readonly actor: string;
  readonly event: string;
  readonly uid: string | null;
  readonly detail: string;
  /** Changes of objects, as `inventory.ts` stores them; null or absent for none. */
  readonly objects?: string | null | undefined;
}

/** SHA-256, in hex, over the previous line's hash and this line: changing any line changes every later hash. */
export function chainHash(previousHash: string, line: ChainLine): string {
  const { scope, serial, atMs, actor, event, uid, detail, objects = null } = line;
  const fields = [scope, line.line, serial, atMs, actor, event, uid, detail];
  // Lines from before objects were sealed keep their hash.
  return hash('sha256', `${previousHash}${JSON.stringify(objects === null ? fields : [...fields, objects])}`);
}
