import { expect, onTestFinished, test } from 'vitest';
import type { Allowances } from '../../../src/controller/acceptance.ts';
import { application, Group, type Replica } from './hand-led.ts';

const EAST = 'Application/east' as const;
const SOURCE = 'source:default';
const SETTINGS =
  '{ prune: { enabled: true, maxShare: 1, maxObjects: 100, dailyObjects: 100 }, controller: { pruneAfter: 1m } }';

const filesOf = (rules: number) =>
  application('east', ...Array.from({ length: rules }, (_, at) => `d${at}.example.com`));

/** A replica that leads everything, in sync with a commit of 12 rules. */
async function leading(): Promise<{ group: Group; one: Replica; start(allow: Partial<Allowances>): Promise<Replica> }> {
  const group = new Group(SETTINGS);
  onTestFinished(() => group.close());
  const one = group.open('one');
  void one.keepBeating();
  await one.leadership.take(SOURCE);
  await one.leadership.take('platform:east');
  await group.commit(filesOf(12));
  await group.until(() => one.ready(EAST) === 'True InSync', 'in sync');
  const start = async (allow: Partial<Allowances>): Promise<Replica> => {
    const accepted = one.accepted();
    const replica = group.open('three', new Map(), allow);
    void replica.keepBeating();
    await group.until(() => replica.accepted() === accepted, 'the new replica follows');
    return replica;
  };
  return { group, one, start };
}

async function handOver(group: Group, from: Replica, to: Replica): Promise<void> {
  await from.leadership.release(SOURCE);
  expect(await to.leadership.take(SOURCE)).toBe(true);
  await group.pass(300_000);
}

const codesAt = ({ controller }: Replica): readonly string[] | undefined =>
  controller.api.application(EAST)?.approval?.refusals.map(({ code }) => code);

test('a guard holds a commit that a replica reads later than at its start, whatever its start allowed', async () => {
  const { group, one, start } = await leading();
  const three = await start({ shrunk: true });
  await group.commit(filesOf(13));
  await group.until(() => group.domains('east').length === 13, 'it is applied');
  await group.commit(filesOf(4));
  await group.pass(300_000);
  expect([group.domains('east').length, codesAt(one)]).toEqual([13, ['guard/shrunk-source']]);
  await handOver(group, one, three);
  expect([group.domains('east').length, codesAt(one)]).toEqual([13, ['guard/shrunk-source']]);
});

test('a guard holds a commit that was accepted before a replica had read anything, whatever its start allowed', async () => {
  const { group, one, start } = await leading();
  const three = await start({ shrunk: true });
  const revision = await group.commit(filesOf(4), [one]);
  await group.until(() => three.accepted() === revision, 'the new replica follows');
  await group.pass(300_000);
  await group.tell(2, filesOf(4), [three]);
  await handOver(group, one, three);
  expect([group.domains('east').length, codesAt(one)]).toEqual([12, ['guard/shrunk-source']]);
  expect(three.lines.join('\n')).toContain('--allow-shrunk has no effect any more');
});

test('what a start allows counts for the first revision until the replica leads the source', async () => {
  const { group, one, start } = await leading();
  await group.commit(filesOf(4));
  await group.pass(300_000);
  expect(group.domains('east')).toHaveLength(12);
  const three = await start({ shrunk: true });
  await group.tell(2, filesOf(4), [three]);
  await group.pass(300_000);
  expect(codesAt(one)).toEqual(['guard/shrunk-source']);
  await handOver(group, one, three);
  expect(group.domains('east')).toHaveLength(4);
  // It is used up.
  await group.commit(filesOf(12));
  await group.pass(300_000);
  await group.commit(filesOf(4));
  await group.pass(300_000);
  expect([group.domains('east').length, codesAt(one)]).toEqual([12, ['guard/shrunk-source']]);
});

test('a checkout that is older than what others accepted later is no rewind that a start allowed', async () => {
  const { group, one, start } = await leading();
  const three = await start({ rewind: true });
  three.hasCheckout = true;
  await group.tell(1, filesOf(12), [three]);
  const second = await group.commit(filesOf(13), [one]);
  await group.until(() => three.accepted() === second, 'the new replica follows');
  await handOver(group, one, three);
  expect(three.controller.api.status().source).toMatchObject({
    acceptedRevision: second,
    error: { code: 'source/behind' },
  });
});
