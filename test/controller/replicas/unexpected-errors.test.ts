import { expect, test } from 'vitest';
import type { Group, Replica } from './hand-led.ts';
import { both, EAST, twoLeaders, WEST } from './two-leaders.ts';

const BUG = "Cannot read properties of undefined (reading 'some')";

/** Two replicas that have applied a commit. */
async function opened(settings?: string) {
  const scene = await twoLeaders(settings);
  const { group, one, two } = scene;
  await group.commit(both('www.example.com'));
  await group.until(() => one.ready(WEST) === 'True InSync' && two.ready(EAST) === 'True InSync', 'both are in sync');
  return scene;
}

/** Lets statements of this kind fail because of a bug. @returns ends it. */
function failing(replica: Replica, kind: string): () => void {
  replica.beforeStatement = async (operation) => {
    if (operation === kind) throw new TypeError(BUG);
  };
  return () => {
    replica.beforeStatement = async () => {};
  };
}

const bugsIn = ({ lines }: Replica): readonly string[] => lines.filter((line) => line.includes('a bug in Portolan'));

/** Stores a fact as a bug, or another version, would. */
function store({ database }: Group, key: string, value: string): void {
  database.store.facts.set(key, value);
  database.store.serial += 1;
  database.factSerials.set(key, database.store.serial);
  database.signal('fact');
}

test('a bug while the state of other replicas is read is logged once, and the reading continues', async () => {
  const { group, two } = await opened();
  const end = failing(two, 'facts');
  await group.pass(30_000);
  expect(bugsIn(two)).toHaveLength(1);
  expect(bugsIn(two)[0]).toContain(BUG);
  await group.commit(both('www.example.com', 'new.example.com'));
  await group.pass(30_000);
  expect(group.domains('west')).toEqual(['www.example.com']);
  end();
  await group.until(() => group.domains('west').length === 2, 'it applies the commit');
  expect(two.lines.join('\n')).toContain('up to date again');
});

test('a replica that a bug keeps from reading ends, if another one can read', async () => {
  const { group, one, two } = await opened();
  let bug: unknown;
  two.controller.lost.catch((error: unknown) => {
    bug = error;
  });
  const [endOne] = [failing(one, 'facts'), failing(two, 'facts')];
  one.controller.lost.catch(() => {});
  const minutes = async (count: number): Promise<void> => {
    for (let beats = 0; beats < count * 12; beats += 1) {
      await group.pass(5_000);
      for (const replica of [one, two]) await replica.beat();
    }
  };
  await minutes(10);
  expect(bug).toBeUndefined();
  endOne();
  await minutes(1);
  expect(bug).toBeInstanceOf(TypeError);
  expect(two.lines.join('\n')).toContain('this process ends because of a bug');
});

test.for(['{"status":{},"kept":{}}', 'null', '{'])(
  'the record %s of an application is skipped, and stops nothing else',
  async (text) => {
    const { group, one, two } = await opened();
    store(group, `status default ${EAST}`, text);
    await group.pass(5_000);
    const revision = await group.commit(both('www.example.com', 'new.example.com'), [one]);
    await group.until(() => two.accepted() === revision, 'the other replica follows');
    await group.until(() => group.domains('west').length === 2, 'it applies the commit');
    expect(bugsIn(two)).toHaveLength(1);
    expect(bugsIn(two)[0]).toContain(`status default ${EAST}`);
    await group.until(() => two.ready(EAST) === 'True InSync', 'it shows the next record that it understands');
  },
);

test('an application whose record a new process does not understand is suspended until a person resumes it', async () => {
  const { group, one, two } = await opened();
  await one.leadership.release('platform:east');
  store(group, `status default ${EAST}`, '{}');
  const three = group.open('three');
  await three.leadership.take('platform:east');
  const revision = await group.commit(both('www.example.com', 'new.example.com'));
  await group.until(() => group.domains('west').length === 2, 'the other platform is worked on');
  await group.until(() => three.accepted() === revision, 'the new process follows');
  await group.pass(60_000);
  expect(group.domains('east')).toEqual(['www.example.com']);
  const pauseAt = ({ controller }: Replica) => controller.api.application(EAST)?.pause;
  await group.until(() => pauseAt(two)?.type === 'suspended', 'every replica shows it');
  expect(pauseAt(two)).toMatchObject({ by: 'portolan', reason: 'its record in the ledger cannot be understood' });
  await three.controller.api.resume(EAST, 'ops');
  await group.until(() => group.domains('east').length === 2, 'it continues');
});

test('removals wait while the standing of the source is not understood', async () => {
  const { group, two } = await opened('{ controller: { pruneAfter: 2m } }');
  store(group, 'source default', '{"isCurrent":');
  await group.pass(10_000);
  expect(bugsIn(two)[0]).toContain('skips the fact "source default"');
  expect(two.controller.api.status().source.observedRevision).toBeNull();
  const revision = await group.commit(both('new.example.com'));
  await group.until(() => two.controller.api.status().source.observedRevision === revision, 'it knows the next one');
});

test('after a bug, the age of removals is stored again', async () => {
  const { group, one } = await opened('{ controller: { pruneAfter: 2h, resyncInterval: 2h } }');
  await group.commit(both('new.example.com'));
  const ages = (): readonly number[] => {
    const { kept } = group.fact(`status default ${EAST}`) as { kept: { goneForMs: Record<string, number> } };
    return Object.values(kept.goneForMs);
  };
  await group.until(() => ages().length > 0, 'a removal is pending');
  // No pass is due, which would store the age too.
  await group.pass(90_000);
  const end = failing(one, 'commit');
  await group.pass(60_000);
  end();
  const [before = 0] = ages();
  await group.pass(120_000);
  expect(ages()[0]).toBeGreaterThanOrEqual(before + 120_000);
});
