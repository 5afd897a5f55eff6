import { expect, test } from 'vitest';
import type { OwnedObject } from '../../src/model/owned.ts';
import type { Hold } from '../../src/model/plan.ts';
import { shareLimits } from '../../src/plan/guard.ts';
import { Controller } from './controller.ts';
import { effectsOf, live } from './exhaustive.ts';
import { causes, explanationOf } from './holds.ts';
import { memoryHost } from './ledgers.ts';
import { unchanged } from './mutant.ts';
import { differing, mutants } from './mutants.ts';
import { ADDRESS, MODELS } from './shop.ts';
import type { Sent } from './truth.ts';
import { workloads } from './workloads.ts';
import { World } from './world.ts';

const KINDS = { component: 'Component', prune: 'Component', install: 'StoreInstall' } as const;
const kindOf = (code: string): string => KINDS[code.split('/')[0] as keyof typeof KINDS] ?? 'HttpGatewayRule';

test.for(Object.keys(causes))('a controller that holds without cause is caught: %s', async (code) => {
  const hold = { code, message: 'it feels like it', remedy: '', changes: [] };
  // It does all that is to be done, and then holds what is as wished.
  const mutant = differing(`holds ${code}`, kindOf(code), (difference) =>
    difference.steps.length > 0 || difference.deferred.length > 0
      ? difference
      : { ...difference, holds: [...difference.holds, hold] },
  );
  for (const dialect of ['documented', 'extended'] as const) {
    const { violation } = await live({ workload: 'everything at once', dialect, script: [] }, { mutant });
    expect(violation?.invariant, dialect).toBe('L-CONV');
    expect(violation?.message, dialect).toContain(`held without cause: ${code}`);
  }
});

test('a hold with a code that nobody knows has no cause', () => {
  expect(explanationOf(worldOf(), { ...WWW, code: 'rule/mood' }, [])).toBeUndefined();
});

const WEB = 'a'.repeat(32);
const WWW: Hold = { code: 'rule/not-ours', resource: 'HttpGatewayRule/www', message: '', remedy: '', changes: [] };
const DB: Hold = { ...WWW, code: 'install/not-ours', resource: 'StoreInstall/db' };

/** Everything is wanted and nothing was done yet; two rules, `www` at / and `api` at /api of its own domain. */
function worldOf(dialect: 'documented' | 'extended' = 'extended'): World {
  const workload = workloads.find(({ name }) => name === 'everything at once');
  if (workload === undefined) throw new Error('there is no such workload');
  return new World({
    seed: 1,
    platform: workload.platform,
    wishes: workload.wishes,
    dialect,
    dialectSetting: dialect,
    plan: { at: () => undefined },
    ledgers: memoryHost(),
    spawn: (world, number) => new Controller(world, number),
    limits: { ...shareLimits(1), maxPrunes: 1000, allowedScopes: ['*/*/*'] },
    firstInstall: true,
    mutant: unchanged,
    tracing: false,
    checksSecrets: false,
    answersAsValues: true,
    comparesLedger: false,
    restsLong: false,
    mayReadOnly: false,
  });
}

/** Somebody makes a rule. */
function makesRule(world: World, domain: string, path: string, port = 8080): void {
  world.server.change((state) => {
    const row = { id: `${domain}${path}${port}`, row: 9, appId: ADDRESS.appId, teamId: '', serviceId: WEB, port };
    const others = { protocol: 'http', certificateId: 0, cookie: '', header: '', weight: 100, senior: false };
    const rest = { autoSsl: false, autoSslConfig: null, type: 1, outer: true, extensions: [], rewrites: '' };
    state.rules.put({ ...row, ...others, ...rest, domain, path, configuration: null });
  });
}

/** Somebody installs a model. */
function installs(world: World, modelId: string, id: number): void {
  const store = { storeUrl: '', storeDomain: '' };
  world.server.change((state) => state.installs.put({ id, appId: ADDRESS.appId, ...store, modelId, version: '1' }));
}

