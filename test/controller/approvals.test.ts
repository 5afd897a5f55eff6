import { expect, test } from 'vitest';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import { domains, FILES, portOf, rule, SHOP, started, web } from './shop.ts';

const BLOG = 'Application/blog';
const INSTALL = `apiVersion: portolan/v1
kind: StoreInstall
metadata: { name: blog-cache }
spec: { application: blog, store: main, model: { id: ${demo.redisModelId}, version: "7.4.0" } }
`;
const UNKNOWN = '0'.repeat(64);

test('a rejected digest is explained: unknown, a total, a part, of another application, changed, or approved', async () => {
  const world = started('{ controller: { pruneAfter: 1m } }');
  const { api } = world.controller;
  const { signal } = new AbortController();
  const reject = async (digest: string, code: string): Promise<string> => {
    const error: unknown = await api.approve(SHOP, digest, 'alice').catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: `controller/${code}` });
    return (error as Error).message;
  };
  await world.commit({ ...FILES, 'api.yaml': rule('api', 'api.example.com') });
  await world.until(() => [SHOP, BLOG].every((id) => world.ready(id as typeof SHOP) === 'True InSync'), 'in sync');
  expect(await reject(UNKNOWN, 'nothing-to-approve')).toBe(
    `The digest ${UNKNOWN} was rejected: no plan with this digest is known. It may be of an earlier state, or the total digest of a plan of several applications. No plan of ${SHOP} waits for an approval. Nothing was approved.`,
  );

  await api.suspend(BLOG, 'alice', 'a test');
  for (const commit of [2, 3]) world.feed.descents.set(String(commit).padStart(40, '0'), 'does-not-descend');
  await world.commit({ ...FILES, 'blog-cache.yaml': INSTALL });
  await world.until(() => world.application(BLOG).pending !== null, 'the install waits');
  await world.until(() => world.application(SHOP).approval !== null, 'the removal is held');
  const held = world.application(SHOP).approval?.digest ?? '';
  // The plan of the application has the digest that approves it; the plan of all has it beside the total.
  const all = await api.plan('all', signal);
  expect(all.scopes.find(({ application }) => application === SHOP)?.digest).toBe(held);
  expect((await api.plan([SHOP], signal)).digest).toBe(held);
  expect(await reject(all.digest, 'other-plan')).toContain('it is the total digest of a plan of 2 applications, and');
  expect(await reject(held.slice(0, 12), 'other-plan')).toContain('it is only the beginning of a digest');
  const other = world.application(BLOG).pending?.digest ?? '';
  expect(await reject(other, 'other-plan')).toContain(`it is the digest of the plan of ${BLOG}. `);

  const { 'www.yaml': _, ...fewer } = FILES;
  await world.commit(fewer);
  await world.until(() => ![undefined, held].includes(world.application(SHOP).approval?.digest), 'it changes');
  const changed = world.application(SHOP).approval?.digest ?? '';
  expect(await reject(held, 'other-plan')).toMatch(
    new RegExp(`was held at 2026-\\S+Z, and the plan has changed since\\. .* has the digest ${changed}\\.`),
  );
  await api.approve(SHOP, changed, 'alice');
  await world.until(() => world.ready(SHOP) === 'True InSync', 'it is removed');
  expect(await reject(changed, 'nothing-to-approve')).toMatch(/was approved at 2026-\S+Z\. No plan of/);
});

/** A commit after a rewind lacks a rule, whose removal therefore waits for an approval. */
async function held() {
  const world = started('{ controller: { pruneAfter: 1m } }');
  await world.commit({ ...FILES, 'api.yaml': rule('api', 'api.example.com') });
  await world.until(() => world.ready(SHOP) === 'True InSync', 'in sync');
  world.feed.descents.set('2'.padStart(40, '0'), 'does-not-descend');
  await world.commit(FILES);
  await world.until(() => world.application(SHOP).approval !== null, 'the removal is held');
  const digest = world.application(SHOP).approval?.digest ?? '';
  const approved = (): unknown => {
    const stored = JSON.parse(world.store.facts.get(`status default ${SHOP}`) ?? '{}') as {
      kept: { approved: unknown };
    };
    return stored.kept.approved;
  };
  return { world, digest, approved };
}

