import { expect, onTestFinished, test } from 'vitest';
import type { Seed } from '../../src/sandbox/seed.ts';
import { DaemonWorld } from './daemon.ts';

const TEAM = 'team-a';
const REGION = 'region-1';

const serviceId = (app: number): string => app.toString(16).padStart(6, '0').padEnd(32, '0');

/** Applications 1 … n with one component each, and a port. */
function seedOf(apps: number): Seed {
  return {
    enterprise: { id: 'e0e1e2e3e4e5e6e7e8e9eaebecedeeef' },
    regions: [{ id: '11a1b2c3d4e5f60718293a4b5c6d7e8f', name: REGION }],
    teams: [{ id: 'd0d1d2d3d4d5d6d7d8d9dadbdcdddedf', name: TEAM }],
    applications: Array.from({ length: apps }, (_, index) => ({
      id: index + 1,
      team: TEAM,
      region: REGION,
      name: `app-${index + 1}`,
      components: [{ id: serviceId(index + 1), name: `web-${index + 1}`, ports: [{ port: 8080, inner: true }] }],
    })),
  };
}

function manifestOf(app: number, alias: string, rules: number): string {
  const documents = [
    `kind: Application\nmetadata: { name: app-${app} }\nspec: { team: ${TEAM}, region: ${REGION}, appId: ${app} }\n`,
    `kind: Component\nmetadata: { name: web-${app} }\nspec: { application: app-${app}, serviceId: "${serviceId(app)}", ports: [ { port: 8080, protocol: http, alias: ${alias}, inner: true, outer: true } ] }\n`,
    ...Array.from(
      { length: rules },
      (_, index) =>
        `kind: HttpGatewayRule\nmetadata: { name: rule-${app}-${index} }\nspec: { application: app-${app}, component: web-${app}, port: 8080, domain: r${index}.app-${app}.example.com }\n`,
    ),
  ];
  return documents.map((document) => `apiVersion: portolan/v1\n${document}`).join('---\n');
}

function filesOf(apps: number, alias: string, rules: (app: number) => number): Record<string, string> {
  return Object.fromEntries(
    Array.from({ length: apps }, (_, index) => [
      `app-${index + 1}.yaml`,
      manifestOf(index + 1, alias, rules(index + 1)),
    ]),
  );
}

function started(apps: number, settings: string): DaemonWorld {
  const world = new DaemonWorld(settings, seedOf(apps));
  onTestFinished(async () => void (await world.controller.drain()));
  world.start();
  return world;
}

const rulesOf = (world: DaemonWorld): number => [...world.state.rules.all()].filter(({ type }) => type === 1).length;
const readies = (world: DaemonWorld): number => world.controller.api.status().counts.ready;

test('what one revision may remove is counted over all applications: each removing a little is refused as well', async () => {
  const world = started(8, '{ controller: { pruneAfter: 1m, concurrency: 3 }, prune: { maxObjects: 5, maxShare: 1 } }');
  await world.commit(filesOf(8, 'WEB', () => 3));
  await world.until(() => readies(world) === 8, 'all are in sync');
  expect(rulesOf(world)).toBe(24);
  await world.commit(filesOf(8, 'WEB', () => 1));
  await world.pass(3_600_000);
  // Two applications with two rules each fit into five.
  expect(rulesOf(world)).toBe(24 - 4);
  const waiting = world.controller.api.applications().filter(({ approval }) => approval !== null);
  expect(waiting).toHaveLength(6);
  expect(waiting[0]?.approval?.refusals.map(({ code }) => code)).toEqual(['guard/prunes']);

  // A restart forgets nothing of what was spent.
  await world.controller.drain();
  world.restart();
  world.start();
  await world.commit(filesOf(8, 'WEB', () => 1));
  await world.pass(3_600_000);
  expect(rulesOf(world)).toBe(20);

  const [first] = world.controller.api.applications().filter(({ approval }) => approval !== null);
  if (first?.approval == null) throw new Error('nothing waits');
  await world.controller.api.approve(first.id, first.approval.digest, 'alice');
  await world.pass(3_600_000);
  expect(rulesOf(world)).toBe(18);
  expect(world.eventsOf('approval.given')).toHaveLength(1);
});

