import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { boundPlatforms, changeBinding } from '../../src/ledger/binding.ts';
import type { LedgerOperation } from '../../src/ledger/ledger.ts';
import type { Lead, SharedLedger, SignalTopic } from '../../src/ledger/shared.ts';
import { codeOf, record, snapshot, transaction } from './fixtures.ts';
import { leases } from './lease-contract.ts';
import { type Both, fact, leadOf, report, scopeOf, type SharedUnderTest, step } from './shared-steps.ts';

/**
 * The contract of every shared ledger.
 * @param hasSignals whether signals arrive, which callers must not depend on.
 */
export function sharedContract(name: string, create: () => Promise<SharedUnderTest>, hasSignals = true): void {
  describe(`a shared ledger in ${name}`, () => {
    let under: SharedUnderTest;
    let one: SharedLedger;
    let two: SharedLedger;
    beforeEach(async () => {
      under = await create();
      [one, two] = [await under.open('one'), await under.open('two')];
    });
    afterEach(async () => {
      await one.close();
      await two.close();
    });
    const both = () => ({ under, one, two });
    leases(both);
    transactions(both);
    facts(both);
    events(both);
    commands(both);
    group(both);
    if (hasSignals) signals(both);
  });
}

function transactions(both: Both): void {
  test('takes from a leader what its lease covers, and shows it to every process', async () => {
    const { one, two } = both();
    const [east, source] = [await leadOf(one, 'platform:east'), await leadOf(two, 'source:shop')];
    const refused = [
      [east, transaction([record('x')], scopeOf('west'))],
      [east, transaction([record('x')], scopeOf('eastern'))],
      [east, transaction([record('x')], 'platform:west')],
      [east, transaction([fact('budget shop', '1')], 'source:shop')],
      [east, transaction([{ op: 'accept-snapshot', snapshot: snapshot() }], 'source:shop')],
      [source, transaction([record('x')], 'source:other')],
      [source, transaction([record('x')], scopeOf('east'))],
    ] as const;
    for (const [{ ledger }, refusal] of refused)
      expect(await codeOf(ledger.commit(refusal)), JSON.stringify(refusal)).toBe('RangeError');
    await east.ledger.commit(step('east', east.ledger.epoch, 1));
    await east.ledger.commit(transaction([fact('budget shop', '1', null), record('x')], 'source:shop'));
    await east.ledger.commit(transaction([fact('capabilities east', '1')], 'source:shop'));
    await source.ledger.commit(transaction([fact('budget shop', '2', '1')], 'source:shop'));
    const late = transaction([fact('budget shop', '3', '1'), record('never')], 'source:shop');
    expect(await codeOf(east.ledger.commit(late))).toBe('ledger/conflict');
    expect(east.over.aborted).toBe(false);
    for (const { reader } of [one, two]) {
      expect(await reader.fact('budget shop')).toBe('2');
      expect(await reader.objects({})).toHaveLength(1);
      expect(await codeOf(reader.commit(transaction([record('x')])))).toBe('ledger/read-only');
    }
  });

  test('remembers the platforms that two leaders bind at the same moment', async () => {
    const { one, two } = both();
    const units = [
      ['east', await leadOf(one, 'platform:east')],
      ['west', await leadOf(two, 'platform:west')],
    ] as const;
    await Promise.all(
      units.map(([platform, { ledger }]) =>
        changeBinding(ledger, {
          platform,
          actor: 'test',
          atMs: 1,
          next: () => ({
            binding: { url: `https://${platform}.example.test/`, regions: new Map([['region-1', platform]]) },
            event: 'platform.bound',
            detail: {},
          }),
        }),
      ),
    );
    const names = (await boundPlatforms(one.reader)).map(({ name }) => name);
    expect(names.toSorted()).toEqual(['east', 'west']);
  });

  test('counts once what two leaders count at the same moment', async () => {
    const { one, two } = both();
    const leads = [await leadOf(one, 'platform:east'), await leadOf(two, 'platform:west')];
    const add = async ({ ledger }: Lead): Promise<void> => {
      for (;;) {
        const was = (await ledger.fact('budget')) ?? null;
        const count = fact('budget', String(Number(was ?? 0) + 1), was);
        if ((await codeOf(ledger.commit(transaction([count], 'source:shop')))) === undefined) return;
      }
    };
    await Promise.all(leads.flatMap((lead) => Array.from({ length: 6 }, () => add(lead))));
    expect(await one.reader.fact('budget')).toBe('12');
  });
}

