import { expect, test } from 'vitest';
import type { PlannedManifests } from '../../src/controller/api.ts';
import type { ResourceId } from '../../src/model/ids.ts';
import type { PlanDocument } from '../../src/plan/document.ts';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import type { DaemonWorld } from './daemon.ts';
import { APPLICATION, BLOG, FILES, started, web } from './shop.ts';

const never = new AbortController().signal;

/** A daemon with its source in sync, and no request counted yet. */
async function inSync(settings: string, files: Readonly<Record<string, string>> = FILES): Promise<DaemonWorld> {
  const world = started(settings);
  await world.commit(files);
  const isInSync = ({ id }: { id: ResourceId }): boolean => world.ready(id) === 'True InSync';
  const { api } = world.controller;
  await world.until(() => api.applications().every(isInSync) && api.status().counts.running === 0, 'all is in sync');
  // What follows a change is looked at once more after a while.
  await world.pass(60_000);
  world.requests.length = 0;
  return world;
}

async function planOf(
  world: DaemonWorld,
  manifests: readonly string[],
  signal: AbortSignal = never,
): Promise<PlanDocument> {
  const files = manifests.map((content, index) => ({ path: `${index}.yaml`, content }));
  const request = { variables: new Map(), prune: false, adopt: [], targets: undefined } as const;
  const planned: PlannedManifests = await world.controller.api.planManifests(files, request, signal);
  if (planned.type === 'invalid') throw new Error(planned.problems.map(({ message }) => message).join());
  return planned.document;
}

const application = (name: string, spec: string) =>
  `apiVersion: portolan/v1\nkind: Application\nmetadata: { name: ${name} }\nspec: { ${spec} }\n`;

const ALLOW_TEAM = `{ scopes: { allow: ["${demo.team}/*/*"] } }`;
const ONLY_SHOP = `{ scopes: { allow: ["${demo.team}/${demo.region}/${demo.appId}"] } }`;

test.for([
  ['another team', ALLOW_TEAM, `team: other, region: ${demo.region}, appId: 42`],
  ['another team, by the name of the application', ALLOW_TEAM, `team: other, region: ${demo.region}, app: shop`],
  ['another application', ONLY_SHOP, `team: ${demo.team}, region: ${demo.region}, appId: 999`],
  ['an application without its number', ONLY_SHOP, `team: ${demo.team}, region: ${demo.region}, app: other`],
] as const)('a plan of manifests that mean %s sends the platform nothing', async ([, settings, spec]) => {
  const world = await inSync(settings, { 'app.yaml': APPLICATION, 'web.yaml': web('WEB') });
  const document = await planOf(world, [application('foreign', spec)]);
  expect(world.requests).toEqual([]);
  expect(document.unobserved).toMatchObject([{ application: 'Application/foreign', code: 'guard/scope' }]);
  expect(document.unobserved[0]?.remedy).toContain('spec.scopes.allow');
});

test('manifests beside them that are allowed are planned', async () => {
  const world = await inSync(ALLOW_TEAM, { 'app.yaml': APPLICATION, 'web.yaml': web('WEB') });
  const document = await planOf(world, [
    APPLICATION,
    web('SITE'),
    application('foreign', 'team: other, region: r, appId: 7'),
  ]);
  expect(document.scopes.flatMap(({ actions }) => actions.map(({ resource }) => resource))).toEqual([
    'Component/shop-web',
  ]);
  expect(world.requests.length).toBeGreaterThan(0);
  expect(world.requests.filter(({ path }) => path.includes('other'))).toEqual([]);
});

test('an application of the accepted source may be planned as it is written there, by its name too', async () => {
  const byName = application('shop', `team: ${demo.team}, region: ${demo.region}, app: shop`);
  const world = await inSync(ONLY_SHOP, { 'app.yaml': byName, 'web.yaml': web('WEB') });
  const document = await planOf(world, [byName, web('SITE')]);
  expect(document.unobserved).toEqual([]);
  expect(document.scopes[0]?.actions).toHaveLength(1);
});

test('a plan that needs more requests than it may make is ended as a whole, and reads nothing more', async () => {
  const world = await inSync('{ server: { planRequests: 3 } }');
  await expect(planOf(world, [APPLICATION, BLOG, web('WEB')])).rejects.toMatchObject({
    code: 'controller/plan-too-large',
    disposition: 'invalid',
    remedy: expect.stringContaining('spec.server.planRequests') as string,
  });
  expect(world.requests).toHaveLength(3);
  await expect(world.controller.api.plan('all', never)).rejects.toMatchObject({ code: 'controller/plan-too-large' });
  await world.pass(1_000);
  expect(world.requests).toHaveLength(6);
});

test('a plan whose client goes away reads nothing more', async () => {
  const world = await inSync('{}');
  const gone = new AbortController();
  world.answer = () => {
    gone.abort(new Error('the client is gone'));
    return undefined;
  };
  await expect(planOf(world, [APPLICATION, BLOG, web('WEB')], gone.signal)).rejects.toThrow('the client is gone');
  const asked = world.requests.length;
  await world.pass(1_000);
  expect(world.requests).toHaveLength(asked);
  // What others read meanwhile is not disturbed.
  world.answer = () => undefined;
  expect((await planOf(world, [APPLICATION, web('WEB')])).unobserved).toEqual([]);
});