test('many changes of one revision are refused from the allowed share on; a first apply is not counted', async () => {
  const world = started(20, '{ controller: { concurrency: 2 } }');
  await world.commit(filesOf(20, 'WEB', () => 0));
  await world.until(() => readies(world) === 20, 'all are in sync');
  await world.commit(filesOf(20, 'SITE', () => 0));
  await world.pass(3_600_000);
  const changed = [...world.state.ports.all()].filter(({ alias }) => alias === 'SITE');
  expect(changed.length).toBeGreaterThan(0);
  expect(changed.length).toBeLessThanOrEqual(12);
  expect(world.controller.api.applications().filter(({ approval }) => approval !== null)).toHaveLength(
    20 - changed.length,
  );
});

/** How long the first twenty take, on virtual time, while the platform takes 50 ms for an answer. */
async function timeOfTwenty(apps: number, trouble: (world: DaemonWorld) => void): Promise<number> {
  const world = new DaemonWorld('{ controller: { concurrency: 10 }, prune: { maxShare: 1 } }', seedOf(apps));
  world.answer = async () => {
    await world.clock.sleep(50);
    return undefined;
  };
  trouble(world);
  world.start();
  const all = filesOf(apps, 'WEB', () => 1);
  await world.commit(all);
  const isDone = (): boolean =>
    Array.from({ length: 20 }, (_, index) => world.ready(`Application/app-${index + 1}`)).every(
      (ready) => ready === 'True InSync',
    );
  // The first minute finds out who fails and who hangs.
  await world.pass(120_000);
  const beganMs = world.clock.monotonic();
  await world.commit({ ...all, ...filesOf(20, 'SITE', () => 1) });
  await world.until(
    () => isDone() && [...world.state.ports.all()].filter(({ alias }) => alias === 'SITE').length === 20,
    'the twenty are done',
  );
  const tookMs = world.clock.monotonic() - beganMs;
  await world.controller.drain();
  return tookMs;
}

test('one application whose every request hangs and fifty that fail: the others take no longer', async () => {
  const alone = await timeOfTwenty(20, () => {});
  const beside = await timeOfTwenty(71, (world) => {
    world.answer = async (request) => {
      const app = Number(/\/apps\/(\d+)/.exec(request.path)?.[1] ?? 0);
      if (app === 71) await world.clock.sleep(request.timeoutMs);
      else await world.clock.sleep(50);
      return app > 20 ? { status: 500, contentType: 'text/plain', retryAfter: null, body: 'broken' } : undefined;
    };
  });
  expect(beside / alone).toBeLessThanOrEqual(1.2);
});

test('one that failed before begins as soon as the one that has its place hangs', async () => {
  const [hanging, waiting] = ['Application/app-1', 'Application/app-2'] as const;
  const world = new DaemonWorld('{ controller: { concurrency: 10 } }', seedOf(3));
  onTestFinished(async () => void (await world.controller.drain()));
  const asked: string[] = [];
  let hangs = false;
  world.answer = async (request) => {
    const app = Number(/\/apps\/(\d+)/.exec(request.path)?.[1] ?? 0);
    if (app === 3 || app === 0) return undefined;
    asked.push(`Application/app-${app}`);
    await world.clock.sleep(hangs && app === 1 ? request.timeoutMs : 5);
    return { status: 403, contentType: 'application/json', retryAfter: null, body: '{"code":403,"msg":"forbidden"}' };
  };
  world.start();
  await world.commit(filesOf(3, 'WEB', () => 0));
  await world.until(
    () => world.application(waiting).failures > 2 && world.application(hanging).failures > 2,
    'both fail',
  );

  hangs = true;
  asked.length = 0;
  await world.controller.api.sync([hanging], 'a test');
  await world.until(() => asked.includes(hanging), 'one hangs');
  const beganMs = world.clock.monotonic();
  await world.controller.api.sync([waiting], 'a test');
  await world.until(() => asked.includes(waiting), 'the other one begins');
  const waitedMs = world.clock.monotonic() - beganMs;
  // A second is how long a pass may take before it counts as slow.
  expect(waitedMs).toBeGreaterThanOrEqual(500);
  expect(waitedMs).toBeLessThan(1_500);
});