function facts(both: Both): void {
  test('returns the facts that changed, and misses none while others are written', async () => {
    const { one, two } = both();
    const leads = [await leadOf(one, 'platform:east'), await leadOf(two, 'platform:west')];
    const set = (lead: Lead, ...operations: LedgerOperation[]) =>
      lead.ledger.commit(transaction(operations, lead.unit));
    expect(await two.factsSince(0, ['status '])).toEqual({ isAnew: false, serial: 0, facts: new Map() });
    await set(leads[0] as Lead, fact('status a', '1'), fact('status b', '1'), fact('other', '1'));
    const first = await two.factsSince(0, ['status ', 'nothing ']);
    expect([...first.facts]).toEqual([
      ['status a', '1'],
      ['status b', '1'],
    ]);
    await set(leads[0] as Lead, fact('status b', '2', '1'), fact('status c', '1', null));
    const second = await two.factsSince(first.serial, ['status ', 'other']);
    expect([...second.facts]).toEqual([
      ['status b', '2'],
      ['status c', '1'],
    ]);
    expect((await two.factsSince(second.serial, ['status '])).facts.size).toBe(0);
    expect([...(await one.factsSince(0, ['other'])).facts]).toEqual([['other', '1']]);
    const writing = Promise.all(
      leads.map(async (lead, at) => {
        for (let n = 0; n < 25; n += 1) await set(lead, fact(`n ${at} ${n}`, 'x'));
      }),
    );
    const seen = new Set<string>();
    let isWriting = true;
    void writing.finally(() => (isWriting = false));
    for (let { serial } = second, isLast = false; !isLast; ) {
      isLast = !isWriting;
      const changed = await two.factsSince(serial, ['n ']);
      for (const key of changed.facts.keys()) {
        expect(seen.has(key)).toBe(false);
        seen.add(key);
      }
      ({ serial } = changed);
    }
    await writing;
    expect(seen.size).toBe(50);
  });
}

function events(both: Both): void {
  test('orders the events of all processes: no reader misses one, or sees a later one before it', async () => {
    const { one, two } = both();
    const { server } = await one.events.since(0, 10);
    expect(await two.events.since(0, 10)).toEqual({ server, events: [] });
    await one.events.append([]);
    const writing = Promise.all(
      [one, two].map(async ({ events: log }, at) => {
        for (let n = 0; n < 20; n += 2)
          await log.append([
            { at, n },
            { at, n: n + 1 },
          ]);
      }),
    );
    const seen: { readonly at: number; readonly n: number }[] = [];
    while (seen.length < 40)
      for (const { sequence, event } of (await two.events.since(seen.length, 7)).events) {
        seen.push(event as { at: number; n: number });
        expect(sequence).toBe(seen.length);
      }
    await writing;
    for (const at of [0, 1])
      expect(seen.filter((event) => event.at === at).map(({ n }) => n)).toEqual(
        Array.from({ length: 20 }, (_, n) => n),
      );
    expect(await one.events.since(39, 7)).toMatchObject({ server, events: [{ sequence: 40 }] });
    expect(await one.events.since(40, 7)).toEqual({ server, events: [] });
  });

  test('keeps the newest 5,000 events', async () => {
    const { one, two } = both();
    for (let n = 0; n < 6; n += 1) await one.events.append(Array.from({ length: 1_000 }, (_, at) => ({ at })));
    const { events: kept } = await two.events.since(0, 10_000);
    expect([kept.length, kept[0]?.sequence, kept.at(-1)?.sequence]).toEqual([5_000, 1_001, 6_000]);
  });
}

