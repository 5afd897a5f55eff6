/** What the statements of PostgreSQL do with the leases of a ledger, as pure functions: each is one atomic step of the database. */

import { areRivals, readHolder } from '../../src/ledger/lease-holder.ts';

/** One row of the table `lease`. Times are of the database. */
export interface LeaseRow {
  /** Text of `lease-holder.ts`. */
  readonly holder: string;
  readonly epoch: number;
  readonly sinceMs: number;
  /** Another process may take the lease from then on; 0: its holder has given it up. */
  readonly expiresMs: number;
}

/** The leases of a ledger by their scope, and the newest epoch. Steps return another one and leave this as it is. */
export interface Leases {
  readonly epoch: number;
  readonly rows: ReadonlyMap<string, LeaseRow>;
}

export const noLeases: Leases = { epoch: 0, rows: new Map() };

/** The lease of a whole ledger. It excludes every other lease, and every other lease excludes it. */
export const WHOLE = '*';

/** Whose lease a statement means. */
export interface Claim {
  readonly scope: string;
  readonly holder: string;
  readonly epoch: number;
}

export interface Taking {
  readonly scope: string;
  readonly holder: string;
  readonly leaseMs: number;
}

export interface Taken {
  readonly leases: Leases;
  /** undefined: another process has it, or one that excludes it. */
  readonly epoch: number | undefined;
}

/** Takes a lease that no process has. Expired leases that it excludes cannot be renewed afterwards. */
export function takeLease(leases: Leases, { scope, holder, leaseMs }: Taking, nowMs: number): Taken {
  const excludes = (other: string, row: LeaseRow): boolean =>
    other !== scope &&
    ((scope === WHOLE) !== (other === WHOLE) || areRivals(readHolder(row.holder), readHolder(holder)));
  const isBusy = [...leases.rows].some(
    ([other, row]) => row.expiresMs > nowMs && (other === scope || excludes(other, row)),
  );
  if (isBusy) return { leases, epoch: undefined };
  const rows = new Map(leases.rows);
  for (const [other, row] of rows) if (excludes(other, row)) rows.set(other, { ...row, holder: '' });
  const epoch = leases.epoch + 1;
  rows.set(scope, { holder, epoch, sinceMs: nowMs, expiresMs: nowMs + leaseMs });
  return { leases: { epoch, rows }, epoch };
}

/** Whether a lease is still held by who took it. One that has expired is, until another process takes it; one that was given up is not. */
export function holdsLease({ rows }: Leases, { scope, holder, epoch }: Claim): boolean {
  const row = rows.get(scope);
  return row !== undefined && row.holder === holder && row.epoch === epoch && row.expiresMs > 0;
}

/** Renews a lease; each transaction does so too. @returns undefined if another process took it over, or it was given up. */
export function renewLease(leases: Leases, claim: Claim, leaseMs: number, nowMs: number): Leases | undefined {
  return holdsLease(leases, claim) ? withExpiry(leases, claim, nowMs + leaseMs) : undefined;
}

/** Gives a lease up: another process may take it at once. */
export function releaseLease(leases: Leases, claim: Claim): Leases {
  return holdsLease(leases, claim) ? withExpiry(leases, claim, 0) : leases;
}

function withExpiry({ epoch, rows }: Leases, { scope }: Claim, expiresMs: number): Leases {
  const row = rows.get(scope) as LeaseRow;
  return { epoch, rows: new Map(rows).set(scope, { ...row, expiresMs }) };
}
