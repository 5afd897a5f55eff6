import { expect, onTestFinished, test } from 'vitest';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import { DaemonWorld } from './daemon.ts';

const SHOP = 'Application/shop';

const document = (kind: string, name: string, spec: string): string =>
  `apiVersion: portolan/v1\nkind: ${kind}\nmetadata: { name: ${name} }\nspec: ${spec}\n`;

/** The shop with so many rules, and an application that is looked up in the ledger after it. */
function filesOf(rules: number, ...others: readonly string[]): Record<string, string> {
  const port = '{ port: 8080, protocol: http, inner: true, outer: true }';
  const files: Record<string, string> = {
    'app.yaml': document('Application', 'shop', `{ team: ${demo.team}, region: ${demo.region}, appId: ${demo.appId} }`),
    'web.yaml': document(
      'Component',
      'shop-web',
      `{ application: shop, serviceId: ${demo.webServiceId}, ports: [ ${port} ] }`,
    ),
  };
  for (const name of others)
    files[`${name}.yaml`] = document(
      'Application',
      name,
      `{ team: ${demo.team}, region: ${demo.region}, appId: 4711 }`,
    );
  for (let index = 0; index < rules; index += 1)
    files[`rule-${index}.yaml`] = document(
      'HttpGatewayRule',
      `rule-${index}`,
      `{ application: shop, component: shop-web, port: 8080, domain: r${index}.example.com }`,
    );
  return files;
}

async function settled(rules: number): Promise<DaemonWorld> {
  const world = new DaemonWorld('{ controller: { pruneAfter: 10m, resyncInterval: 1h }, prune: { maxShare: 1 } }');
  onTestFinished(async () => void (await world.controller.drain()));
  world.start();
  await world.commit(filesOf(rules));
  await world.until(() => world.ready(SHOP) === 'True InSync', 'shop is in sync');
  // It looks a few times more at what it has just created.
  await world.pass(600_000);
  return world;
}

const domains = (world: DaemonWorld): readonly string[] =>
  [...world.state.rules.all()].filter(({ type }) => type === 1).map(({ domain }) => domain);

test('applications of a commit that could not be taken over at first are looked at when it can', async () => {
  const world = await settled(2);
  world.unreadableFact = 'Application/zoo';
  await world.commit(filesOf(3, 'zoo'));
  world.unreadableFact = undefined;
  await world.pass(60_000);
  expect(domains(world)).toContain('r2.example.com');
});

test('a controller is ready once it knows the applications of the commit that it has accepted', async () => {
  const world = new DaemonWorld();
  onTestFinished(async () => void (await world.controller.drain()));
  world.start();
  world.unreadableFact = SHOP;
  await world.commit(filesOf(1));
  const standing = () => {
    const { phase, source } = world.controller.api.status();
    return { phase, isAccepted: source.acceptedRevision !== null, known: world.controller.api.applications().length };
  };
  expect(standing()).toEqual({ phase: 'starting', isAccepted: true, known: 0 });
  world.unreadableFact = undefined;
  await world.until(() => standing().known === 1, 'the shop is known');
  expect(standing()).toEqual({ phase: 'running', isAccepted: true, known: 1 });
});

test('a pass begins no write for an application that git has removed meanwhile', async () => {
  const world = await settled(1);
  let isRemoved = false;
  world.answer = async (request) => {
    if (request.isRead || isRemoved) return undefined;
    isRemoved = true;
    const { 'app.yaml': _app, 'web.yaml': _web, ...others } = filesOf(0, 'zoo');
    await world.commit(others);
    return undefined;
  };
  await world.commit(filesOf(3, 'zoo'));
  await world.until(() => isRemoved, 'the first write is sent');
  await world.pass(60_000);
  expect(domains(world).toSorted()).toEqual(['r0.example.com', 'r1.example.com']);
});

test('nothing is removed for a revision that was replaced before its successor is taken over', async () => {
  const world = await settled(3);
  await world.commit(filesOf(2));
  await world.pass(540_000);
  world.unreadableFact = 'Application/aaa';
  await world.commit(filesOf(3, 'aaa'));
  await world.pass(1_800_000);
  expect(domains(world)).toContain('r2.example.com');
  expect(world.requests.filter(({ method }) => method === 'DELETE')).toEqual([]);
  world.unreadableFact = undefined;
  await world.until(() => world.ready(SHOP) === 'True InSync', 'shop is taken over');
  expect(domains(world)).toContain('r2.example.com');
});

test('nothing is removed for a revision whose successor was read and could not be accepted', async () => {
  const world = await settled(3);
  await world.commit(filesOf(2));
  await world.pass(540_000);
  world.unreadableFact = 'largest';
  await world.commit(filesOf(3));
  await world.pass(1_800_000);
  expect(world.requests.filter(({ method }) => method === 'DELETE')).toEqual([]);
  world.unreadableFact = undefined;
  await world.until(() => world.ready(SHOP) === 'True InSync', 'shop is taken over');
  expect(domains(world)).toContain('r2.example.com');
});
