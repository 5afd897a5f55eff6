import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { PortSpec } from '../../src/kinds/component/spec.ts';
import type { Seed } from '../../src/sandbox/seed.ts';
import type { Dialect } from '../../src/sandbox/wire.ts';
import { type Crash, manifest, ScopeWorld, workOf } from '../support/scope-world.ts';
import { ADDRESS, SERVICE, smallShop } from '../support/small-shop.ts';

const POOL = ['A', 'B', 'C', 'D'] as const;
const PORTS = [8080, 8081, 8082] as const;
const NEW_PORT = 9000;
const LIVE_NAME = 'live-name';

interface Case {
  /** Alias of each live port, all different. */
  readonly live: readonly string[];
  /** Alias wanted for each live port; null: listed without one; undefined: not listed. */
  readonly wanted: readonly (string | null | undefined)[];
  readonly added: string | null | undefined;
  readonly serviceName: string | undefined;
  readonly dialect: Dialect;
  readonly crash: Crash;
}

/** Two wishes for one alias are refused offline, so they do not occur. */
const cases: fc.Arbitrary<Case> = fc
  .record({
    live: fc.shuffledSubarray([...POOL], { minLength: 3, maxLength: 3 }),
    wanted: fc.array(fc.option(fc.option(fc.constantFrom(...POOL), { nil: null }), { nil: undefined }), {
      minLength: 3,
      maxLength: 3,
    }),
    added: fc.option(fc.option(fc.constantFrom(...POOL, 'E'), { nil: null }), { nil: undefined }),
    serviceName: fc.option(fc.constantFrom(LIVE_NAME, 'new-name'), { nil: undefined }),
    dialect: fc.constantFrom<Dialect>('documented', 'extended'),
    crash: fc.record({ atWrite: fc.integer({ min: 1, max: 6 }), when: fc.constantFrom('before', 'after') }),
  })
  .filter(({ wanted, added }) => {
    const aliases = [...wanted, added].filter((alias) => typeof alias === 'string');
    return new Set(aliases).size === aliases.length;
  });

function seedOf({ live }: Case): Seed {
  const ports = PORTS.map((port, index) => ({ port, alias: live[index] ?? '', inner: true }));
  return smallShop({ serviceName: LIVE_NAME, ports });
}

function workFor({ wanted, added, serviceName }: Case) {
  const listed = PORTS.flatMap((port, index): PortSpec[] => {
    const alias = wanted[index];
    return alias === undefined ? [] : [{ port, ...(alias === null ? {} : { alias }) }];
  });
  const ports: PortSpec[] =
    added === undefined
      ? listed
      : [...listed, { port: NEW_PORT, protocol: 'tcp', ...(added === null ? {} : { alias: added }) }];
  return workOf(ADDRESS, [
    manifest('Component', 'web', {
      application: 'shop',
      serviceId: SERVICE,
      ports,
      unlistedPorts: 'keep',
      ...(serviceName === undefined ? {} : { serviceName }),
    }),
  ]);
}

/** An alias that is wanted, and that a port has which is not to lose it: no order of requests can give it. */
function conflicts({ live, wanted, added }: Case): boolean {
  const keeps = live.map(
    (alias, index) => wanted[index] === undefined || wanted[index] === null || wanted[index] === alias,
  );
  // A port that wants a kept alias keeps its own, so what others want of it is kept as well.
  for (let changed = true; changed; ) {
    changed = false;
    for (const [index, alias] of wanted.entries()) {
      const holder = live.findIndex((held, other) => other !== index && held === alias);
      if (keeps[index] || holder === -1 || !keeps[holder]) continue;
      keeps[index] = true;
      changed = true;
    }
  }
  const unmet = wanted.some(
    (alias, index) => typeof alias === 'string' && alias !== live[index] && keeps[index] === true,
  );
  const holder = live.indexOf(added ?? '');
  return unmet || (holder !== -1 && keeps[holder] === true);
}

function expectGoal(world: ScopeWorld, { live, wanted, added, serviceName }: Case): void {
  const ports = [...world.state.ports.all()].filter((row) => row.serviceId === SERVICE);
  for (const [index, port] of PORTS.entries()) {
    expect(ports.find((row) => row.port === port)?.alias).toBe(wanted[index] ?? live[index]);
  }
  const fresh = ports.find((row) => row.port === NEW_PORT);
  expect(fresh !== undefined).toBe(added !== undefined);
  if (typeof added === 'string') expect(fresh?.alias).toBe(added);
  expect(new Set(ports.map((row) => row.serviceName))).toEqual(new Set([serviceName ?? LIVE_NAME]));
  expect(new Set(ports.map((row) => row.alias)).size).toBe(ports.length);
}

function expectNothingRefused(world: ScopeWorld): void {
  expect(
    world
      .writes()
      .filter(({ response }) => response.status >= 300)
      .map(({ request, response }) => [request.path, request.body, response.body]),
  ).toEqual([]);
}

test('aliases and service names reach any wish, swaps and circles included, and a crash changes nothing', async () => {
  await fc.assert(
    fc.asyncProperty(cases, async (names) => {
      const work = workFor(names);
      const world = new ScopeWorld(seedOf(names), names.dialect);
      const outcome = await world.pass(work);
      if (outcome === 'died' || outcome.type !== 'ended') throw new Error(JSON.stringify(outcome));
      expectNothingRefused(world);
      const held = conflicts(names);
      expect(outcome.plan.holds.length > 0).toBe(held);
      if (held) return;
      expectGoal(world, names);
      const writes = world.writes().length;
      await world.pass(work);
      expect(world.writes().length).toBe(writes);

      const crashing = new ScopeWorld(seedOf(names), names.dialect);
      crashing.crash = names.crash;
      await crashing.pass(work);
      await crashing.settle(work);
      expectNothingRefused(crashing);
      expectGoal(crashing, names);
    }),
    { numRuns: 1500, seed: 20261120 },
  );
});

test('two aliases swap through a temporary one that does not stay', async () => {
  const swap: Case = {
    live: ['A', 'B', 'C'],
    wanted: ['B', 'A', undefined],
    added: undefined,
    serviceName: undefined,
    dialect: 'extended',
    crash: { atWrite: 1, when: 'before' },
  };
  const world = new ScopeWorld(seedOf(swap), 'extended');
  await world.pass(workFor(swap));
  expect(world.writes().map(({ request }) => [request.path.split('/').at(-1), request.body?.['port_alias']])).toEqual([
    ['8080', 'B_SWAP'],
    ['8081', 'A'],
    ['8080', 'B'],
  ]);
});
