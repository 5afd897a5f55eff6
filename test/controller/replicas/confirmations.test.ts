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

beforeEach(() => {
  clock = new VirtualClock();
  const shared = { beat: async () => answer } as unknown as SharedLedger;
  one = new Replicas(shared, { name: 'one', leaseMs: 15_000, clock });
});

/** Another replica, whose last heartbeat is so old. */
function seen(name: string, confirms: boolean, seenAgoMs = 0): LiveReplica {
  return {
    ...REPORT,
    name,
    seenAgoMs,
    isDraining: false,
    source: 'default',
    facts: { ...NOTHING, confirms } as unknown as LiveReplica['facts'],
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

test('one heartbeat of each of two replicas does not', async () => {
  await reads(seen('two', true), seen('three', false));
  clock.advance(5_000);
  expect(await reads(seen('two', false), seen('three', true))).toBe(false);
});

test('the own heartbeat does not, which may be of when this replica led the source', async () => {
  await reads(seen('one', true));
  clock.advance(5_000);
  expect(await reads(seen('one', true))).toBe(false);
});

test('one that is older than fifteen seconds does not, although its replica counts as alive', async () => {
  await reads(seen('two', true));
  clock.advance(5_000);
  expect(await reads(seen('two', true, 15_000))).toBe(true);
  clock.advance(5_000);
  expect(await reads(seen('two', true, 15_001))).toBe(false);
});

test('two that were read more than fifteen seconds after one another do not', async () => {
  await reads(seen('two', true));
  clock.advance(15_001);
  expect(await reads(seen('two', true))).toBe(false);
});
