import fc from 'fast-check';
import { expect, test } from 'vitest';
import { assignFree, type GroupView, nextMove, roomOf } from '../../../src/controller/replicas/assignment.ts';
import { platformUnit, sourceUnit } from '../../../src/controller/replicas/leadership.ts';
import type { LeaseUnit } from '../../../src/ledger/shared.ts';

type Leaders = ReadonlyMap<LeaseUnit, string>;

const names = (what: string, min: number, max: number) =>
  fc
    .uniqueArray(fc.string({ minLength: 1, maxLength: 12 }), { minLength: min, maxLength: max })
    .map((all) => all.map((name) => `${what}-${name}`));
const platforms = (min: number, max: number) =>
  names('platform', min, max).map((all): readonly LeaseUnit[] => [...all.map(platformUnit), sourceUnit('default')]);

/** Lets every unit be taken, and then moved until nothing moves any more. @returns the leaders, and the moves of each unit. */
function settled({ units, replicas, leaders }: GroupView): {
  readonly leaders: Leaders;
  readonly moves: readonly number[];
} {
  const now = new Map([...leaders, ...assignFree({ units, replicas, leaders })]);
  const moves = new Map(
    units.map((unit) => [unit, leaders.get(unit) === undefined || leaders.get(unit) === now.get(unit) ? 0 : 1]),
  );
  for (let move = nextMove({ units, replicas, leaders: now }); move !== undefined; ) {
    expect(now.get(move.unit)).toBe(move.from);
    now.delete(move.unit);
    const [[unit, to] = ['', '']] = [...assignFree({ units, replicas, leaders: now })];
    expect(unit).toBe(move.unit);
    now.set(move.unit, to);
    moves.set(move.unit, (moves.get(move.unit) ?? 0) + 1);
    move = nextMove({ units, replicas, leaders: now });
  }
  return { leaders: now, moves: [...moves.values()] };
}

function loadsOf(leaders: Leaders, replicas: readonly string[]): readonly number[] {
  return replicas.map((replica) => [...leaders.values()].filter((leader) => leader === replica).length);
}

function without(leaders: Leaders, replica: string): Leaders {
  return new Map([...leaders].filter(([, leader]) => leader !== replica));
}

test('every unit gets one replica, and each replica an equal part', () => {
  fc.assert(
    fc.property(platforms(0, 60), names('replica', 1, 7), (units, replicas) => {
      const assigned = assignFree({ units, replicas, leaders: new Map() });
      expect([...assigned.keys()].sort()).toEqual([...units].sort());
      const loads = loadsOf(assigned, replicas);
      expect(Math.max(...loads) - Math.min(...loads)).toBeLessThanOrEqual(1);
    }),
    { numRuns: 200 },
  );
});

test('the order in which units are listed does not matter', () => {
  fc.assert(
    fc.property(platforms(0, 20), names('replica', 1, 5), (units, replicas) => {
      const leaders = new Map();
      expect(assignFree({ units: units.toReversed(), replicas, leaders })).toEqual(
        assignFree({ units, replicas, leaders }),
      );
    }),
  );
});

test('whoever led thirty platforms: in the end, none of three replicas leads more than thirteen', () => {
  const led = fc.array(fc.nat({ max: 2 }), { minLength: 31, maxLength: 31 });
  fc.assert(
    fc.property(platforms(30, 30), names('replica', 3, 3), led, (units, replicas, by) => {
      const leaders = new Map(units.map((unit, at) => [unit, replicas[by[at] ?? 0] ?? '']));
      const end = settled({ units, replicas, leaders });
      expect(Math.max(...loadsOf(end.leaders, replicas))).toBeLessThanOrEqual(roomOf(units.length, 3));
      expect(roomOf(units.length, 3)).toBe(13);
      expect(Math.max(...end.moves)).toBeLessThanOrEqual(1);
    }),
    { numRuns: 200 },
  );
});