const renamesPort = (world: World, port: number, alias: string): void =>
  void world.server.change((state) => {
    const row = state.ports.get(`${WEB}/${port}`);
    if (row !== undefined) state.ports.put({ ...row, alias });
  });

/** What happened, the hold, and whether that explains it. */
const happenings: readonly (readonly [
  what: string,
  hold: Partial<Hold>,
  happens: (world: World) => void,
  isCause: boolean,
])[] = [
  ['somebody made that very rule', WWW, (world) => makesRule(world, 'www.example.com', '/'), true],
  ['somebody wrote its domain otherwise', WWW, (world) => makesRule(world, 'WWW.example.com', '/'), true],
  [
    'somebody made a rule on its domain with another path',
    WWW,
    (world) => makesRule(world, 'www.example.com', '/x'),
    false,
  ],
  ['somebody made that rule on another port', WWW, (world) => makesRule(world, 'www.example.com', '/', 8081), false],
  ['somebody made another rule', WWW, (world) => makesRule(world, 'api.example.com', '/api'), false],
  ['listings hid another rule, twice', WWW, (world) => hides(world, 'other', 0, 2_000), false],
  ['somebody installed that very model', DB, (world) => installs(world, MODELS[0].id, 7), true],
  ['somebody installed another model', DB, (world) => installs(world, MODELS[1].id, 7), false],
  [
    'somebody installed that model and another one, and no listing tells them apart',
    { ...DB, code: 'install/ambiguous-adoption' },
    (world) => {
      installs(world, MODELS[0].id, 7);
      installs(world, MODELS[1].id, 8);
    },
    true,
  ],
  [
    'somebody installed at the same time, and deleted it again',
    { ...DB, code: 'install/not-alone' },
    (world) => void world.byHand.installs.add('7'),
    true,
  ],
  ['nobody else installed', { ...DB, code: 'install/not-alone' }, () => {}, false],
  [
    'somebody installed two others',
    { ...DB, code: 'install/ambiguous-adoption' },
    (world) => {
      installs(world, MODELS[1].id, 7);
      installs(world, MODELS[1].id, 8);
    },
    false,
  ],
  [
    'two ports of the component share an alias',
    { resource: 'Component/web', code: 'component/alias-taken' },
    (world) => renamesPort(world, 8081, 'ALPHA'),
    true,
  ],
  [
    'a port that is wanted has another alias, which nobody else wants',
    { resource: 'Component/web', code: 'component/alias-taken' },
    (world) => renamesPort(world, 8081, 'OTHER'),
    false,
  ],
  [
    'somebody deleted another component',
    { resource: 'Component/web', code: 'component/not-found' },
    (world) => world.server.change((state) => state.components.delete('b'.repeat(32))),
    false,
  ],
  [
    'somebody made a rule on a port of the component, which opens it',
    { resource: 'Component/web', code: 'component/endpoint-broken' },
    (world) => void world.byHand.rules.add(`${WEB}/8080/http://www.example.com/`),
    true,
  ],
  [
    'somebody made a rule on a port of another component',
    { resource: 'Component/web', code: 'component/endpoint-broken' },
    (world) => void world.byHand.rules.add(`${'b'.repeat(32)}/8080/http://www.example.com/`),
    false,
  ],
  [
    'somebody deleted that component',
    { resource: 'Component/web', code: 'component/not-found' },
    (world) => world.server.change((state) => state.components.delete(WEB)),
    true,
  ],
];

function hides(world: World, rule: string, ...timesMs: readonly number[]): void {
  for (const atMs of timesMs) world.server.concealed.push({ atMs, rules: [rule] });
}

test.for(happenings)('%s: %o', ([, hold, happens, isCause]) => {
  const world = worldOf();
  expect(explanationOf(world, { ...WWW, ...hold }, []), 'before').toBeUndefined();
  happens(world);
  expect(explanationOf(world, { ...WWW, ...hold }, []) !== undefined).toBe(isCause);
});

