import { expect, test } from 'vitest';
import { applyPlan, type ApplyInput } from '../../src/reconcile/apply/apply-plan.ts';
import { listEndpoints, portsReading } from '../../src/kinds/component/readings.ts';
import { listRules } from '../../src/kinds/http-gateway-rule/readings.ts';
import { keyOf } from '../../src/model/reading.ts';
import { PortolanError } from '../../src/model/errors.ts';
import type { Action } from '../../src/model/plan.ts';
import type { Verdict } from '../../src/platform/verdict.ts';
import { planOf } from '../plan/plans.ts';
import {
  key,
  lost,
  portAction,
  portObject,
  readerOf,
  refusal,
  ScriptedWorld,
  SERVICE,
  yes,
  timing,
} from './scripted-world.ts';

const PORTS = portsReading(SERVICE);
const RULES = keyOf(listRules);
const ENDPOINTS = keyOf(listEndpoints);

/** Actions on one port each, so that only `after` ties them. */
function chain(...types: readonly (readonly [type: string, port: number, after?: readonly string[]])[]): Action[] {
  return types.map(([type, port, after = []]) =>
    portAction(type, {
      id: `${type} ${port}`,
      object: `port/${SERVICE}/${port}`,
      step: { ...portAction(type).step, port },
      after,
    }),
  );
}

function inputOf(world: ScriptedWorld, actions: readonly Action[], changes: Partial<ApplyInput> = {}): ApplyInput {
  return {
    plan: planOf({ actions }),
    actions,
    resources: new Map(),
    live: new Map(),
    ledgerView: world.ledgerView(),
    members: { of: async () => ({ type: 'member' }) },
    freshen: async () => ({ read: [], isAsPlanned: true }),
    freshReader: () => readerOf({}),
    withheld: () => undefined,
    ...changes,
  };
}

const statuses = ({ results }: Awaited<ReturnType<typeof applyPlan>>) =>
  results.map(({ action, status }) => `${action.id}: ${status}`);

test('actions are done in order, one write at a time, and each is told when it begins and ends', async () => {
  const world = new ScriptedWorld();
  let inFlight = 0;
  const slowly = async (): Promise<Verdict> => {
    inFlight += 1;
    expect(inFlight).toBe(1);
    await world.clock.sleep(10);
    inFlight -= 1;
    return yes;
  };
  world.answers.push(slowly, slowly, slowly);
  const actions = chain(['open_inner', 1], ['close_inner', 2], ['open_outer', 3, ['open_inner 1']]);
  const applied = await applyPlan(world.apply, inputOf(world, actions));
  expect(applied).toEqual({
    results: actions.map((action) => ({ status: 'done', action, answer: yes.answer })),
    touched: new Set([PORTS, RULES, ENDPOINTS]),
    stale: false,
    stopped: undefined,
  });
  expect(world.sent.map(({ write }) => write)).toMatchObject([
    { port: 1, app: { team: 'team-a', region: 'region-1', appId: 42 } },
    { port: 2 },
    { port: 3 },
  ]);
  expect(world.events).toEqual(
    actions.flatMap((action, at) => [
      { type: 'started', action, scope: key },
      { type: 'finished', action, scope: key, result: applied.results[at] },
    ]),
  );
});

test('what the resource says and what was seen of it reach its kind', async () => {
  const world = new ScriptedWorld();
  world.answers.push(yes);
  const live = {
    type: 'observed',
    ports: [{ port: 8080, protocol: 'http', alias: 'WEB', serviceName: 'web', inner: true, outer: true }],
  };
  const [action] = [portAction('close_outer')];
  await applyPlan(world.apply, inputOf(world, [action], { live: new Map([['Component/web', live]]) }));
  expect(world.intents()).toMatchObject([{ preimage: { alias: 'WEB', outer: true } }]);
});

test('a failed resource is counted by what its manifest says', async () => {
  const world = new ScriptedWorld();
  world.answers.push(refusal('invalid'), refusal('invalid'));
  const resource = { id: 'Component/web', spec: { ports: [] } } as never;
  const resources = new Map([['Component/web', resource] as const]);
  await applyPlan(world.apply, inputOf(world, chain(['open_inner', 1]), { resources }));
  const withManifest = world.objects()[0]?.remoteAux['failedWish'];
  await applyPlan(world.apply, inputOf(world, chain(['open_inner', 2])));
  expect(withManifest).toMatch(/^[0-9a-f]{16}$/);
  expect(world.objects()[1]?.remoteAux['failedWish']).not.toBe(withManifest);
});

