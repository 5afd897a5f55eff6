import { expect, test } from 'vitest';
import { type DatabaseLink, directLink, LinkLost, MemoryDatabase } from '../support/memory-database.ts';
import { openMemoryShared } from '../support/memory-shared.ts';
import { MemoryStore } from '../support/memory-ledger.ts';
import { seededRandom, VirtualClock } from '../support/virtual-clock.ts';
import { codeOf, record, transaction } from './fixtures.ts';

/** What only the simulated database has: its clock, and connections that are cut on purpose. */

const LEASE_MS = 15_000;

function world() {
  const clock = new VirtualClock();
  const database = new MemoryDatabase(new MemoryStore('lineage'), () => clock.monotonic());
  const random = seededRandom(1);
  const process = (actor: string, link: DatabaseLink = directLink) =>
    openMemoryShared(database, { clock, random, actor, link });
  return { clock, database, process };
}

const step = () => transaction([record('step')], 'default/team-a/region-1/42');

test('a lease expires by the clock of the database, and its former holder is fenced', async () => {
  const { clock, process } = world();
  const cut: DatabaseLink = {
    ...directLink,
    run: (operation, statement) =>
      operation === 'renew' ? Promise.reject(new LinkLost(false)) : directLink.run(operation, statement),
  };
  const [one, two] = [process('one', cut), process('two')];
  const lead = await one.lead('platform:default');
  expect(lead?.validUntilMs()).toBe(clock.monotonic() + LEASE_MS);
  expect(await two.lead('platform:default')).toBeUndefined();
  await clock.sleep(LEASE_MS);
  const taken = await two.lead('platform:default');
  expect(taken?.ledger.epoch).toBe(2);
  expect(await codeOf(lead?.ledger.commit(step()) ?? Promise.resolve())).toBe('ledger/fenced');
  expect(lead?.over.aborted).toBe(true);
  await taken?.ledger.commit(step());
  await Promise.all([one.close(), two.close()]);
});

test('renewals extend the lease from before they were sent', async () => {
  const { clock, process } = world();
  const one = process('one', {
    ...directLink,
    run: async (operation, statement) => {
      await clock.sleep(1_000);
      const answer = await directLink.run(operation, statement);
      await clock.sleep(1_000);
      return answer;
    },
  });
  const fromMs = clock.monotonic();
  const lead = await one.lead('platform:default');
  expect(lead?.validUntilMs()).toBe(fromMs + LEASE_MS);
  await clock.sleep(10_000);
  expect(lead?.validUntilMs()).toBe(fromMs + 7_000 + LEASE_MS);
  await one.close();
});

test('a commit whose answer is lost is recorded once', async () => {
  const { process } = world();
  let losses = 0;
  const one = process('one', {
    ...directLink,
    run: async (operation, statement) => {
      const answer = await directLink.run(operation, statement);
      if (operation === 'commit' && losses++ === 0) throw new LinkLost(true);
      return answer;
    },
  });
  const lead = await one.lead('platform:default');
  await lead?.ledger.commit(step());
  expect(losses).toBe(1);
  expect(await one.reader.history({ limit: 10 })).toHaveLength(1);
  await one.close();
});
