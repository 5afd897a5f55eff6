import { expect, test } from 'vitest';
import { manifest, ScopeWorld, workOf } from '../support/scope-world.ts';

const SERVICE = 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa';
const ADDRESS = { team: 'team-a', region: 'region-1', appId: 42 };

test('the window of a request that a dead process left begins even while its region cannot be read', async () => {
  const world = new ScopeWorld(
    {
      enterprise: { id: 'e'.repeat(32) },
      regions: [{ id: '1'.repeat(32), name: ADDRESS.region }],
      teams: [{ id: 'd'.repeat(32), name: ADDRESS.team }],
      applications: [
        {
          id: ADDRESS.appId,
          team: ADDRESS.team,
          region: ADDRESS.region,
          name: 'shop',
          components: [{ id: SERVICE, name: 'web', ports: [{ port: 8080, alias: 'OLD', inner: true }] }],
        },
      ],
    },
    'extended',
  );
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
