import { expect, onTestFinished, test, vi } from 'vitest';
import { HeldLead } from '../../../src/controller/replicas/held-lead.ts';
import { platformUnit } from '../../../src/controller/replicas/leadership.ts';
import { readOnlyDatabase } from '../../../src/ledger/postgres/faults.ts';
import { inputOutput, replaced, retiredLedger } from '../../../src/ledger/errors.ts';
import type { LeaseUnit } from '../../../src/ledger/shared.ts';
import { Group } from './group.ts';

const LEASE_MS = 15_000;

function groupOf(platforms: number, leaseMs = LEASE_MS): Group {
  const group = new Group(platforms, leaseMs);
  onTestFinished(async () => {
    for (const replica of group.replicas.values()) replica.resume();
    await Promise.all([...group.replicas.values()].map(({ leadership }) => leadership.drain()));
  });
  return group;
}

/** Starts replicas one after another, and lets them divide the units. */
async function divided(group: Group, ...names: readonly string[]): Promise<Group> {
  for (const name of names) group.add(name);
  await group.pass(LEASE_MS * 8);
  return group;
}

test('one replica leads everything at once', async () => {
  const group = groupOf(30);
  const { gained } = group.add('a');
  expect(await group.until(() => group.isWhole, 'it leads everything')).toBeLessThan(2_000);
  expect(new Set(gained.map(({ from }) => from))).toEqual(new Set(['free']));
});

test('a replica whose heartbeats are refused says why once, with the remedy, and leads once they are accepted', async () => {
  const group = groupOf(1);
  const replica = group.add('a');
  replica.faultOf = (operation) => (operation === 'beat' ? readOnlyDatabase('postgres://x') : undefined);
  const refusals = (): readonly string[] => replica.lines.filter((line) => line.includes('read-only'));
  await group.pass(LEASE_MS * 4);
  expect(refusals()).toEqual([expect.stringMatching(/heartbeats.*code=ledger\/refused.*Name the primary server/)]);
  expect(replica.led(group.units)).toEqual([]);
  replica.faultOf = () => undefined;
  await group.until(() => group.isWhole, 'it leads everything');
  replica.faultOf = (operation) => (operation === 'beat' ? readOnlyDatabase('postgres://x') : undefined);
  await group.pass(LEASE_MS * 4);
  expect(refusals()).toHaveLength(2);
});

test('three replicas divide thirty platforms, and none leads more than thirteen', async () => {
  const group = await divided(groupOf(30), 'a', 'b', 'c');
  expect(group.isWhole).toBe(true);
  expect(Math.max(...group.loads())).toBeLessThanOrEqual(13);
  const moved = [...group.replicas.values()].flatMap(({ lost }) => lost);
  expect(moved.map(({ because }) => because)).toEqual(moved.map(() => 'handed-over'));
  expect(new Set(moved.map(({ unit }) => unit)).size).toBe(moved.length);
});

test('units are handed over one at a time, each after its work has ended', async () => {
  const group = groupOf(8);
  let working = 0;
  let most = 0;
  group.add('a', {
    work: async ({ type }) => {
      if (type !== 'leaving') return;
      most = Math.max(most, (working += 1));
      await group.pass(2_000);
      working -= 1;
    },
  });
  await group.until(() => group.isWhole, 'a leads everything');
  group.add('b');
  await group.until(() => group.isWhole && Math.min(...group.loads()) >= 3, 'b has its part');
  expect(most).toBe(1);
});

test('the units of a replica that is killed are taken within a lease and two seconds', async () => {
  const group = await divided(groupOf(10), 'a', 'b', 'c');
  const victim = group.replicas.get('b');
  const units = victim?.led(group.units) ?? [];
  victim?.pause();
  group.replicas.delete('b');
  const tookMs = await group.until(() => group.isWhole, 'the others lead its units');
  expect(units.length).toBeGreaterThan(1);
  expect(tookMs).toBeLessThan(LEASE_MS + 2_000);
  const taken = [...group.replicas.values()].flatMap(({ gained }) => gained.slice(-units.length));
  expect(taken.filter(({ unit, from }) => units.includes(unit) && from === 'expired').length).toBe(units.length);
});

test('a replica that died is left nothing after the clock of the database was set back', async () => {
  const group = await divided(groupOf(6), 'a', 'b', 'c');
  group.replicas.get('c')?.pause();
  const live = () => ['a', 'b'].map((name) => group.replicas.get(name)).filter((replica) => replica !== undefined);
  const led = () => live().reduce((sum, replica) => sum + replica.led(group.units).length, 0);
  await group.until(() => led() === group.units.length, 'the survivors lead everything');
  await group.pass(LEASE_MS * 8);
  const handedOver = () => live().flatMap(({ lost }) => lost).length;
  const before = handedOver();
  group.setBackMs = 3_600_000;
  await group.pass(4_000_000);
  expect([handedOver(), led()]).toEqual([before, group.units.length]);
});

