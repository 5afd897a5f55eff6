import { expect, test } from 'vitest';
import type { MemoryDatabase } from '../../support/memory-database.ts';
import { EAST, inSync } from './two-leaders.ts';

/** A standby without the last records becomes the primary server: it has no lease of the east, which nobody leads there. */
function failOver(database: MemoryDatabase, lost: number): void {
  const { store, factSerials } = database;
  store.serial -= lost;
  for (const [key, serial] of factSerials) factSerials.set(key, Math.min(serial, store.serial));
  const rows = new Map(database.leases.rows);
  rows.delete('platform:east');
  database.leases = { ...database.leases, rows };
  database.server = 'second';
}

test('what a new leader stores after a failover that lost the takeover of the former one reaches the former one', async () => {
  const { group, one, two } = await inSync();
  await one.leadership.release('platform:east');
  expect(await one.leadership.take('platform:east')).toBe(true);
  // It reads, but does not notice that its lease is lost.
  one.isLost = (operation) => operation === 'renew' || operation === 'commit';
  failOver(group.database, 5);
  await group.pass(4_000);
  expect(await two.leadership.take('platform:east')).toBe(true);
  await two.controller.api.suspend(EAST, 'ops', 'a test');
  await group.pass(4_000);
  expect(one.leadership.held('platform:east')).toBeDefined();
  const pauseAtOne = () => one.controller.api.application(EAST)?.pause?.type;
  expect(pauseAtOne()).toBeUndefined();
  one.isLost = () => false;
  await group.until(() => one.leadership.held('platform:east') === undefined, 'the former leader notices');
  await group.until(() => pauseAtOne() === 'suspended', 'it shows what the new leader has decided');
  // It would otherwise store its own state over the decision.
  await two.leadership.release('platform:east');
  expect(await one.leadership.take('platform:east')).toBe(true);
  await group.pass(60_000);
  expect(pauseAtOne()).toBe('suspended');
});