test('a replica that joins takes three quarters of its part, and no other unit moves', () => {
  fc.assert(
    fc.property(platforms(30, 30), names('replica', 4, 4), (units, [joining = '', ...others]) => {
      const before = settled({ units, replicas: others, leaders: new Map() }).leaders;
      const after = settled({ units, replicas: [joining, ...others], leaders: before }).leaders;
      const moved = units.filter((unit) => before.get(unit) !== after.get(unit));
      expect(moved.map((unit) => after.get(unit))).toEqual(moved.map(() => joining));
      expect(moved.length).toBe(Math.floor((31 / 4) * 0.75));
    }),
    { numRuns: 200 },
  );
});

test('a replica that leaves moves only its own units', () => {
  fc.assert(
    fc.property(platforms(0, 40), names('replica', 2, 5), (units, replicas) => {
      const [leaving = '', ...others] = replicas;
      const before = settled({ units, replicas, leaders: new Map() }).leaders;
      const after = settled({ units, replicas: others, leaders: without(before, leaving) }).leaders;
      for (const unit of units) if (before.get(unit) !== leaving) expect(after.get(unit)).toBe(before.get(unit));
    }),
    { numRuns: 200 },
  );
});

test('in a rolling update, each unit moves once: to the replica that was just started', () => {
  fc.assert(
    fc.property(platforms(1, 40), names('replica', 3, 3), (units, replicas) => {
      let leaders: Leaders = settled({ units, replicas, leaders: new Map() }).leaders;
      const moves = new Map<LeaseUnit, number>();
      let live = replicas;
      for (const old of replicas) {
        live = [`new ${old}`, ...live.filter((one) => one !== old)];
        const next = new Map([
          ...without(leaders, old),
          ...assignFree({ units, replicas: live, leaders: without(leaders, old) }),
        ]);
        for (const unit of units) if (leaders.get(unit) !== next.get(unit)) moves.set(unit, (moves.get(unit) ?? 0) + 1);
        leaders = next;
      }
      expect([...moves.values()]).toEqual(units.map(() => 1));
      expect(nextMove({ units, replicas: live, leaders })).toBeUndefined();
    }),
    { numRuns: 200 },
  );
});

test('nothing moves while a unit has no leader, or one that is not among the replicas', () => {
  const units = [platformUnit('a'), platformUnit('b'), platformUnit('c'), platformUnit('d')];
  const [a, b, c, d] = units as [LeaseUnit, LeaseUnit, LeaseUnit, LeaseUnit];
  const replicas = ['one', 'two'];
  expect(
    nextMove({
      units,
      replicas,
      leaders: new Map([
        [a, 'one'],
        [b, 'one'],
        [c, 'one'],
      ]),
    }),
  ).toBeUndefined();
  expect(
    nextMove({
      units,
      replicas,
      leaders: new Map([
        [a, 'one'],
        [b, 'one'],
        [c, 'one'],
        [d, 'gone'],
      ]),
    }),
  ).toBeUndefined();
  expect(
    nextMove({
      units,
      replicas,
      leaders: new Map([
        [a, 'one'],
        [b, 'one'],
        [c, 'one'],
        [d, 'one'],
      ]),
    }),
  ).toMatchObject({
    from: 'one',
    to: 'two',
  });
});

test('without a replica, no unit is assigned', () => {
  expect(assignFree({ units: [platformUnit('a')], replicas: [], leaders: new Map() }).size).toBe(0);
});

test('units move between the others while a replica that may not take any keeps its own', () => {
  const units = Array.from({ length: 8 }, (_, at) => `platform:p${at}` as const);
  const leaders = new Map(units.map((unit, at) => [unit, at < 4 ? 'a' : 'b']));
  const view = { units, replicas: ['c', 'a'], leaders };
  expect(nextMove({ ...view, resting: new Set(['b']) })).toEqual({ unit: 'platform:p0', from: 'a', to: 'c' });
  // The lease of a dead replica has not ended.
  expect(nextMove({ ...view, resting: new Set() })).toBeUndefined();
});
