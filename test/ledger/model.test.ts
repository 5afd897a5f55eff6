import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Ledger, LedgerOperation, LedgerTransaction } from '../../src/ledger/ledger.ts';
import { freshSchema, querySharedServer, sharedUrl, trusting } from '../support/postgres-shared.ts';
import { openPostgresLedger } from '../../src/ledger/postgres/open.ts';
import { MemoryStore, openMemoryLedger } from '../support/memory-ledger.ts';
import { openSqliteLedger } from '../../src/ledger/sqlite.ts';
import type { Json, JsonObject } from '../../src/model/json.ts';
import type { IntentState } from '../../src/model/owned.ts';
import { blog, codeOf, intent, object, real, shop, snapshot, viewOf } from './fixtures.ts';

/** JSON as it is after one round through text: no -0, no undefined. */
const json = fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.parse(JSON.stringify(value)) as Json);
const fields = fc
  .dictionary(fc.string({ unit: 'grapheme', maxLength: 6 }), json, { maxKeys: 3 })
  .map((value) => JSON.parse(JSON.stringify(value)) as JsonObject);
const text = fc.string({ unit: 'grapheme', maxLength: 8 });
/** Few names, so that operations meet. */
const uid = fc.constantFrom('u1', 'u2', 'u3');
const id = fc.constantFrom('i1', 'i2', 'i3', 'i4', 'i5', 'i6');
const time = fc.integer({ min: 0, max: 2 ** 45 });

function operation(scope: string): fc.Arbitrary<LedgerOperation> {
  const here = (name: string) => `${scope} ${name}`;
  return fc.oneof(
    fc
      .record({
        uid: uid.map(here),
        source: fc.constantFrom('default', 'other'),
        naturalKey: fc.constantFrom('a', 'b'),
        origin: fc.constantFrom('created', 'adopted', 'observed'),
        state: fc.constantFrom('present', 'gone', 'hold'),
        remoteId: fc.option(text),
        remoteAux: fields,
        lastApplied: fields,
        obligation: fc.option(fields),
        failures: fc.nat(5),
      })
      .map((values): LedgerOperation => ({ op: 'put-object', object: object({ ...values, scope }) })),
    uid.map((name): LedgerOperation => ({ op: 'drop-object', uid: here(name) })),
    fc
      .record({
        id,
        uid: uid.map(here),
        operation: fc.constantFrom('addPort', 'install', 'upgrade'),
        epoch: fc.constantFrom(1, 1, 1, 1, 1, 1, 2),
        action: fields,
        preimage: json,
        outcome: json,
        createdMs: time,
      })
      .map((values): LedgerOperation => ({ op: 'open-intent', intent: intent({ ...values, scope }) })),
    fc
      .record(
        {
          id,
          state: fc.constantFrom<Exclude<IntentState, 'open'>[]>(
            'unknown',
            'applied',
            'rejected',
            'superseded',
            'resolved',
          ),
          settleMs: time,
          outcome: json,
          resolvedBy: text,
        },
        { requiredKeys: ['id', 'state'] },
      )
      .map((values): LedgerOperation => ({ op: 'move-intent', ...values })),
    fc
      .record({
        id: fc.constantFrom('s1', 's2'),
        source: fc.constantFrom('default', 'other'),
        acceptedMs: time,
        pruneOk: fc.boolean(),
      })
      .map((values): LedgerOperation => ({ op: 'accept-snapshot', snapshot: snapshot(values) })),
    fc
      .record({ key: fc.constantFrom('one', 'two'), value: text })
      .map((values): LedgerOperation => ({ op: 'set-fact', ...values })),
    fc
      .record({ event: text, uid: uid.map(here), detail: json }, { requiredKeys: ['event', 'detail'] })
      .map((values): LedgerOperation => ({ op: 'record', ...values })),
  );
}

const step: fc.Arbitrary<LedgerTransaction> = fc.constantFrom(shop, blog).chain((scope) =>
  fc.record({
    scope: fc.constant(scope),
    actor: text,
    atMs: time,
    operations: fc.array(operation(scope), { maxLength: 5 }),
  }),
);

async function outcomes(ledger: Ledger, steps: readonly LedgerTransaction[]): Promise<readonly unknown[]> {
  const codes: (string | undefined)[] = [];
  for (const transaction of steps) codes.push(await codeOf(ledger.commit(transaction)));
  return codes;
}

test('after any transactions memory and SQLite have refused the same ones and show the same', async () => {
  let refused = 0;
  let accepted = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
      const memory = openMemoryLedger(new MemoryStore('lineage'));
      const sqlite = await openSqliteLedger(':memory:', real);
      try {
        const codes = await outcomes(memory, steps);
        expect(await outcomes(sqlite, steps)).toEqual(codes);
        expect(await viewOf(sqlite)).toEqual(await viewOf(memory));
        accepted += codes.filter((code) => code === undefined).length;
        refused += codes.filter((code) => code !== undefined).length;
      } finally {
        await sqlite.close();
      }
    }),
    { numRuns: 300 },
  );
  // The generator would prove nothing if it met only one side.
  expect(accepted).toBeGreaterThan(300);
  expect(refused).toBeGreaterThan(300);
});

test('after any transactions PostgreSQL has refused the same ones as memory and shows the same', async () => {
  const schema = freshSchema();
  const access = trusting(await sharedUrl(schema));
  await (await openPostgresLedger(access, real)).close();
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
      await querySharedServer(
        `SET search_path TO ${schema}; TRUNCATE history, object, intent, snapshot, fact, chain; UPDATE meta SET v = '0' WHERE k IN ('serial', 'epoch')`,
      );
      const memory = openMemoryLedger(new MemoryStore('lineage'));
      const postgres = await openPostgresLedger(access, real);
      try {
        expect(await outcomes(postgres, steps)).toEqual(await outcomes(memory, steps));
        expect(await viewOf(postgres)).toEqual(await viewOf(memory));
      } finally {
        await postgres.close();
      }
    }),
    { numRuns: 40 },
  );
});

test('a transaction that is refused leaves nothing, at whatever operation it fails', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 4 }), step, fc.nat(5), async (before, last, at) => {
      const fault: LedgerOperation = { op: 'move-intent', id: 'nobody', state: 'applied' };
      const doomed = { ...last, operations: last.operations.toSpliced(at, 0, fault) };
      const store = new MemoryStore('lineage');
      const ledgers = [openMemoryLedger(store), await openSqliteLedger(':memory:', real)];
      for (const ledger of ledgers) {
        await outcomes(ledger, before);
        const untouched = await viewOf(ledger);
        expect(await codeOf(ledger.commit(doomed))).toBeDefined();
        expect(await viewOf(ledger)).toEqual(untouched);
        const after = { ...last, operations: [{ op: 'record', event: 'after', detail: null }] } as const;
        await ledger.commit(after);
        expect((await ledger.history({ limit: 1 }))[0]?.event).toBe('after');
      }
      await ledgers[1]?.close();
    }),
    { numRuns: 150 },
  );
});
