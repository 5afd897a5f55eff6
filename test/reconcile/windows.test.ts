import { expect, test } from 'vitest';
import { ADDRESS, SERVICE, smallShop } from '../support/small-shop.ts';
import { manifest, ScopeWorld, workOf } from '../support/scope-world.ts';

test('the window of a request that a dead process left begins even while its region cannot be read', async () => {
  const world = new ScopeWorld(smallShop({ ports: [{ port: 8080, alias: 'OLD', inner: true }] }), 'extended');
  const work = workOf(ADDRESS, [
    manifest('Component', 'web', {
      application: 'shop',
      serviceId: SERVICE,
      ports: [{ port: 8080, alias: 'NEW' }],
      unlistedPorts: 'keep',
    }),
  ]);
  world.crash = { atWrite: 1, when: 'before' };
  expect(await world.pass(work)).toBe('died');
  world.crash = undefined;

  const setStatus = (status: string): void => {
    const rows = [...world.state.regions.all()];
    for (const row of rows) world.state.regions.put({ ...row, status });
  };
  setStatus('3');
  expect(await world.pass(work)).toMatchObject({ type: 'unobserved' });
  expect([...world.store.intents.values()].map(({ intent }) => intent.state)).toEqual(['unknown']);
  world.clock.reboot();
  expect(await world.pass(work)).toMatchObject({ type: 'unobserved' });

  world.clock.advance(90_000);
  setStatus('1');
  const outcome = await world.pass(work);
  if (outcome === 'died' || outcome.type !== 'ended') throw new Error(JSON.stringify(outcome));
  expect(outcome.plan.holds).toEqual([]);
  expect([...world.state.ports.all()].map((row) => row.alias)).toEqual(['NEW']);
});