test('each action builds on what the one before it recorded of the same object', async () => {
  const world = new ScriptedWorld();
  world.answers.push(yes, yes);
  const actions = [portAction('open_inner', { id: 'a' }), portAction('change_protocol', { id: 'b' })].map((action) =>
    action.id === 'b' ? { ...action, step: { ...action.step, protocol: 'grpc' } } : action,
  );
  await applyPlan(world.apply, inputOf(world, actions));
  expect(world.objects()).toMatchObject([{ lastApplied: { inner: true, protocol: 'grpc' } }]);
});

test('what another application has of the same name is nothing to build on', async () => {
  const world = new ScriptedWorld();
  const uid = portObject().uid.replace(key, 'default/team-a/region-1/43');
  await world.remember(portObject({ uid, scope: 'default/team-a/region-1/43', lastApplied: { alias: 'FAR' } }));
  world.answers.push(yes, yes);
  await applyPlan(
    world.apply,
    inputOf(world, chain(['open_inner', 1], ['open_inner', 8080]), {
      ledgerView: { ...world.ledgerView(), objects: [] },
    }),
  );
  expect(world.objects().find((object) => object.uid === portObject().uid)?.lastApplied).toEqual({ inner: true });
});

test('the first action builds on what is on record, which the pass may have changed since the plan was made', async () => {
  const world = new ScriptedWorld();
  world.answers.push(yes);
  const ledgerView = { ...world.ledgerView(), objects: [] };
  await world.remember(portObject({ lastApplied: { alias: 'WEB' } }));
  await applyPlan(world.apply, inputOf(world, [portAction('open_inner')], { ledgerView }));
  expect(world.objects()).toMatchObject([{ lastApplied: { alias: 'WEB', inner: true } }]);
});

test('a failure holds back what depends on it, in any number of steps, and nothing else', async () => {
  const world = new ScriptedWorld();
  world.answers.push(refusal('precondition'), yes);
  const applied = await applyPlan(
    world.apply,
    inputOf(
      world,
      chain(
        ['open_inner', 1],
        ['open_outer', 1, ['open_inner 1']],
        ['delete_port', 9, ['open_outer 1']],
        ['open_inner', 2],
      ),
    ),
  );
  expect(statuses(applied)).toEqual([
    'open_inner 1: failed',
    'open_outer 1: skipped',
    'delete_port 9: skipped',
    'open_inner 2: done',
  ]);
  expect(applied.results.slice(1, 3)).toMatchObject([
    { because: { type: 'behind', action: 'open_inner 1' } },
    { because: { type: 'behind', action: 'open_outer 1' } },
  ]);
  expect(applied.stopped).toBeUndefined();
  expect(applied.touched, 'what was skipped was not touched').toEqual(new Set([PORTS]));
});

test.for<readonly [string, Verdict, string, string]>([
  ['an outcome that nobody knows', lost, 'in-doubt', 'open_inner 1: its outcome is not known'],
  ['a refused token', refusal('credentials'), 'failed', 'open_inner 1: no'],
  [
    'a platform that asks to slow down',
    { verdict: 'throttled', retryAfterMs: null, answer: { message: 'slow' } },
    'failed',
    'open_inner 1: the platform asked to slow down',
  ],
])('%s stops the whole scope', async ([, verdict, status, by]) => {
  const world = new ScriptedWorld();
  world.answers.push(verdict);
  const applied = await applyPlan(world.apply, inputOf(world, chain(['open_inner', 1], ['open_inner', 2])));
  expect(statuses(applied)).toEqual([`open_inner 1: ${status}`, 'open_inner 2: skipped']);
  expect(applied.stopped).toEqual({ type: 'scope-stopped', by });
  expect(applied.results[1]).toMatchObject({ because: { type: 'scope-stopped', by } });
  expect(world.sent).toHaveLength(1);
});

test.for(['interrupted', 'fail-fast'] as const)('nothing is begun after a run is %s', async (stop) => {
  const world = new ScriptedWorld();
  world.answers.push(() => {
    world.stop = stop;
    return yes;
  });
  const applied = await applyPlan(world.apply, inputOf(world, chain(['open_inner', 1], ['open_inner', 2])));
  expect(statuses(applied)).toEqual(['open_inner 1: done', 'open_inner 2: skipped']);
  expect(applied.stopped).toEqual({ type: stop });
});