test.for([
  ['documented', 2, 2, true],
  ['documented', 1, 2, false],
  ['documented', 2, 1, false],
  ['extended', 2, 2, false],
] as const)(
  'a %s server, %i old readings and %i installs explain a component that is not of an install: %s',
  ([dialect, readings, installs, isCause]) => {
    const world = worldOf(dialect);
    world.counts.set('read-stale', readings);
    for (let id = 1; id <= installs; id += 1) world.truth.sent.push({ installs: [String(id)] } as unknown as Sent);
    expect(explanationOf(world, { ...DB, code: 'install/not-alone' }, []) !== undefined).toBe(isCause);
  },
);

test.for([
  ['that a manifest keeps', 8080, true],
  ['on another port', 8081, false],
  ['without that mark', 8080, false],
] as const)('a port that is not deleted because of a rule %s', ([what, port, isCause]) => {
  const world = worldOf();
  const mark = what === 'without that mark' ? {} : { 'portolan/prune': 'keep' };
  world.truth.marks.told({ ...world.wishes, annotations: new Map([['HttpGatewayRule/www', mark]]) });
  const row = { naturalKey: `rule/${WEB}/8080/http://www.example.com/`, resource: 'HttpGatewayRule/www' };
  world.books.objects.set('www', row as OwnedObject);
  const message = `unlisted port ${port} is not deleted`;
  const hold: Hold = { ...WWW, code: 'prune/rule-kept', resource: 'Component/web', message };
  expect(explanationOf(world, hold, []) !== undefined).toBe(isCause);
});

/** A creation whose answer is lost, and then listings (of the application's rules, and of all rules) that are empty for a while. */
const hidden = (write: number, read: number, a: number) => ({
  workload: 'two rules on one port',
  dialect: 'extended' as const,
  script: [
    [write, { type: 'write', fault: 'reset-after', a: 1 }],
    [read, { type: 'read', fault: 'read-empty', a }],
    [read + 1, { type: 'read', fault: 'read-empty', a }],
    // So long must it last that the rule is looked for amid it.
    [60, { type: 'clock', jumpMs: 0 }],
  ] as const,
});

test('a rule of ours that both listings left out twice is rightly taken for somebody else’s; once is not enough', async () => {
  const workload = workloads.find(({ name }) => name === 'two rules on one port');
  if (workload === undefined) throw new Error('there is no such workload');
  const write = (await effectsOf(workload, 'extended')).findIndex(({ operation }) => operation === 'createRule') + 1;
  // How many steps lie between depends on how much a pass reads.
  let read = write + 1;
  while (read < write + 24 && (await live(hidden(write, read, 1))).holds.length === 0) read += 1;
  const [twice, once] = [await live(hidden(write, read, 1)), await live(hidden(write, read, 7))];
  expect([twice.holds, twice.violation]).toEqual([['rule/not-ours'], undefined]);
  expect([once.holds, once.violation]).toEqual([[], undefined]);
  const hasty = mutants.find(({ name }) => name === 'a rule not seen once is taken for not done');
  const { violation } = await live(hidden(write, read, 7), { mutant: hasty });
  expect(violation?.message).toContain('held without cause: rule/not-ours');
});

test('what waits for something that is held is held with it; two that only wait for each other are not', () => {
  const blocked: Hold = {
    ...WWW,
    code: 'plan/blocked',
    message:
      '"create rule www.example.com/ on port 8080 of Component/web" cannot be done before Component/web#ports/8080/open_outer, which is held',
  };
  const gone: Hold = { ...WWW, resource: 'Component/web', code: 'component/not-found' };
  const other: Hold = { ...gone, resource: 'Component/api' };
  const back: Hold = {
    ...gone,
    code: 'plan/blocked',
    message: '"x" cannot be done before HttpGatewayRule/www#create, which is held',
  };
  const world = worldOf();
  world.server.change((state) => state.components.delete(WEB));
  expect(explanationOf(world, blocked, [blocked, gone])).toBe('what it waits for is held');
  expect(explanationOf(world, blocked, [blocked])).toBeUndefined();
  expect(explanationOf(world, blocked, [blocked, other])).toBeUndefined();
  expect(explanationOf(world, blocked, [blocked, back])).toBeUndefined();
});