test('the units of a replica that ends are taken within a second, each as soon as its work has ended', async () => {
  const group = groupOf(10);
  const slow = platformUnit('p03');
  group.add('a', {
    work: async ({ type, lead }) => {
      if (type === 'leaving' && lead.unit === slow) await group.pass(5_000);
    },
  });
  await group.until(() => group.isWhole, 'a leads everything');
  group.add('b');
  await group.pass(1_000);
  const a = group.replicas.get('a');
  const ended = a?.leadership.drain();
  const others = group.units.filter((unit) => unit !== slow);
  const b = group.replicas.get('b');
  const tookMs = await group.until(() => b?.led(group.units).length === others.length, 'b leads all but the slow one');
  expect(tookMs).toBeLessThan(1_000);
  expect(b?.leadership.of(slow)).toBeUndefined();
  await ended;
  expect(await group.until(() => b?.leadership.of(slow) !== undefined, 'b leads the slow one')).toBeLessThan(1_000);
  expect(b?.gained.at(-1)?.from).toBe('released');
});

test('a paused replica is fenced when it continues, returns to standby and may lead again', async () => {
  const group = await divided(groupOf(4), 'a', 'b');
  const [a, b] = [...group.replicas.values()];
  const units = a?.led(group.units) ?? [];
  const lead = a?.leadership.of(units[0] as LeaseUnit);
  a?.pause();
  await group.until(() => b?.led(group.units).length === group.units.length, 'b leads everything');
  expect(lead?.validUntilMs()).toBeLessThan(group.clock.monotonic());
  a?.resume();
  await expect(lead?.ledger.commit({ scope: lead.unit, actor: 'a', atMs: 1, operations: [] })).rejects.toMatchObject({
    code: 'ledger/fenced',
  });
  expect(a?.refusals).toEqual(['taken-over']);
  await group.until(() => a?.led(group.units).length === 0, 'a leads nothing');
  expect(a?.lost.map(({ because }) => because)).toEqual(units.map(() => 'lost'));
  await group.until(() => group.isWhole && Math.min(...group.loads()) >= 1, 'a leads some again');
});

test('a machine that was suspended with its monotonic clock trusts no lease that another replica could have taken', async () => {
  const group = await divided(groupOf(4), 'a', 'b');
  const [a, b] = [...group.replicas.values()];
  const lead = a?.leadership.of(a.led(group.units)[0] as LeaseUnit);
  const leftMs = (): number => (lead?.validUntilMs() ?? 0) - (a?.clock.monotonic() ?? 0);
  a?.suspend();
  const beforeMs = leftMs();
  await group.pass(1_000);
  a?.resume();
  // What it waits for has not come yet: it has renewed nothing.
  expect(leftMs()).toBe(beforeMs - 1_000);
  a?.suspend();
  await group.until(() => b?.led(group.units).length === group.units.length, 'b leads everything');
  a?.resume();
  expect(leftMs()).toBeLessThan(0);
  expect(() => group.leaders()).not.toThrow();
  await group.until(() => a?.led(group.units).length === 0, 'a leads nothing');
  await group.until(() => group.isWhole && Math.min(...group.loads()) >= 1, 'a leads some again');
});

test('a replica that has just lost its units takes them within a second when their new leader ends', async () => {
  const group = await divided(groupOf(4), 'a', 'b');
  const [a, b] = [...group.replicas.values()];
  a?.pause();
  await group.until(() => b?.led(group.units).length === group.units.length, 'b leads everything');
  a?.resume();
  await group.until(() => a?.led(group.units).length === 0, 'a leads nothing');
  void b?.leadership.drain();
  expect(await group.until(() => a?.led(group.units).length === group.units.length, 'a leads all')).toBeLessThan(1_000);
});

test('a heartbeat that failed is repeated soon, and less often while the database stays away', async () => {
  const group = await divided(groupOf(2), 'a');
  const a = group.replicas.get('a');
  if (a === undefined) throw new Error('it was added');
  a.isReachable = false;
  const sent = a.beats.length;
  await group.until(() => a.beats.length >= sent + 8, 'heartbeats are missed');
  const waits = a.beats.slice(sent).map((atMs, at) => atMs - (a.beats[sent + at - 1] ?? 0));
  expect(waits[1]).toBeLessThan(LEASE_MS / 50);
  expect(Math.max(...waits.slice(1))).toBeLessThan(LEASE_MS / 5);
  expect(waits[7]).toBeGreaterThan(waits[1] ?? 0);
  a.isReachable = true;
  const next = a.beats.length;
  expect(await group.until(() => a.beats.length > next, 'the next one arrives')).toBeLessThan(LEASE_MS / 5);
  expect(a.lost).toEqual([]);
});

