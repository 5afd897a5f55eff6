import { expect, test } from 'vitest';
import { seededRandom } from '../support/virtual-clock.ts';
import { claimsIn } from './replicas/beliefs.ts';
import { type Content, FIRST, nextContent } from './replicas/manifests.ts';
import { type Acknowledged, lostRecords, type Recorded } from './replicas/oracles/acknowledged.ts';
import { type Arrival, strayWrites, type TimedIntent } from './replicas/oracles/arrivals.ts';
import { type Claim, falseClaims } from './replicas/oracles/claims.ts';
import { repeatedRemovals } from './replicas/oracles/effects.ts';
import { unexpected } from './replicas/oracles/expected.ts';
import { earlyGrants, type LeaseChange, tenuresOf } from './replicas/oracles/leases.ts';

const unit = 'platform:p0';
const lease = (atMs: number, epoch: number, expiresMs: number): LeaseChange => {
  return { atMs, unit, epoch, pid: epoch * 100, expiresMs };
};
/** Epoch 1 from 0 to 3000, extended once, and epoch 2 from 3500 on. */
const expired = [lease(0, 1, 2_000), lease(1_000, 1, 3_000), lease(3_500, 2, 5_500)];
/** Epoch 1 was released at 1500, and epoch 2 followed at once. */
const released = [lease(0, 1, 2_000), lease(1_000, 1, 3_000), lease(1_500, 1, 0), lease(1_510, 2, 3_510)];

const arrival = (afterMs: number, part: Partial<Arrival> = {}): Arrival => {
  return { unit, request: 'PUT /port', hash: 'a', afterMs, seenMs: afterMs + 10, ...part };
};
const intent = (id: string, epoch: number, openedMs: number, part: Partial<TimedIntent> = {}): TimedIntent => {
  return { id, unit, epoch, hash: 'a', openedMs, closedMs: undefined, ...part };
};

test.for<readonly [string, readonly LeaseChange[], readonly Arrival[], readonly TimedIntent[], string | undefined]>([
  ['an open intent and a valid lease', expired, [arrival(2_900)], [intent('i', 1, 2_000)], undefined],
  ['a test that reads late', expired, [arrival(2_990, { seenMs: 9_000 })], [intent('i', 1, 2_000)], undefined],
  ['no intent', expired, [arrival(100)], [intent('i', 1, 0, { hash: 'b' })], 'no intent promised it'],
  ['an intent of another platform', expired, [arrival(100)], [intent('i', 1, 0, { unit: 'platform:p1' })], 'no intent'],
  ['an intent that was recorded later', expired, [arrival(100)], [intent('i', 1, 500)], 'no intent promised it'],
  ['one write too many', expired, [arrival(100), arrival(200)], [intent('i', 1, 0)], 'twice for intent i of epoch 1'],
  ['a closed intent', expired, [arrival(900)], [intent('i', 1, 0, { closedMs: 500 })], '400 ms after intent i'],
  ['an expired lease', expired, [arrival(3_100)], [intent('i', 1, 2_000)], '100 ms after the lease of epoch 1 expired'],
  ['a lease that another process has', expired, [arrival(4_000)], [intent('i', 1, 2_000)], '500 ms after epoch 2 was'],
  [
    'a released lease',
    released.slice(0, 3),
    [arrival(1_600)],
    [intent('i', 1, 100)],
    '100 ms after the lease of epoch 1 was',
  ],
  ['an epoch that was not granted', expired, [arrival(100)], [intent('i', 7, 0)], 'never granted its epoch'],
  [
    'a stale write beside that of the successor',
    expired,
    [arrival(4_000), arrival(4_500)],
    [intent('old', 1, 2_900, { closedMs: 3_600 }), intent('new', 2, 3_900)],
    'twice for intent new of epoch 2',
  ],
  [
    'a second intent with the same request, where the first was not sent',
    expired,
    [arrival(4_000)],
    [intent('old', 1, 2_900), intent('new', 2, 3_900)],
    undefined,
  ],
])('a write with %s', ([, changes, arrivals, intents, violation]) => {
  const found = strayWrites(arrivals, intents, tenuresOf(changes));
  expect(found).toEqual(violation === undefined ? [] : [expect.stringContaining(violation)]);
});

const claim = (fromMs: number, leftMs: number, part: Partial<Claim> = {}): Claim => {
  return { replica: 'replica-1', pid: 100, unit, fromMs, toMs: fromMs + 20, leftMs, ...part };
};

