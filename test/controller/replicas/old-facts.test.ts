import { expect, test } from 'vitest';
import { EAST, inSync } from './two-leaders.ts';

test('a replica that cannot read what others store says how old its state is, although the database answers', async () => {
  const { group, one, two } = await inSync();
  expect(two.controller.api.status().database?.ageMs).toBeLessThan(5_000);
  expect(two.replicas.isCurrent()).toBe(true);
  // For example without the privilege for one table.
  two.isLost = (operation) => operation === 'facts';
  const lastMs = group.clock.now();
  await one.controller.api.suspend(EAST, 'a person', 'a test');
  await group.pass(600_000);
  const { database } = two.controller.api.status();
  expect(two.controller.api.application(EAST)?.pause).toBeNull();
  // Its leadership gives its units up by that.
  expect(two.replicas.isCurrent()).toBe(false);
  expect(database?.isReachable).toBe(true);
  expect(Math.abs((database?.asOfMs ?? 0) - lastMs)).toBeLessThan(5_000);
  expect(Math.abs((database?.ageMs ?? 0) - 600_000)).toBeLessThan(5_000);
  two.isLost = () => false;
  await group.pass(10_000);
  expect(two.controller.api.application(EAST)?.pause).toMatchObject({ type: 'suspended' });
  expect(two.controller.api.status().database?.ageMs).toBeLessThan(5_000);
});
