import { expect, test } from 'vitest';
import type { Core } from '../../src/controller/core.ts';
import { decide } from '../../src/controller/decide.ts';
import {
  type AppRecord,
  historyRow,
  nothingKept,
  restoreRecord,
  saveRecord,
} from '../../src/controller/ledger-records.ts';
import { draftEvent } from '../../src/controller/events.ts';
import { soleLeadership } from '../../src/controller/replicas/leadership.ts';
import { UnitWork } from '../../src/controller/replicas/unit-work.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { MemoryStore, openMemoryLedger } from '../support/memory-ledger.ts';
import { application } from '../server/controller.ts';

const ID = 'Application/shop';
const suspended = { by: 'alice', reason: 'a move', sinceMs: 1 };

test('a decision stays in the ledger although a pass saves its result at the same time', async () => {
  const ledger = openMemoryLedger(new MemoryStore('lineage'));
  const { commit } = ledger;
  let last: Promise<void> = Promise.resolve();
  // Commits take time, and are made one after another, as in a database.
  ledger.commit = (transaction) =>
    (last = last.then(() => systemClock.sleep(1)).then(() => commit.call(ledger, transaction)));
  const sourceLedger = { ledger, clock: systemClock, source: 'default', actor: 'test' };
  const core = {
    sourceLedger,
    leadership: soleLeadership(ledger),
    unitWork: new UnitWork(),
    events: { publish: () => {} },
    records: new Map(),
    decided: new Map(),
  } as unknown as Core;
  for (const order of [
    ['decision', 'pass'],
    ['pass', 'decision'],
  ] as const) {
    const record = { id: ID, status: application('shop'), kept: nothingKept, written: '' } as unknown as AppRecord;
    const steps = {
      decision: () =>
        decide(core, record, {
          change: { suspended },
          line: historyRow('suspended', {}),
          event: draftEvent('application.suspended', 'suspended'),
        }),
      pass: () => {
        record.status = { ...record.status, failures: 1, lastAppliedRevision: 'main@sha1:1' };
        return saveRecord(sourceLedger, record);
      },
    };
    await Promise.all(order.map((step) => steps[step]()));
    const stored = await restoreRecord(sourceLedger, ID);
    expect(stored, order.join(', ')).toMatchObject({
      kept: { suspended },
      status: { lastAppliedRevision: 'main@sha1:1' },
    });
  }
});
