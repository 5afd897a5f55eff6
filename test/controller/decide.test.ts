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
import { RecordTurns } from '../../src/controller/record-turns.ts';
import { draftEvent } from '../../src/controller/events.ts';
import { soleLeadership } from '../../src/controller/replicas/leadership.ts';
import { UnitWork } from '../../src/controller/replicas/unit-work.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { full, inputOutput } from '../../src/ledger/errors.ts';
import { type Ledger } from '../../src/ledger/ledger.ts';
import { MemoryStore, openMemoryLedger } from '../support/memory-ledger.ts';
import { application } from '../server/controller.ts';

const ID = 'Application/shop';
const suspended = { by: 'alice', reason: 'a move', sinceMs: 1 };

const SUSPENSION = {
  change: { suspended },
  line: historyRow('suspended', {}),
  event: draftEvent('application.suspended', 'suspended'),
};

function coreOf(ledger: Ledger): Core {
  return {
    sourceLedger: { ledger, clock: systemClock, source: 'default', actor: 'test' },
    leadership: soleLeadership(ledger),
    unitWork: new UnitWork(),
    events: { publish: () => {} },
    records: new Map(),
    decided: new Map(),
    recordTurns: new RecordTurns(),
    queue: { add: () => {} },
    stop: new AbortController().signal,
    options: { clock: systemClock, log: { error: (text: string) => expect.fail(text) } },
  } as unknown as Core;
}

function recordOf({ recordTurns: turns }: Core): AppRecord {
  return { id: ID, status: application('shop'), kept: nothingKept, written: '', turns } as unknown as AppRecord;
}

test('a decision stays in the ledger although a pass saves its result at the same time', async () => {
  const ledger = openMemoryLedger(new MemoryStore('lineage'));
  const { commit } = ledger;
  let last: Promise<void> = Promise.resolve();
  // Commits take time, and are made one after another, as in a database.
  ledger.commit = (transaction) =>
    (last = last.then(() => systemClock.sleep(1)).then(() => commit.call(ledger, transaction)));
  const core = coreOf(ledger);
  const { sourceLedger } = core;
  for (const order of [
    ['decision', 'pass'],
    ['pass', 'decision'],
  ] as const) {
    const record = recordOf(core);
    const steps = {
      decision: () => decide(core, record, SUSPENSION),
      pass: () => {
        record.status = { ...record.status, failures: 1, lastAppliedRevision: 'main@sha1:1' };
        return saveRecord({ ...sourceLedger, unit: 'platform:default', isShared: false }, record);
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

test('a decision is answered with success if and only if it is stored, also when the disk is full by then', async () => {
  const store = new MemoryStore('lineage');
  const ledger = openMemoryLedger(store);
  const { commit } = ledger;
  const core = coreOf(ledger);
  const record = recordOf(core);
  let left = 1;
  ledger.commit = async (transaction) => {
    if (left === 0) throw full('memory', undefined);
    left -= 1;
    await commit.call(ledger, transaction);
  };
  await decide(core, record, SUSPENSION);
  expect(await restoreRecord(core.sourceLedger, ID)).toMatchObject({ kept: { suspended } });
  const resumed = decide(core, record, { ...SUSPENSION, change: { suspended: null } });
  await expect(resumed).rejects.toMatchObject({ code: 'ledger/full' });
  expect(record.kept.suspended).toEqual(suspended);
});

test('a decision that can be read only once its commit ends, such as one that waits for a standby, stays', async () => {
  const store = new MemoryStore('lineage');
  const ledger = openMemoryLedger(store);
  const { commit } = ledger;
  const core = { ...coreOf(ledger), leadership: { ...soleLeadership(ledger), isShared: true } };
  const record = recordOf(core);
  let isFirst = true;
  let end: (() => Promise<void>) | undefined;
  // The next commit needs the same lease, and so waits until the first one has ended.
  ledger.commit = async (transaction) => {
    if (isFirst) {
      isFirst = false;
      end = () => commit.call(ledger, transaction);
      throw inputOutput('memory', new Error('no answer'));
    }
    await end?.();
    end = undefined;
    await commit.call(ledger, transaction);
  };
  await expect(decide(core, record, SUSPENSION)).rejects.toMatchObject({ code: 'ledger/io' });
  expect(record.kept.suspended).toEqual(suspended);
  await saveRecord({ ...core.sourceLedger, unit: 'platform:default', isShared: true }, record);
  expect(record.kept.suspended).toEqual(suspended);
  expect(await restoreRecord(core.sourceLedger, ID)).toMatchObject({ kept: { suspended } });
});

test('the status of an application that a commit has moved is not stored by the lease of its former platform', async () => {
  const core = coreOf(openMemoryLedger(new MemoryStore('lineage')));
  const { sourceLedger } = core;
  const saved = saveRecord({ ...sourceLedger, unit: 'platform:former', isShared: false }, recordOf(core));
  await expect(saved).rejects.toMatchObject({ code: 'controller/not-leader', disposition: 'retry' });
  expect(await restoreRecord(sourceLedger, ID)).toBeUndefined();
});
