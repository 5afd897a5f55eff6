import { beforeEach, expect, test } from 'vitest';
import { type LedFacts, Replicas } from '../../../src/controller/replicas/group.ts';
import type { LiveReplica, ReplicaReport, SharedLedger } from '../../../src/ledger/shared.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

const NOTHING: LedFacts = { platforms: [], regions: [], queued: 0, running: 0 };
const REPORT: ReplicaReport = { name: 'one', version: '0.0.0', address: null, startedMs: 0, facts: null };

let clock: VirtualClock;
/** What the database answers to the next heartbeat. */
let answer: readonly LiveReplica[];
let one: Replicas;
let beats = 0;

beforeEach(() => {
  clock = new VirtualClock();
  const shared = { beat: async () => answer } as unknown as SharedLedger;
  one = new Replicas(shared, { name: 'one', leaseMs: 15_000, clock });
});

/** Another replica, whose last heartbeat is a new one of such an age. */
function seen(name: string, confirms: boolean, seenAgoMs = 0): LiveReplica {
  beats += 1;
  return {
    ...REPORT,
    holder: name,
    name,
    seenAgoMs,
    isDraining: false,
    source: 'default',
    facts: { ...NOTHING, confirms, beat: beats } as unknown as LiveReplica['facts'],
  };
}

async function reads(...replicas: readonly LiveReplica[]): Promise<boolean> {
  answer = replicas;
  await one.shared.beat(REPORT, false);
  return one.isSourceConfirmed;
}

test('two heartbeats of the same replica confirm the source, for fifteen seconds', async () => {
  expect(one.isSourceConfirmed).toBe(false);
  expect(await reads(seen('two', true))).toBe(false);
  clock.advance(5_000);
  expect(await reads(seen('two', true))).toBe(true);
  clock.advance(15_000);
  expect(one.isSourceConfirmed).toBe(true);
  clock.advance(1);
  expect(one.isSourceConfirmed).toBe(false);
});

test('a heartbeat that is read twice is one, and does not end what two have confirmed', async () => {
  const first = seen('two', true);
  await reads(first);
  clock.advance(100);
  expect(await reads(first)).toBe(false);
  clock.advance(5_000);
  const second = seen('two', true);
  expect(await reads(second)).toBe(true);
  clock.advance(100);
  expect(await reads(second)).toBe(true);
  // It is valid from when it was read first.
  clock.advance(14_900);
  expect(await reads(second)).toBe(true);
  clock.advance(1);
  expect(await reads(second)).toBe(false);
});

test('each heartbeat of a process has a different number', async () => {
  const numbers: unknown[] = [];
  const shared = {
    beat: async ({ facts }: ReplicaReport) => {
      numbers.push((facts as unknown as LedFacts).beat);
      return [];
    },
  } as unknown as SharedLedger;
  const replicas = new Replicas(shared, { name: 'one', leaseMs: 15_000, clock });
  for (let count = 0; count < 3; count += 1) await replicas.shared.beat(REPORT, false);
  expect(numbers).toEqual([1, 2, 3]);
});

test('one heartbeat of each of two replicas confirms nothing', async () => {
  await reads(seen('two', true), seen('three', false));
  clock.advance(5_000);
  expect(await reads(seen('two', false), seen('three', true))).toBe(false);
});

test('the own heartbeat confirms nothing: it may be from when this replica led the source', async () => {
  await reads(seen('one', true));
  clock.advance(5_000);
  expect(await reads(seen('one', true))).toBe(false);
});

test('a heartbeat that is older than fifteen seconds confirms nothing, although its replica counts as alive', async () => {
  await reads(seen('two', true));
  clock.advance(5_000);
  expect(await reads(seen('two', true, 15_000))).toBe(true);
  clock.advance(5_000);
  expect(await reads(seen('two', true, 15_001))).toBe(false);
});

test('two heartbeats that were read more than fifteen seconds apart confirm nothing', async () => {
  await reads(seen('two', true));
  clock.advance(15_001);
  expect(await reads(seen('two', true))).toBe(false);
});