function commands(both: Both): void {
  test('keeps a command until the leader of its unit has finished it', async () => {
    const { one, two, under } = both();
    const unit = 'platform:east';
    const ids = [];
    for (const n of [1, 2]) ids.push(await one.commands.add({ unit, method: 'sync', args: [n, 'é'], by: 'ann' }));
    const [first = '', second = ''] = ids;
    await one.commands.add({ unit: 'platform:west', method: 'sync', args: null, by: 'ann' });
    const lead = await leadOf(two, unit);
    const open = await two.commands.open(unit);
    expect(open).toMatchObject([
      { id: first, unit, method: 'sync', args: [1, 'é'], by: 'ann' },
      { id: second, args: [2, 'é'] },
    ]);
    expect(open[0]?.addedAgoMs).toBeGreaterThanOrEqual(0);
    expect(await one.commands.result(first)).toBeUndefined();
    await two.commands.finish(lead, first, { done: true });
    await two.commands.finish(lead, first, { done: 'twice' });
    expect(await one.commands.result(first)).toEqual({ done: true });
    expect((await one.commands.open(unit)).map(({ id }) => id)).toEqual([second]);
    await under.expire(unit);
    const next = await leadOf(one, unit);
    expect(await codeOf(two.commands.finish(lead, second, 'late'))).toBe('ledger/fenced');
    expect(await one.commands.result(second)).toBeUndefined();
    await one.commands.finish(next, second, null);
    expect(await two.commands.result(second)).toBeNull();
    expect(await two.commands.result('nothing')).toBeUndefined();
  });

  test('lets any leader finish the commands of units that no process leads, and of no other unit', async () => {
    const { one, two, under } = both();
    const ids = [];
    for (const unit of ['platform:east', 'platform:west', 'platform:never'] as const)
      ids.push(await one.commands.add({ unit, method: 'sync', args: [unit], by: 'ann' }));
    const [east = '', west = '', never = ''] = ids;
    const source = await leadOf(one, 'source:default');
    await leadOf(two, 'platform:east');
    const released = await leadOf(two, 'platform:west');
    expect((await one.commands.unled(-1_000)).map(({ id }) => id)).toEqual([never]);
    await released.ledger.close();
    expect(await one.commands.unled(-1_000)).toMatchObject([
      { id: west, unit: 'platform:west', method: 'sync', args: ['platform:west'], by: 'ann' },
      { id: never },
    ]);
    expect(await one.commands.unled(60_000)).toEqual([]);
    for (const id of [east, west, never]) await one.commands.finish(source, id, 'refused');
    expect(await Promise.all(ids.map((id) => one.commands.result(id)))).toEqual([undefined, 'refused', 'refused']);
    expect(await one.commands.unled(-1_000)).toEqual([]);
    await under.expire('platform:east');
    expect((await two.commands.unled(-1_000)).map(({ id }) => id)).toEqual([east]);
  });

  test('lets any leader finish the commands that are overdue, also those of a unit that another process leads', async () => {
    const { one, two } = both();
    const unit = 'platform:east';
    const id = await one.commands.add({ unit, method: 'sync', args: null, by: 'ann' });
    const source = await leadOf(one, 'source:default');
    await leadOf(two, unit);
    expect(await one.commands.overdue(60_000)).toEqual([]);
    expect(await one.commands.overdue(-1_000)).toMatchObject([{ id, unit }]);
    await one.commands.finish(source, id, 'too early', 60_000);
    expect(await one.commands.result(id)).toBeUndefined();
    await one.commands.finish(source, id, 'refused', -1_000);
    expect(await two.commands.result(id)).toBe('refused');
    expect(await one.commands.overdue(-1_000)).toEqual([]);
  });
}

