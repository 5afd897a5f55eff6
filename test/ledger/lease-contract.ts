import { expect, test } from 'vitest';
import type { LeaseUnit, SharedLedger } from '../../src/ledger/shared.ts';
import { codeOf, record, transaction } from './fixtures.ts';
import { type Both, leadOf, report, step } from './shared-steps.ts';

/** What every shared ledger does with leases. */
export function leases(both: Both): void {
  test('gives each unit to one process, under a new epoch each time, and names its last leader', async () => {
    const { one, two, under } = both();
    const east = await leadOf(one, 'platform:east');
    expect([await one.lead('platform:east'), await two.lead('platform:east')]).toEqual([undefined, undefined]);
    const source = await leadOf(two, 'source:default');
    expect(source.ledger.epoch).toBeGreaterThan(east.ledger.epoch);
    const named = async () =>
      (await one.leaders()).map(({ unit, replica, epoch, leftMs, isReleased }) => [
        unit,
        replica,
        epoch,
        leftMs > 0 ? 'leads' : isReleased ? 'released' : 'expired',
      ]);
    expect(await named()).toEqual([
      ['platform:east', 'one', east.ledger.epoch, 'leads'],
      ['source:default', 'two', source.ledger.epoch, 'leads'],
    ]);
    await east.ledger.close();
    await under.expire('source:default');
    expect(await named()).toEqual([
      ['platform:east', 'one', east.ledger.epoch, 'released'],
      ['source:default', 'two', source.ledger.epoch, 'expired'],
    ]);
    const next = await leadOf(two, 'platform:east');
    expect(next.ledger.epoch).toBeGreaterThan(source.ledger.epoch);
    expect([east.over.aborted, next.over.aborted]).toEqual([true, false]);
    expect(await codeOf(east.ledger.commit(step('east', east.ledger.epoch, 1)))).toBe('ledger/fenced');
    await under.expire('platform:east');
    expect((await leadOf(one, 'platform:east')).ledger.epoch).toBeGreaterThan(next.ledger.epoch);
  });

  test('gives the units to the processes of one source at a time, and fences those of the former one', async () => {
    const { under, two } = both();
    const [shop, twin, blog] = (await Promise.all(
      ['shop', 'shop', 'the blog'].map((source, at) => under.open(`of-${at}`, source)),
    )) as [SharedLedger, SharedLedger, SharedLedger];
    try {
      const east = await leadOf(shop, 'platform:east');
      expect(await blog.lead('platform:west')).toBeUndefined();
      expect(await blog.lead('source:the blog')).toBeUndefined();
      const west = await leadOf(twin, 'platform:west');
      const neutral = await leadOf(two, 'platform:north');
      const live = await blog.beat(report('of-2'), false);
      expect(live.map(({ name, source }) => [name, source])).toEqual([['of-2', 'the blog']]);
      expect((await blog.leaders()).map(({ unit, source }) => [unit, source])).toEqual([
        ['platform:east', 'shop'],
        ['platform:north', undefined],
        ['platform:west', 'shop'],
      ]);
      await west.ledger.close();
      expect(await blog.lead('platform:west')).toBeUndefined();
      await under.expire('platform:east');
      await leadOf(blog, 'platform:west');
      expect(await codeOf(east.ledger.commit(step('east', east.ledger.epoch, 1)))).toBe('ledger/fenced');
      expect(await shop.lead('platform:east')).toBeUndefined();
      expect(neutral.over.aborted).toBe(false);
    } finally {
      for (const one of [shop, twin, blog]) await one.close();
    }
  });

  test('fences a process whose lease another one took, and it may lead again later', async () => {
    const { one, two, under } = both();
    const east = await leadOf(one, 'platform:east');
    await under.expire('platform:east');
    await east.ledger.commit(step('east', east.ledger.epoch, 1));
    await under.expire('platform:east');
    const next = await leadOf(two, 'platform:east');
    expect(await codeOf(east.ledger.commit(step('east', east.ledger.epoch, 2)))).toBe('ledger/fenced');
    expect(east.over.aborted).toBe(true);
    await east.ledger.close();
    expect(next.over.aborted, 'a late release takes nothing from the successor').toBe(false);
    await next.ledger.commit(step('east', next.ledger.epoch, 3));
    await next.ledger.close();
    await (await leadOf(one, 'platform:east')).ledger.commit(transaction([record('back')], 'platform:east'));
  });

  test('gives each unit to exactly one of many processes that want it at the same moment', async () => {
    const { one, two } = both();
    const units = Array.from({ length: 6 }, (_, n): LeaseUnit => `platform:p${n}`);
    const led = await Promise.all(units.flatMap((unit) => [one.lead(unit), two.lead(unit)]));
    const epochs = led.filter((lead) => lead !== undefined).map(({ ledger }) => ledger.epoch);
    expect(new Set(epochs).size).toBe(units.length);
    expect(epochs).toHaveLength(units.length);
  });
}
