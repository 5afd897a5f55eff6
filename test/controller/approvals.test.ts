import { expect, test } from 'vitest';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import { FILES, rule, SHOP, started } from './shop.ts';

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