test.for<readonly [string, readonly LeaseChange[], Claim, string | undefined]>([
  ['of the leader', expired, claim(1_500, 1_400), undefined],
  ['of the next leader', expired, claim(4_000, 1_000, { pid: 200 }), undefined],
  ['of a lease that was renewed while it answered', expired, claim(990, 2_000), undefined],
  ['of a process that was stopped while it answered', expired, claim(2_500, 400, { toMs: 9_000 }), undefined],
  ['after the release, until the lease would have expired', released, claim(1_600, 1_300), undefined],
  ['of more time than the lease had', expired, claim(1_500, 1_900), '400 ms more than the lease of epoch 1 allowed'],
  ['after another process took the lease', expired, claim(4_000, 500), 'epoch 2 of pid 200 did'],
  ['after the lease would have expired', released, claim(3_200, 100), '300 ms more than the lease of epoch 1 allowed'],
  ['of a process that never had the lease', expired, claim(1_500, 500, { pid: 300 }), 'never had its lease'],
  [
    'of a valid lease that another process was granted too early',
    [lease(0, 1, 2_000), lease(1_000, 2, 3_000)],
    claim(1_500, 400),
    '500 ms after epoch 2 was granted; epoch 2 of pid 200 did',
  ],
])('a claim %s', ([, changes, made, violation]) => {
  const found = falseClaims([made], tenuresOf(changes));
  expect(found).toEqual(violation === undefined ? [] : [expect.stringContaining(violation)]);
});

test('claims are read from the metrics', () => {
  const text = `# HELP portolan_lease_held
portolan_lease_held{unit="platform:p0"} 1
portolan_lease_held{unit="platform:p1"} 0
portolan_lease_remaining_seconds{unit="platform:p0"} 1.25
`;
  expect(claimsIn(text)).toEqual([{ unit, leftMs: 1_250 }]);
});

test('a lease may be granted once the former one has expired or was released', () => {
  expect(earlyGrants(tenuresOf(expired))).toEqual([]);
  expect(earlyGrants(tenuresOf(released))).toEqual([]);
  expect(earlyGrants(tenuresOf([lease(0, 1, 2_000), lease(1_500, 2, 3_500)]))).toEqual([
    'platform:p0: epoch 2 was granted 500 ms before epoch 1 expired',
  ]);
});

test('a fault that strikes leaders ends their leadership, and one that is shorter than a lease lets none expire', () => {
  const struck = [{ unit, epoch: 1 }];
  expect(unexpected('ends', struck, tenuresOf(expired))).toEqual([]);
  expect(unexpected('ends', struck, tenuresOf(expired.slice(0, 2)))).toEqual([
    'platform:p0: epoch 1 survived the fault',
  ]);
  expect(unexpected('stays', struck, tenuresOf(expired.slice(0, 2)))).toEqual([]);
  expect(unexpected('stays', struck, tenuresOf(released))).toEqual([]);
  expect(unexpected('stays', struck, tenuresOf(expired))).toEqual([
    'platform:p0: epoch 1 expired, and epoch 2 followed; the fault was shorter than the lease',
  ]);
});

test('records that were acknowledged before a fault are missed after it', () => {
  const before: Acknowledged = {
    outcomes: new Map([['i', 'applied {}']]),
    commands: new Set(['c']),
    heads: new Map([['p0/a/b/1', '3 abc']]),
    suspensions: new Set(['cycle 1']),
  };
  const now: Recorded = {
    outcomes: before.outcomes,
    commands: new Map([['c', true]]),
    lines: new Map([['p0/a/b/1', new Set(['2 def', '3 abc', '4 fed'])]]),
    suspensions: before.suspensions,
  };
  expect(lostRecords(before, now)).toEqual([]);
  const none: Recorded = { outcomes: new Map(), commands: new Map(), lines: new Map(), suspensions: new Set() };
  expect(lostRecords(before, none)).toEqual([
    'the outcome of intent i was applied {} and is lost',
    'the confirmed command c is lost',
    'the history of p0/a/b/1 has lost line 3 abc',
    'the confirmed suspension "cycle 1" is not in the history',
  ]);
  const changed = { ...now, outcomes: new Map([['i', 'rejected {}']]), commands: new Map([['c', false]]) };
  expect(lostRecords(before, changed)).toEqual([
    'the outcome of intent i was applied {} and is rejected {}',
    'the confirmed command c has no result',
  ]);
});

test('a removal that finds nothing is a second one', () => {
  const request = {
    seq: 1,
    method: 'DELETE',
    path: '/rules/1',
    operation: 'deleteRule',
    status: 200,
    isWrite: true,
    effectApplied: true,
    fault: null,
    atMs: 0,
  };
  const second = { ...request, status: 404, effectApplied: false };
  expect(repeatedRemovals([request])).toEqual([]);
  expect(repeatedRemovals([request, second])).toEqual(['a second deleteRule for /rules/1 arrived (answer 404)']);
});

test('generations remove rules and ports, and one seed gives the same ones', () => {
  const contents = (seed: number): readonly Content[] => {
    const random = seededRandom(seed);
    const all = [FIRST];
    for (let n = 0; n < 20; n += 1) all.push(nextContent(all.at(-1) ?? FIRST, random));
    return all;
  };
  const [one, same] = [contents(1), contents(1)];
  expect(one).toEqual(same);
  const changes = one.slice(1).map((next, at) => [one[at] ?? FIRST, next] as const);
  expect(changes.filter(([from, to]) => [...to.removed].some((n) => !from.removed.has(n))).length).toBeGreaterThan(5);
  expect(changes.filter(([from, to]) => [...from.removed].some((n) => !to.removed.has(n))).length).toBeGreaterThan(1);
  expect(
    changes.filter(([from, to]) => from.extraPort !== undefined && from.extraPort !== to.extraPort).length,
  ).toBeGreaterThan(3);
});