test('a plan that two persons approve at once is carried out once: no approval is left for an equal plan later', async () => {
  const { world, digest, approved } = await held();
  const { api } = world.controller;
  await api.approve(SHOP, digest, 'alice');
  const second = Promise.withResolvers<void>();
  world.beforeCommit = async ({ operations }) => {
    if (operations.some((one) => one.op === 'record' && one.event === 'approved')) await second.promise;
  };
  const before = world.requests.length;
  const bob = api.approve(SHOP, digest, 'bob');
  // The pass has read all that it needs, and takes up the approval of Alice.
  await world.until(() => world.requests.slice(before).some(({ operation }) => operation === 'listRules'), 'a pass');
  await world.pass(1_000);
  second.resolve();
  await bob;
  await world.until(() => world.ready(SHOP) === 'True InSync', 'it is removed');
  expect(approved()).toBeNull();
});

test('what is being carried out cannot be approved again', async () => {
  const { world, digest, approved } = await held();
  const { api } = world.controller;
  const late: unknown[] = [];
  world.answer = async ({ isRead }) => {
    if (!isRead) late.push(await api.approve(SHOP, digest, 'bob').catch((error: unknown) => error));
    return undefined;
  };
  await api.approve(SHOP, digest, 'alice');
  await world.until(() => world.ready(SHOP) === 'True InSync', 'it is removed');
  expect(late).toEqual([expect.objectContaining({ code: 'controller/nothing-to-approve' })]);
  expect(approved()).toBeNull();
});

test('an approval ends when the plan has changed: the same plan needs another one when it comes back', async () => {
  const { world, digest, approved } = await held();
  const { api } = world.controller;
  const isThere = (): boolean => domains(world).includes('api.example.com');
  // Somebody changes the platform before the pass that would carry it out.
  world.state.ports.put({ ...portOf(world), alias: 'DRIFT' });
  await api.approve(SHOP, digest, 'alice');
  await world.until(() => portOf(world).alias === 'WEB', 'a pass corrects the drift');
  await world.until(() => world.application(SHOP).approval?.digest === digest, 'the same plan waits again');
  await world.pass(2 * 60 * 60_000);
  expect([isThere(), approved()]).toEqual([true, null]);
  const [ended] = world.eventsOf('approval.ended');
  expect(ended).toMatchObject({ application: SHOP, detail: { by: 'alice', digest } });
  expect(ended?.message).toContain('which alice approved, has changed: nothing of it was sent, and the approval ended');
  expect(world.eventsOf('approval.ended')).toHaveLength(1);

  await world.commit({ ...FILES, 'api.yaml': rule('api', 'api.example.com') });
  await world.until(() => world.ready(SHOP) === 'True InSync', 'the rule is in git again');
  await expect(api.approve(SHOP, digest, 'bob')).rejects.toThrow(
    'because the plan had changed before it was carried out',
  );
});

test.each([
  ['stays while its plan waits for the end of a suspension', FILES, [] as string[]],
  ['ends during a suspension, when the plan changes', { ...FILES, 'web.yaml': web('SHOP') }, ['alice']],
])('an approval %s', async (_, files, ended) => {
  const { world, digest, approved } = await held();
  const { api } = world.controller;
  await Promise.all([api.approve(SHOP, digest, 'alice'), api.suspend(SHOP, 'bob', 'a test')]);
  await world.commit(files);
  await world.pass(60 * 60_000);
  const isCarriedOut = ended.length === 0;
  expect(approved()).toEqual(isCarriedOut ? { digest, by: 'alice', atMs: expect.any(Number) } : null);
  await api.resume(SHOP, 'bob');
  await world.until(
    () => (isCarriedOut ? world.ready(SHOP) === 'True InSync' : world.application(SHOP).approval !== null),
    'a pass after the suspension',
  );
  expect(domains(world).includes('api.example.com')).toBe(!isCarriedOut);
  expect(approved()).toBeNull();
  expect(world.eventsOf('approval.ended').map(({ detail }) => (detail as { by: string }).by)).toEqual(ended);
});
