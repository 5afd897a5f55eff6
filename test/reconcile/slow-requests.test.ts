import { expect, test } from 'vitest';
import type { Outcome } from '../../src/reconcile/outcome.ts';
import type { Work } from '../../src/reconcile/reconcile.ts';
import { defaultTiming } from '../../src/reconcile/apply/world.ts';
import type { Seed } from '../../src/sandbox/seed.ts';
import { allowEverything, manifest, ScopeWorld, workOf } from '../support/scope-world.ts';

const COMPONENTS = 150;
const CHANGED = 100;
/** With 16 requests at once, 150 components take longer to read than an observation may be old. */
const LATENCY_MS = 700;
const team = 'team-a';
const region = 'region-1';

const idOf = (component: number): string => component.toString(16).padStart(32, 'c');

const seed: Seed = {
  enterprise: { id: 'e'.repeat(32) },
  regions: [{ id: '1'.repeat(32), name: region }],
  teams: [{ id: '2'.repeat(32), name: team }],
  applications: [
    {
      id: 1,
      team,
      region,
      name: 'shop',
      components: Array.from({ length: COMPONENTS }, (_, index) => ({
        id: idOf(index),
        name: `c${index}`,
        ports: [{ port: 8080, alias: 'WEB', inner: true, outer: false }],
      })),
    },
  ],
};

/** The same application, with the inner access open in the first of its components. */
function work(changed: number): Work {
  const components = Array.from({ length: COMPONENTS }, (_, index) =>
    manifest('Component', `c${index}`, {
      application: 'shop',
      serviceId: idOf(index),
      ports: [{ port: 8080, alias: 'WEB', inner: index >= changed }],
      unlistedPorts: 'keep',
    }),
  );
  return workOf({ team, region, appId: 1 }, components);
}

/** A world whose ledger knows all of it, and whose platform is slow from now on. */
async function slowWorld(): Promise<ScopeWorld> {
  const world = new ScopeWorld(seed, 'extended');
  await world.pass(work(0), { ...allowEverything, permissions: { ...allowEverything.permissions, adopt: () => true } });
  world.exchanges.length = 0;
  world.latencyMs = LATENCY_MS;
  return world;
}

function endedOf(outcome: Outcome | 'died'): Extract<Outcome, { type: 'ended' }> {
  if (outcome === 'died' || outcome.type !== 'ended') throw new Error(JSON.stringify(outcome));
  if (outcome.error !== undefined) throw outcome.error;
  return outcome;
}

function countOf(world: ScopeWorld): Readonly<Record<string, number>> {
  const counts = Map.groupBy(world.exchanges, ({ request }) => request.operation);
  return Object.fromEntries([...counts].map(([operation, all]) => [operation, all.length]));
}

const PLAN = { getApplication: 1, listPorts: COMPONENTS, listRules: 1 };

test('a plan of an application in sync reads each thing once, however slow the platform is', async () => {
  const world = await slowWorld();
  endedOf(await world.pass(work(0), { ...allowEverything, readOnly: true }));
  expect(countOf(world)).toEqual(PLAN);
});

test('an apply on a slow platform reads again only the component it is about to change, and does all of it', async () => {
  const world = await slowWorld();
  const outcome = endedOf(await world.pass(work(CHANGED)));
  expect(outcome.results.filter(({ status }) => status === 'done')).toHaveLength(CHANGED);
  expect(outcome.plan.actions).toEqual([]);
  const counts = countOf(world);
  expect(counts).toMatchObject({ getApplication: 1, listRegions: 1, updatePort: CHANGED });
  const plan = 1 + COMPONENTS + 1 + 1;
  const floor = plan + CHANGED + CHANGED + CHANGED;
  expect(world.exchanges.length).toBeLessThanOrEqual(1.25 * floor);
});

test('every write follows an observation of its component that is at most 5 s old', async () => {
  const world = await slowWorld();
  endedOf(await world.pass(work(CHANGED)));
  const read = new Map<string, number>();
  for (const { request, sentMs } of world.exchanges) {
    if (request.operation === 'listPorts') read.set(request.path, sentMs);
    if (request.operation !== 'updatePort') continue;
    const listing = request.path.replace(/\/\d+$/, '');
    expect(sentMs - (read.get(listing) ?? Number.NaN)).toBeLessThanOrEqual(defaultTiming.observationMaxAgeMs);
  }
});

test('a component that somebody else changed meanwhile is planned anew, and the rest is done', async () => {
  const world = await slowWorld();
  let changed = false;
  world.answer = (request) => {
    // Somebody opens outer access of the 50th while the first ones are applied.
    if (!changed && request.operation === 'updatePort' && request.path.includes(idOf(10))) {
      changed = true;
      const row = [...world.state.ports.all()].find(({ serviceId }) => serviceId === idOf(50));
      if (row === undefined) throw new Error('the seed has that port');
      world.state.ports.put({ ...row, inner: false });
    }
    return undefined;
  };
  const outcome = endedOf(await world.pass(work(CHANGED)));
  // What is as desired already is not sent.
  expect(outcome.results.filter(({ status }) => status === 'done')).toHaveLength(CHANGED - 1);
  expect(world.writes().some(({ request }) => request.path.includes(idOf(50)))).toBe(false);
  expect(outcome.plan.actions).toEqual([]);
  expect(outcome.rounds).toBe(2);
});