test('an application that is paused between two writes gets no second one', async () => {
  const world = new ScriptedWorld();
  world.answers.push(yes);
  const paused = { type: 'paused', by: 'the window "freeze" allows no change now' } as const;
  const withheld = () => (world.sent.length === 1 ? paused : undefined);
  const input = inputOf(world, chain(['open_inner', 1], ['open_inner', 2], ['open_inner', 3]), { withheld });
  const applied = await applyPlan(world.apply, input);
  expect(statuses(applied)).toEqual(['open_inner 1: done', 'open_inner 2: skipped', 'open_inner 3: skipped']);
  expect(applied.stopped).toEqual(paused);
  expect(world.sent).toHaveLength(1);
});

test('a write is withheld when its application is paused after its intent, and that intent is closed', async () => {
  const world = new ScriptedWorld();
  const paused = { type: 'paused', by: 'alice suspended the application (maintenance)' } as const;
  const withheld = () => (world.intents().length > 0 ? paused : undefined);
  const input = inputOf(world, chain(['open_inner', 1], ['open_inner', 2]), { withheld });
  const applied = await applyPlan(world.apply, input);
  expect(applied.results).toMatchObject([
    { status: 'skipped', because: paused },
    { status: 'skipped', because: paused },
  ]);
  expect(world.sent).toEqual([]);
  expect(world.intents().map(({ state }) => state)).toEqual(['rejected']);
});

test('what was cut off before its write by an interruption is skipped, not failed', async () => {
  const world = new ScriptedWorld();
  const of = async () => {
    world.stop = 'interrupted';
    return { type: 'unknown', message: 'given up because the process is stopping', remedy: '' } as const;
  };
  const input = inputOf(world, chain(['open_inner', 1], ['open_inner', 2]), { members: { of } });
  const applied = await applyPlan(world.apply, input);
  const because = { type: 'interrupted' };
  expect(applied.results).toMatchObject([
    { status: 'skipped', because },
    { status: 'skipped', because },
  ]);
  expect(world.sent).toEqual([]);
});

test('the reason that stopped a scope first is the one that is told', async () => {
  const world = new ScriptedWorld();
  world.answers.push(() => {
    world.stop = 'interrupted';
    return lost;
  });
  const applied = await applyPlan(world.apply, inputOf(world, chain(['open_inner', 1], ['open_inner', 2])));
  expect(applied.stopped).toMatchObject({ type: 'scope-stopped' });
});

test('before each write, what it changes is made sure to be fresh', async () => {
  const world = new ScriptedWorld();
  const asked: (readonly string[])[] = [];
  world.answers.push(yes, yes);
  const freshen: ApplyInput['freshen'] = async (readings) => {
    asked.push(readings);
    expect(world.sent).toHaveLength(asked.length - 1);
    return { read: [], isAsPlanned: true };
  };
  await applyPlan(world.apply, inputOf(world, chain(['open_inner', 1], ['open_outer', 2]), { freshen }));
  expect(asked).toEqual([[PORTS], [PORTS, RULES, ENDPOINTS]]);
});

test.for(['interrupted', 'fail-fast', 'stale'] as const)('what is half done is completed first: %s', async (why) => {
  const world = new ScriptedWorld();
  world.answers.push(() => {
    if (why !== 'stale') world.stop = why;
    return yes;
  }, yes);
  const [first, second, third] = chain(['open_inner', 1], ['open_outer', 2, ['open_inner 1']], ['open_inner', 3]);
  if (first === undefined || second === undefined || third === undefined) throw new Error('there are three');
  const actions = [first, { ...second, continues: first.id }, third];
  const freshen: ApplyInput['freshen'] = async (readings) =>
    why === 'stale' && world.sent.length > 0 ? { read: readings, isAsPlanned: false } : { read: [], isAsPlanned: true };
  const applied = await applyPlan(world.apply, inputOf(world, actions, { freshen }));
  expect(statuses(applied).slice(0, 2)).toEqual(['open_inner 1: done', 'open_outer 2: done']);
  expect(world.sent).toHaveLength(2);
  expect(why === 'stale' ? applied.stale : applied.stopped).toEqual(why === 'stale' ? true : { type: why });
});