test.for([
  ['5 s', 15_000],
  ['5 s, because a copy or a restore counts a replica as live for 15 s', 120_000],
  ['a third of the lease', 6_000],
] as const)('a replica sends a heartbeat every %s', async ([, leaseMs]) => {
  const group = groupOf(2, leaseMs);
  const { beats } = group.add('a');
  await group.until(() => group.isWhole, 'it leads everything');
  // Each unit that it takes causes one more.
  await group.pass(1_000);
  const from = beats.length;
  await group.pass(60_000);
  const waits = beats.slice(from).map((atMs, at) => atMs - (beats[from + at - 1] ?? 0));
  const beatMs = Math.min(leaseMs / 3, 5_000);
  expect(Math.min(...waits)).toBeGreaterThanOrEqual(beatMs);
  // The leaders are read at this interval at most, and a heartbeat is sent before.
  expect(Math.max(...waits)).toBeLessThanOrEqual(beatMs + 600);
});

test('while the database is away, a leader stops sending before its lease ends, keeps its units and recovers', async () => {
  const group = await divided(groupOf(4), 'a');
  const a = group.replicas.get('a');
  const unit = group.units[0] as LeaseUnit;
  const before = a?.leadership.of(unit);
  if (a === undefined || before === undefined) throw new Error('a leads nothing');
  a.isReachable = false;
  const mayStillSend = (): boolean => before.validUntilMs() - a.leadership.sendMarginMs > group.clock.monotonic();
  expect(await group.until(() => !mayStillSend(), 'it stops sending')).toBeLessThan(
    LEASE_MS - a.leadership.sendMarginMs + 20,
  );
  await group.pass(60_000);
  expect(mayStillSend()).toBe(false);
  a.isReachable = true;
  expect(await group.until(mayStillSend, 'it may send again')).toBeLessThan(10_000);
  expect(a.leadership.of(unit)).toBe(before);
  expect(a.lost).toEqual([]);
});

test.for([
  ['as fast as possible', 5_000, '1'],
  ['with a new version, and minutes between the steps', 180_000, '2'],
] as const)('a rolling update moves each platform at most twice: %s', async ([, stepMs, version]) => {
  const group = await divided(groupOf(30), 'a', 'b', 'c');
  const moves = new Map<LeaseUnit, number>();
  let leaders = group.leaders();
  const note = (): void => {
    const now = group.leaders();
    for (const [unit, leader] of now) {
      if (leaders.get(unit) !== leader) moves.set(unit, (moves.get(unit) ?? 0) + 1);
    }
    leaders = new Map([...leaders, ...now]);
  };
  for (const old of ['a', 'b', 'c']) {
    group.add(`${old}2`, { version });
    await group.pass(stepMs);
    note();
    await group.replicas.get(old)?.leadership.drain();
    group.replicas.delete(old);
    await group.until(() => group.isWhole, 'everything has a leader');
    note();
    await group.pass(stepMs);
    note();
  }
  await group.pass(LEASE_MS * 10);
  note();
  expect(Math.max(...moves.values())).toBeLessThanOrEqual(2);
  expect(Math.max(...group.loads())).toBeLessThanOrEqual(13);
});

test('a unit whose records cannot be read is released, and taken later', async () => {
  const group = groupOf(1);
  let failures = 0;
  const a = group.add('a', {
    work: ({ type }) => {
      if (type === 'taken' && (failures += 1) <= 3) throw inputOutput('memory', undefined);
    },
  });
  expect(await group.until(() => group.isWhole, 'it leads both')).toBeGreaterThan(LEASE_MS / 3);
  expect(failures).toBeGreaterThan(3);
  expect(a.lost).toEqual([]);
});

test('a leader whose ledger has lost transactions works no longer, and no other replica takes its place', async () => {
  const group = groupOf(1);
  const a = group.add('a');
  await group.until(() => group.isWhole, 'it leads both');
  const [unit] = group.units as [LeaseUnit];
  const ledger = a.leadership.of(unit)?.ledger;
  a.faultOf = (operation) => (operation === 'commit' ? replaced('memory', 'its serial is 1', 'restored') : undefined);
  const transaction = { scope: 'p00/team/region/1', actor: 'a test', atMs: 1, operations: [] };
  await expect(ledger?.commit(transaction)).rejects.toMatchObject({ code: 'ledger/replaced' });
  a.faultOf = () => undefined;
  const b = group.add('b');
  await group.pass(LEASE_MS * 10);
  expect([a.leadership.of(unit), b.leadership.of(unit)]).toEqual([undefined, undefined]);
  expect(a.lost.map((one) => one.unit)).toContain(unit);
  expect(a.refusals).toEqual(['records-lost']);
  expect(a.lines.filter((line) => line.includes(unit)).at(-1)).toMatch(
    /error .*does not work on platform:p00 any more, and does not release its lease.*its serial is 1.*code=ledger\/replaced.*Stop all controllers/,
  );
});

