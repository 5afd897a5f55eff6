import type { LedgerOperation } from '../../src/ledger/ledger.ts';
import type { Lead, LeaseUnit, ReplicaReport, SharedLedger } from '../../src/ledger/shared.ts';
import { intent, object, record, transaction } from './fixtures.ts';

/** One ledger that several processes share. No lease is renewed but by transactions. */
export interface SharedUnderTest {
  /** Opens the ledger as one more process. */
  open(replica: string, source?: string): Promise<SharedLedger>;
  /** Lets the lease of a unit expire by the database's clock; others may expire too. */
  expire(unit: LeaseUnit): Promise<void>;
  /** Sets the clock of the database by which heartbeats are read; a negative time sets it back. */
  setClock(byMs: number): Promise<void>;
}

export type Both = () => { readonly under: SharedUnderTest; readonly one: SharedLedger; readonly two: SharedLedger };

export const report = (name: string): ReplicaReport => ({
  name,
  version: '1.2.3',
  address: name === 'one' ? 'https://one.example.test' : null,
  startedMs: 7,
  facts: { load: [1, name] },
});

export const scopeOf = (platform: string): string => `${platform}/team-a/region-1/42`;

export const fact = (key: string, value: string, was?: string | null): LedgerOperation => ({
  op: 'set-fact',
  key,
  value,
  was,
});

export function step(platform: string, epoch: number, n: number) {
  const scope = scopeOf(platform);
  return transaction(
    [
      { op: 'put-object', object: object({ scope, naturalKey: `${n}` }) },
      { op: 'open-intent', intent: intent({ id: `${platform}-${n}`, uid: `${platform}-${n}`, scope, epoch }) },
      record(`step ${n}`),
    ],
    scope,
  );
}

export async function leadOf(ledger: SharedLedger, unit: LeaseUnit): Promise<Lead> {
  const lead = await ledger.lead(unit);
  if (lead === undefined) throw new Error(`${unit} is led by another process`);
  return lead;
}
