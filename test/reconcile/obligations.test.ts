import { expect, test } from 'vitest';
import type { PortSpec } from '../../src/kinds/component/spec.ts';
import type { Outcome } from '../../src/reconcile/outcome.ts';
import { manifest, ScopeWorld, workOf } from '../support/scope-world.ts';
import { ADDRESS, SERVICE, smallShop } from '../support/small-shop.ts';

// What a pass changed only for a moment it gives back, whatever git says by then.

const web = (ports: readonly PortSpec[]) =>
  manifest('Component', 'web', { application: 'shop', serviceId: SERVICE, ports, unlistedPorts: 'keep' });

function ended(outcome: Outcome | 'died') {
  if (outcome === 'died' || outcome.type !== 'ended') throw new Error(JSON.stringify(outcome));
  return outcome;
}

const rowOf = (world: ScopeWorld, key: string) =>
  [...world.store.objects.values()].find((object) => object.naturalKey === key);

/** A process died after it had closed outer for a change of protocol. */
async function closedForAMoment(): Promise<ScopeWorld> {
  const world = new ScopeWorld(smallShop({ ports: [{ port: 8080, inner: true, outer: true }] }), 'extended');
  world.crash = { atWrite: 1, when: 'after' };
  const changing = web([{ port: 8080, protocol: 'grpc' }]);
  expect(await world.pass(workOf(ADDRESS, [changing]))).toBe('died');
  world.crash = undefined;
  expect(world.state.ports.get(`${SERVICE}/8080`)?.outer).toBe(false);
  return world;
}

test.for([
  ['nobody names its component any more', [], undefined],
  ['its component does not list it any more', [web([])], { obligation: null }],
] as const)('outer access that was closed for a moment is opened again where %s', async ([, resources, row]) => {
  const world = await closedForAMoment();
  const work = workOf(ADDRESS, resources);
  await world.pass(work);
  world.clock.advance(2 * 60_000);
  const { results, plan } = ended(await world.pass(work));
  expect(results.map(({ action }) => [action.summary, action.cause])).toEqual([
    ['open outer access of port 8080 again', 'obligation'],
  ]);
  expect(plan).toMatchObject({ actions: [], holds: [] });
  expect(world.state.ports.get(`${SERVICE}/8080`)?.outer).toBe(true);
  await world.pass(work);
  expect(world.writes()).toHaveLength(2);
  if (row === undefined) expect(rowOf(world, `port/${SERVICE}/8080`)).toBeUndefined();
  else expect(rowOf(world, `port/${SERVICE}/8080`)).toMatchObject(row);
});

test('outer access that was closed for a moment is left to a person where inner was closed since', async () => {
  const world = await closedForAMoment();
  const port = world.state.ports.get(`${SERVICE}/8080`);
  if (port === undefined) throw new Error('the port is there');
  world.state.ports.put({ ...port, inner: false });
  await world.pass(workOf(ADDRESS, []));
  world.clock.advance(2 * 60_000);
  expect(ended(await world.pass(workOf(ADDRESS, []))).plan.holds.map(({ code }) => code)).toEqual([
    'component/left-closed',
  ]);
  expect(rowOf(world, `port/${SERVICE}/8080`)).toBeDefined();
  world.state.ports.delete(`${SERVICE}/8080`);
  for (let pass = 0; pass < 2; pass += 1) {
    expect(rowOf(world, `port/${SERVICE}/8080`)).toBeDefined();
    await world.pass(workOf(ADDRESS, []));
    world.clock.advance(2_000);
  }
  expect(rowOf(world, `port/${SERVICE}/8080`)).toBeUndefined();
});
