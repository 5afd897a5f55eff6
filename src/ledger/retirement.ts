import { isPostgres } from './address.ts';
import { canonicalJson } from '../model/json.ts';
import type { EpochMs } from '../model/time.ts';

/** Keeps a ledger that was copied from being written: it does not know what is done with the copy. */
export interface Retirement {
  /** Location of the copy: a URL, or an absolute path. */
  readonly copy: string;
  /** Name of the machine that has the path. */
  readonly host?: string | undefined;
  readonly atMs: EpochMs;
}

/** @param location of the ledger that was copied. */
export type OnRetired = (location: string, retirement: Retirement) => void;

/** The key of the row in the `meta` table that has it, if the ledger is retired. */
export const retired = 'retired';

export function retirementOf(text: string): Retirement {
  return JSON.parse(text) as Retirement;
}

export function retirementText({ copy, host, atMs }: Retirement): string {
  return canonicalJson({ copy, atMs, ...(host === undefined ? {} : { host }) });
}

/** Returns the location of a copy and its machine, for messages. */
export function placeOfCopy({ copy, host }: Retirement): string {
  return host === undefined ? copy : `${copy} on ${host}`;
}

/** Adds to the location of a copy what it does not say. A copy in PostgreSQL was made with the role that owns its tables. */
export function copyForControllers(copy: string): string {
  return isPostgres(copy) ? `${copy}, with the role of the controllers in its URL` : copy;
}