test('where it is not as planned any more, nothing is sent for it, and it is not read back once more', async () => {
  const world = new ScriptedWorld();
  world.answers.push(yes);
  const freshen: ApplyInput['freshen'] = async (readings) =>
    world.sent.length === 0 ? { read: [], isAsPlanned: true } : { read: readings, isAsPlanned: false };
  const applied = await applyPlan(
    world.apply,
    inputOf(world, chain(['open_outer', 1], ['open_inner', 2]), { freshen }),
  );
  expect(statuses(applied)).toEqual(['open_outer 1: done']);
  expect(applied).toMatchObject({
    stale: true,
    stopped: undefined,
    touched: new Set([RULES, ENDPOINTS]),
  });
});

test('where it cannot be read, the run ends with why, and what was done before is told', async () => {
  const world = new ScriptedWorld();
  world.answers.push(yes);
  const silent = new PortolanError({
    code: 'platform/unreachable',
    disposition: 'unreachable',
    message: 'no answer',
    remedy: 'Check it.',
  });
  const freshen: ApplyInput['freshen'] = async () => {
    if (world.sent.length > 0) throw silent;
    return { read: [], isAsPlanned: true };
  };
  const applied = await applyPlan(
    world.apply,
    inputOf(world, chain(['open_inner', 1], ['open_inner', 2]), { freshen }),
  );
  expect(statuses(applied)).toEqual(['open_inner 1: done']);
  expect(applied).toMatchObject({ error: silent, stopped: { type: 'scope-stopped', by: 'no answer' } });
});

test.for([
  ['no intent can be written', 1, 'commit'],
  ['what is on record cannot be read', 1, 'objects'],
] as const)('where %s nothing is sent, and the run ends with why', async ([, at, failing]) => {
  const world = new ScriptedWorld();
  world.breaks = (call) => call === failing;
  world.answers.push(yes);
  const actions = chain(['open_inner', 1], ['open_inner', 2], ['open_inner', 3]);
  const applied = await applyPlan(world.apply, inputOf(world, actions));
  expect(world.sent).toHaveLength(at - 1);
  const error = applied.error as Error & { remedy: string };
  expect(error).toMatchObject({ code: 'ledger/full' });
  expect(applied.results.at(-1)).toEqual({
    status: 'failed',
    action: actions[at - 1],
    answer: { message: `not sent: its intent could not be written down (${error.message})` },
    request: actions[0]?.summary,
    reason: { type: 'not-sent' },
    remedy: error.remedy,
  });
  expect(applied.results).toHaveLength(at);
  expect(applied.stopped).toEqual({ type: 'scope-stopped', by: error.message });
  expect(applied.stale).toBe(false);
});

test('where the outcome cannot be written the write is in doubt, by the name of its intent', async () => {
  const world = new ScriptedWorld();
  world.breaks = (call, nth) => call === 'commit' && nth > 1;
  world.answers.push(yes);
  const applied = await applyPlan(world.apply, inputOf(world, chain(['open_inner', 1], ['open_inner', 2])));
  const [intent] = world.intents();
  expect(applied.results).toMatchObject([
    {
      status: 'in-doubt',
      intent: intent?.id,
      answer: { message: 'ok; the ledger could not record it' },
      request: expect.stringMatching(/^PUT /),
      untilMs: world.clock.now() + timing.settleTargetStateMs,
      scopeUntilMs: world.clock.now() + timing.settleTargetStateMs,
    },
  ]);
  expect(applied.error).toMatchObject({ code: 'ledger/full' });
  expect(applied.touched).toEqual(new Set([PORTS]));
});

test('a mistake of ours is not taken for a failure of the ledger or of the platform', async () => {
  const world = new ScriptedWorld();
  await expect(applyPlan(world.apply, inputOf(world, chain(['open_inner', 1])))).rejects.toThrow('nobody said');
  const foreign = portAction('open_inner', { resource: 'Settings/x' });
  await expect(applyPlan(world.apply, inputOf(world, [foreign]))).rejects.toThrow(
    'Settings/x is of a kind that is not reconciled',
  );
});

test('an install waits for a fresh observation after another one, and other actions do not', async () => {
  const world = new ScriptedWorld();
  world.answers.push(yes);
  const install = (name: string) =>
    portAction('add_port', {
      id: name,
      resource: `StoreInstall/${name}`,
      object: `install/${name}`,
      step: { type: 'install', name, store: 'none', modelId: 'm', modelVersion: '1', build: false },
    });
  const actions = [install('one'), ...chain(['open_inner', 1]), install('two')];
  const applied = await applyPlan(world.apply, inputOf(world, actions));
  expect(statuses(applied)).toEqual(['one: failed', 'open_inner 1: done']);
  expect(applied).toMatchObject({ stale: false, stopped: undefined });
});