test('a unit whose records turn out to be lost while it is handed over is not handed over', async () => {
  const group = groupOf(2);
  let unit: LeaseUnit | undefined;
  const a = group.add('a', {
    work: async ({ type, lead }) => {
      if (type !== 'leaving' || unit !== undefined) return;
      unit = lead.unit;
      a.faultOf = (operation) =>
        operation === 'commit' ? replaced('memory', 'its serial is 1', 'restored') : undefined;
      const scope = unit.startsWith('source:') ? unit : `${unit.slice('platform:'.length)}/team/region/1`;
      const transaction = { scope, actor: 'a test', atMs: 1, operations: [] };
      await expect(lead.ledger.commit(transaction)).rejects.toMatchObject({ code: 'ledger/replaced' });
      a.faultOf = () => undefined;
    },
  });
  await group.until(() => group.isWhole, 'it leads everything');
  const b = group.add('b');
  await group.until(() => unit !== undefined, 'it hands one over');
  await group.pass(LEASE_MS * 10);
  expect(a.refusals).toEqual(['records-lost']);
  expect(b.gained.map((one) => one.unit)).not.toContain(unit);
  expect(a.lines.filter((line) => line.includes(String(unit))).at(-1)).toMatch(
    /error .*does not release its lease.*Stop all controllers/,
  );
});

test('a lease that the database has lost ends with its error, and counts once', async () => {
  const group = groupOf(1);
  const a = group.add('a');
  await group.until(() => group.isWhole, 'it leads both');
  const [unit] = group.units as [LeaseUnit];
  const led = a.leadership.of(unit);
  if (led === undefined) throw new Error('it leads the unit');
  const over = new AbortController();
  const because: string[] = [];
  const held = new HeldLead({ ...led, unit, over: over.signal }, (one) => because.push(one));
  const error = replaced('memory', 'its lease is gone', 'lost');
  const ended = vi.fn<() => void>();
  held.over.addEventListener('abort', ended);
  over.abort(error);
  over.abort(error);
  expect([held.refusal, because, ended.mock.calls.length]).toEqual([error, ['records-lost'], 1]);
});

test('a unit is taken again only once the work of the former lead has ended', async () => {
  const group = groupOf(1);
  const hanging = Promise.withResolvers<void>();
  const [unit] = group.units as [LeaseUnit];
  const a = group.add('a', {
    work: ({ type, lead }) => (type === 'ended' && lead.unit === unit ? hanging.promise : undefined),
  });
  await group.until(() => group.isWhole, 'it leads both');
  const row = group.database.leases.rows.get(unit);
  if (row === undefined) throw new Error('it has the lease');
  group.database.release({ scope: unit, ...row });
  await group.until(() => a.lost.some((one) => one.unit === unit), 'it has lost one');
  const gained = a.gained.length;
  await group.pass(LEASE_MS * 4);
  expect(a.leadership.of(unit)).toBeUndefined();
  expect(a.gained).toHaveLength(gained);
  hanging.resolve();
  await group.until(() => group.isWhole, 'it leads both again');
  expect(a.gained.slice(gained).map((one) => one.unit)).toEqual([unit]);
});

test('a replica whose ledger was copied to another place ends, and its remedy names the copy', async () => {
  const group = groupOf(1);
  const replica = group.add('a');
  const past = retiredLedger('postgres://x', { copy: 'portolan.db', atMs: 0 });
  replica.faultOf = (operation) => (operation === 'take' ? past : undefined);
  const remedy = expect.stringContaining('Use portolan.db.');
  await group.pass(LEASE_MS);
  expect(await replica.leadership.failed).toMatchObject({ code: 'ledger/retired', remedy });
});

test('a bug in a listener ends the process', async () => {
  const { ended } = groupOf(1).add('a', {
    work: ({ type }) => {
      if (type === 'taken') throw new TypeError('a bug');
    },
  });
  await expect(ended).rejects.toThrow('a bug');
});

test('a unit that a reload adds is taken, and one that it removes is released', async () => {
  const group = await divided(groupOf(2), 'a');
  const a = group.replicas.get('a');
  const [first, , source] = group.units as [LeaseUnit, LeaseUnit, LeaseUnit];
  const added = platformUnit('added');
  group.units = [first, source, added];
  a?.leadership.wake();
  await group.until(() => a?.leadership.of(added) !== undefined, 'it leads the new one');
  await group.until(() => (a?.lost.length ?? 0) === 1, 'it released the other one');
  expect(a?.lost[0]).toMatchObject({ unit: 'platform:p01', because: 'handed-over' });
});