function group(both: Both): void {
  test('shows the live replicas with what they report', async () => {
    const { one, two } = both();
    await one.beat(report('one'), false);
    expect(await two.beat({ ...report('two'), facts: null }, false)).toMatchObject([report('one'), { name: 'two' }]);
    expect(await one.beat(report('one'), true)).toMatchObject([
      { ...report('one'), isDraining: true, seenAgoMs: 0 },
      { ...report('two'), facts: null, isDraining: false },
    ]);
    await one.leave();
    expect((await two.beat(report('two'), false)).map(({ name }) => name)).toEqual(['two']);
  });

  test('tells the processes of one name apart', async () => {
    const { one, under } = both();
    const restarted = await under.open('one');
    try {
      await leadOf(one, 'platform:east');
      await leadOf(restarted, 'platform:west');
      const [first] = await one.beat(report('one'), false);
      const live = await restarted.beat({ ...report('one'), startedMs: 8 }, false);
      expect(live.map(({ name, startedMs }) => [name, startedMs])).toEqual([
        ['one', 7],
        ['one', 8],
      ]);
      const holders = live.map(({ holder }) => holder);
      expect(new Set(holders).size).toBe(2);
      expect((await restarted.leaders()).map(({ holder }) => holder)).toEqual(holders);
      await restarted.leave();
      expect((await one.beat(report('one'), false)).map(({ holder }) => holder)).toEqual([first?.holder]);
    } finally {
      await restarted.close();
    }
  });

  test('counts no heartbeat from the future, where the clock of the database was set back', async () => {
    const { one, two, under } = both();
    const beat = async (ledger: SharedLedger, name: string) =>
      (await ledger.beat(report(name), false)).map((found) => found.name);
    await beat(one, 'one');
    expect(await beat(two, 'two')).toEqual(['one', 'two']);
    await under.setClock(-500);
    expect(await beat(one, 'one'), 'the clock may be corrected a little').toEqual(['one', 'two']);
    await under.setClock(-3_600_000);
    expect(await beat(one, 'one')).toEqual(['one']);
    expect(await beat(two, 'two')).toEqual(['one', 'two']);
    await under.setClock(-60_000);
    expect(await beat(one, 'one')).toEqual(['one']);
    await under.setClock(60_000 - 1_000);
    expect(await beat(one, 'one'), 'it is not kept until the clock comes to it').toEqual(['one']);
  });

  test('shares sessions by their hashes', async () => {
    const { one, two } = both();
    for (const hash of ['a', 'b', 'c']) await one.sessions.start(hash, { name: hash });
    expect(await two.sessions.find('b')).toMatchObject({ hash: 'b', user: { name: 'b' } });
    await two.sessions.use(['b', 'nothing']);
    await two.sessions.end(['a', 'nothing']);
    expect(await one.sessions.find('a')).toBeUndefined();
    const left = await one.sessions.all();
    expect(left.map(({ hash }) => hash).toSorted()).toEqual(['b', 'c']);
    for (const { startedAgoMs, usedAgoMs } of left) expect(startedAgoMs).toBeGreaterThanOrEqual(usedAgoMs);
  });
}

function signals(both: Both): void {
  test('signals changes to every process', async () => {
    const { one, two } = both();
    const heard = new Set<SignalTopic>();
    const end = two.onSignal((topic) => heard.add(topic));
    const listening = async (topic: SignalTopic, change: () => Promise<unknown>): Promise<void> => {
      heard.clear();
      for (let n = 0; !heard.has(topic); n += 1) {
        if (n === 0) await change();
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    };
    // The first signals follow the connection.
    await listening('session', () => one.sessions.start('first', null));
    await listening('event', () => one.events.append([1]));
    await listening('lease', () => one.lead('platform:east'));
    const west = await leadOf(one, 'platform:west');
    await listening('fact', () => west.ledger.commit(transaction([fact('one', '1')], 'platform:west')));
    await listening('lease', () => west.ledger.close());
    await listening('lease', () => one.beat(report('one'), false));
    await listening('lease', () => one.beat(report('one'), true));
    await listening('lease', () => one.leave());
    await listening('command', () => one.commands.add({ unit: 'platform:east', method: 'x', args: null, by: 'ann' }));
    await listening('session', () => one.sessions.end(['first']));
    end();
  });
}
