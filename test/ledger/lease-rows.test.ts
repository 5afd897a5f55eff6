import { expect, test } from 'vitest';
import { LEASE_MS } from '../../src/ledger/postgres/lease.ts';
import { openSharedLedger } from '../../src/ledger/postgres/shared.ts';
import type { Lead, LeaseUnit, SharedLedger } from '../../src/ledger/shared.ts';
import { MemoryDatabase } from '../support/memory-database.ts';
import { MemoryStore } from '../support/memory-ledger.ts';
import { openMemoryShared } from '../support/memory-shared.ts';
import { freshSchema, querySharedServer, sharedUrl, trusting } from '../support/postgres-shared.ts';
import { seededRandom } from '../support/virtual-clock.ts';
import { codeOf, real, record, stillClock, transaction } from './fixtures.ts';

/** The model of the lease protocol and the simulator take `lease-rows.ts` for what PostgreSQL does: here both do the same. */

const UNITS: readonly LeaseUnit[] = ['platform:east', 'platform:west', 'source:default'];
const STEPS = 80;

interface Side {
  readonly processes: readonly SharedLedger[];
  /** Of each process, by unit: also leads that are long over. */
  readonly leads: Map<string, Lead>;
  expire(unit: LeaseUnit): Promise<void>;
}

test('random takings, transactions, releases and ends of leases come to the same as in PostgreSQL', async () => {
  const sides = [await inPostgres(), await inMemory()];
  const random = seededRandom(20);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random.next() * from.length)] as T;
  for (let step = 0; step < STEPS; step += 1) {
    const act = pick(['take', 'take', 'commit', 'commit', 'release', 'expire'] as const);
    const [unit, process] = [pick(UNITS), pick([0, 1])];
    const [found, expected] = [
      await perform(sides[0], act, unit, process),
      await perform(sides[1], act, unit, process),
    ];
    expect(found, `step ${step}: ${act} ${unit} by process ${process}`).toEqual(expected);
  }
  for (const { processes } of sides) await Promise.all(processes.map((process) => process.close()));
});

/** @returns what can be observed of it. */
async function perform(side: Side | undefined, act: string, unit: LeaseUnit, number: number): Promise<unknown> {
  const process = side?.processes[number];
  if (side === undefined || process === undefined) throw new Error('no such process');
  const key = `${number} ${unit}`;
  const lead = side.leads.get(key);
  switch (act) {
    case 'take': {
      const taken = await process.lead(unit);
      if (taken !== undefined) side.leads.set(key, taken);
      return { isTaken: taken !== undefined, led: await ledIn(process) };
    }
    case 'commit':
      return (
        lead && { code: await codeOf(lead.ledger.commit(transaction([record('x')], unit))), isOver: lead.over.aborted }
      );
    case 'release':
      await lead?.ledger.close();
      return { isOver: lead?.over.aborted, led: await ledIn(process) };
    default:
      await side.expire(unit);
      return ledIn(process);
  }
}

async function ledIn(process: SharedLedger): Promise<unknown> {
  return (await process.leaders()).map(({ unit, replica, leftMs }) => [unit, replica, leftMs > 0]);
}

async function inPostgres(): Promise<Side> {
  const schema = freshSchema();
  const access = trusting(await sharedUrl(schema));
  const open = (replica: string) =>
    openSharedLedger(access, { ...real, clock: stillClock, replica, actor: `test ${replica}` });
  return {
    processes: [await open('one'), await open('two')],
    leads: new Map(),
    expire: async (unit) => {
      await querySharedServer(`UPDATE ${schema}.lease SET expires_ms = 1 WHERE scope = '${unit}' AND expires_ms > 0`);
    },
  };
}

async function inMemory(): Promise<Side> {
  const database = new MemoryDatabase(new MemoryStore('lineage'), () => 1_000);
  const open = (replica: string) =>
    openMemoryShared(database, { ...real, clock: stillClock, replica, actor: `test ${replica}`, leaseMs: LEASE_MS });
  return {
    processes: [open('one'), open('two')],
    leads: new Map(),
    expire: async (unit) => {
      const row = database.leases.rows.get(unit);
      if (row === undefined || row.expiresMs === 0) return;
      const rows = new Map(database.leases.rows).set(unit, { ...row, expiresMs: 1 });
      database.leases = { ...database.leases, rows };
    },
  };
}
