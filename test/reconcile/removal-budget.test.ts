import { expect, test } from 'vitest';
import { reconciledKinds } from '../../src/kinds/registry.ts';
import type { Lead } from '../../src/ledger/shared.ts';
import type { BudgetState } from '../../src/plan/budget.ts';
import { createRemovalBudget } from '../../src/reconcile/removal-budget.ts';
import { MemoryDatabase } from '../support/memory-database.ts';
import { MemoryStore } from '../support/memory-ledger.ts';
import { openMemoryShared } from '../support/memory-shared.ts';
import { seededRandom, VirtualClock } from '../support/virtual-clock.ts';

/** Removals of one platform by two processes, of which one stands still at a read while it loses the platform and regains it. */
async function scene() {
  const clock = new VirtualClock();
  const database = new MemoryDatabase(new MemoryStore('lineage'), () => clock.monotonic());
  const process = async (name: string, seed: number) => {
    const shared = openMemoryShared(database, { clock, random: seededRandom(seed), actor: name });
    let lead: Lead | undefined;
    let gate: Promise<void> | undefined;
    const budget = createRemovalBudget({
      kinds: reconciledKinds,
      clock,
      source: 'default',
      actor: name,
      limits: () => ({ objects: 10, share: 1 }),
      isDaemon: true,
      ledgerOf: () => {
        if (lead === undefined) throw new Error(`${name} does not lead it`);
        const { ledger } = lead;
        return {
          ...ledger,
          fact: async (key) => {
            const text = await ledger.fact(key);
            await gate;
            return text;
          },
        };
      },
    });
    return {
      spend: (count: number) => budget.spend('p', expenses(name, count), name, true),
      take: async () => void (lead = await shared.lead('platform:p')),
      leave: async () => lead?.ledger.close(),
      standStill(): () => void {
        const { promise, resolve } = Promise.withResolvers<void>();
        gate = promise;
        return () => {
          gate = undefined;
          resolve();
        };
      },
    };
  };
  const spent = (): number => {
    const text = database.store.facts.get('budget default p');
    return text === undefined ? 0 : (JSON.parse(text) as BudgetState).spent.length;
  };
  return { one: await process('one', 1), two: await process('two', 2), spent };
}

const expenses = (by: string, count: number) =>
  Array.from({ length: count }, (_, at) => ({ object: `${by} ${at}`, class: 'access' as const }));

test('what another process has spent stays spent, also if this one has lost and regained the platform meanwhile', async () => {
  const { one, two, spent } = await scene();
  await one.take();
  const goOn = one.standStill();
  const spending = one.spend(1);
  await one.leave();
  await two.take();
  await two.spend(10);
  await two.leave();
  await one.take();
  goOn();
  await expect(spending).rejects.toThrow();
  expect(spent()).toBe(10);
  await one.spend(1);
  expect(spent()).toBe(11);
});
