import { expect, test } from 'vitest';
import { resolveIntents, startWindow, unresolvedIntents } from '../../src/reconcile/resolution/resolve.ts';
import type { PortRecord } from '../../src/kinds/component/wire.ts';
import type { RuleRecord } from '../../src/kinds/http-gateway-rule/wire.ts';
import type { Intent } from '../../src/model/owned.ts';
import type { Resource } from '../../src/model/resource.ts';
import { refusalOf } from '../../src/model/owned.ts';
import { failuresOf, withFailure } from '../../src/plan/doubts.ts';
import {
  addition,
  key,
  leftBehind,
  portAction,
  portObject,
  type ReaderAnswers,
  readerOf,
  scope,
  ScriptedWorld,
  SERVICE,
  timing,
} from './scripted-world.ts';

function resolve(world: ScriptedWorld, intents: readonly Intent[], readers: readonly ReaderAnswers[] = []) {
  const left = [...readers];
  return resolveIntents(world.apply, scope, intents, world.ledgerView(), new Map([[web.id, web]]), () => {
    const next = left.shift();
    if (next === undefined) throw new Error('nobody was to read');
    return readerOf(next);
  });
}

const web = { id: 'Component/web', spec: { port: 8080 } } as unknown as Resource;
const portRow = {
  port: 8080,
  protocol: 'http',
  alias: 'WEB',
  serviceName: 'web',
  inner: true,
  outer: false,
} as PortRecord;
const showing = (...ports: readonly PortRecord[]): ReaderAnswers => ({
  readings: { listPorts: { readable: true, value: ports } },
});

test('before its window is over nobody looks, and nothing is concluded', async () => {
  const world = new ScriptedWorld();
  const intent = await leftBehind(world, portAction('open_inner'));
  world.clock.advance(timing.settleTargetStateMs - 1);
  const nowMs = world.clock.now();
  const doubts = await resolve(world, [intent]);
  expect(doubts).toEqual({
    decided: false,
    pending: [{ intent, state: 'in-window', evidence: '', scopeUntilMs: nowMs + 1 }],
  });
  expect(world.intents()).toEqual([intent]);
});

test.for([
  ['duplicate-rejecting', 0, true],
  ['duplicate-rejecting', timing.settleTargetStateMs - 1, true],
  ['duplicate-rejecting', timing.settleTargetStateMs, false],
  ['duplicate-accepting', timing.settleTargetStateMs - 1, true],
  ['duplicate-accepting', timing.settleTargetStateMs, false],
  ['target-state', timing.settleTargetStateMs - 1, true],
] as const)('%s: after %i ms the rest of the application waits too: %j', async ([idempotence, passedMs, waits]) => {
  const world = new ScriptedWorld();
  const startMs = world.clock.now();
  const intent = await leftBehind(world, portAction('add_port'), { idempotence });
  world.clock.advance(passedMs);
  const settling = {
    intent,
    state: 'in-window',
    evidence: '',
    ...(waits ? { scopeUntilMs: startMs + timing.settleTargetStateMs } : {}),
  };
  expect((await resolve(world, [intent])).pending).toStrictEqual([settling]);
  expect(unresolvedIntents([intent], timing, world.clock)).toStrictEqual([settling]);
});

test.for([
  ['open', 'found open: the process that sent it did not live to record its outcome'],
  ['unknown', 'the machine was restarted: how much time passed is not known, so the window begins again'],
] as const)('an intent found %s after a new start waits a full window from now, durably', async ([state, why]) => {
  const world = new ScriptedWorld();
  const intent = await leftBehind(world, portAction('add_port'), { ...addition, state });
  world.clock.advance(10 * timing.settleCreationMs);
  world.clock.reboot();
  // A process that was overtaken and lives may still send what is open, until its deadline.
  const fromMs = world.clock.now() + (state === 'open' ? timing.sendWithinMs : 0);
  const untilMs = fromMs + timing.settleCreationMs;
  const begun = { ...intent, state: 'unknown', settleMs: untilMs, settleMark: `boot-2 ${untilMs}` };
  const pending = [
    { intent: begun, state: 'in-window', evidence: '', scopeUntilMs: fromMs + timing.settleTargetStateMs },
  ];
  // Whoever may not write says the same of it.
  expect(unresolvedIntents([intent], timing, world.clock)).toMatchObject([
    { state: 'in-window', intent: { settleMs: untilMs }, scopeUntilMs: pending[0]?.scopeUntilMs },
  ]);
  expect(world.intents()).toEqual([intent]);
  expect(await resolve(world, [intent])).toEqual({ decided: false, pending });
  expect(world.intents()).toEqual([begun]);
  expect(await world.history()).toEqual([
    { event: 'unknown', uid: portObject().uid, detail: { intent: 'intent-1', why } },
  ]);
});

test('a window that is begun by hand is the same', async () => {
  const world = new ScriptedWorld();
  const intent = await leftBehind(world, portAction('open_inner'), { state: 'open' });
  const begun = await startWindow(world.apply, scope, intent);
  expect(world.intents()).toEqual([begun]);
  expect(begun.settleMs).toBe(world.clock.now() + timing.sendWithinMs + timing.settleTargetStateMs);
});

test('who may not look says that it is time to', async () => {
  const world = new ScriptedWorld();
  const intent = await leftBehind(world, portAction('open_inner'));
  world.clock.advance(timing.settleTargetStateMs);
  expect(unresolvedIntents([intent], timing, world.clock)).toEqual([{ intent, state: 'due', evidence: '' }]);
});

test('a change of a target state is set aside: the next plan compares again', async () => {
  const world = new ScriptedWorld();
  const intent = await leftBehind(world, portAction('open_inner'));
  world.clock.advance(timing.settleTargetStateMs);
  expect(await resolve(world, [intent], [{}])).toEqual({ decided: true, pending: [] });
  const evidence = 'the request can be repeated safely; the ports are read and compared again';
  expect(world.intents()).toMatchObject([
    { state: 'superseded', outcome: { resolution: 'superseded', evidence }, resolvedBy: 'observation' },
  ]);
  expect(await world.history()).toEqual([
    {
      event: 'superseded',
      uid: portObject().uid,
      detail: { intent: 'intent-1', resolution: 'superseded', evidence },
    },
  ]);
  expect(world.events).toEqual([
    { type: 'resolved', resource: 'Component/web', scope: key, intent: 'intent-1', how: `superseded: ${evidence}` },
  ]);
  expect(world.objects()).toEqual([]);
});

test('a creation that is seen was done, and is ours', async () => {
  const world = new ScriptedWorld();
  const intent = await leftBehind(world, portAction('add_port'), addition);
  world.clock.advance(timing.settleCreationMs);
  expect(await resolve(world, [intent], [showing(portRow)])).toEqual({ decided: true, pending: [] });
  expect(world.intents()).toMatchObject([{ state: 'applied' }]);
  expect(world.objects()).toMatchObject([
    { origin: 'created', state: 'present', failures: 0, lastSnapshot: 'snapshot-1' },
  ]);
});

test.for([
  ['as it is', { origin: 'created', lastApplied: { inner: true, protocol: 'http' } }, 0],
  ['otherwise', { origin: 'created', lastApplied: {}, failures: 2 }, 1],
] as const)('a creation that is seen and on record %s is written %i times', async ([, row, writes]) => {
  const world = new ScriptedWorld();
  await world.remember(portObject(row));
  const intent = await leftBehind(world, portAction('add_port'), addition);
  world.clock.advance(timing.settleCreationMs);
  const before = world.commits.length;
  await resolve(world, [intent], [showing(portRow)]);
  const puts = world.commits
    .slice(before)
    .flatMap(({ operations }) => operations.filter(({ op }) => op === 'put-object'));
  expect(puts).toHaveLength(writes);
  expect(world.objects()).toMatchObject([{ failures: 'failures' in row ? 2 : 0, lastApplied: { inner: true } }]);
});

test('a creation that is not seen is looked for again, later and with fresh eyes, before it counts as refused', async () => {
  const world = new ScriptedWorld();
  const intent = await leftBehind(world, portAction('add_port'), addition);
  world.clock.advance(timing.settleCreationMs);
  const startMs = world.clock.now();
  expect(await resolve(world, [intent], [showing(), showing()])).toEqual({ decided: true, pending: [] });
  expect(world.clock.now() - startMs).toBe(timing.absenceApartMs);
  expect(world.intents()).toMatchObject([
    { state: 'rejected', outcome: { evidence: 'port 8080 is not in the listing of 0 ports, twice' } },
  ]);
  expect(world.objects()).toEqual([]);
});

test('a creation that shows up at the second look was done', async () => {
  const world = new ScriptedWorld();
  const intent = await leftBehind(world, portAction('add_port'), addition);
  world.clock.advance(timing.settleCreationMs);
  await resolve(world, [intent], [showing(), showing(portRow)]);
  expect(world.intents()).toMatchObject([{ state: 'applied' }]);
});

test('a wall clock that jumps ahead while a window begins ends neither the window nor the wait of the application', async () => {
  const world = new ScriptedWorld();
  const intent = await leftBehind(world, portAction('open_inner'), { state: 'open' });
  const { commit } = world.ledger;
  world.ledger.commit = async (transaction) => {
    await commit(transaction);
    world.clock.jump(365 * 86_400_000);
  };
  const { pending } = await resolve(world, [intent]);
  const untilMs = world.clock.now() + timing.settleTargetStateMs + timing.sendWithinMs;
  expect(pending).toMatchObject([{ state: 'in-window', intent: { settleMs: untilMs }, scopeUntilMs: untilMs }]);
});

test.for([
  ['as it was sent', { weight: 10, cookie: 'a=b' }, []],
  ['of another weight', { weight: 100, cookie: 'a=b' }, ['weight is']],
  ['of another weight and cookie', { weight: 100, cookie: '' }, ['weight and cookie are']],
] as const)('a rule that appeared %s is taken for ours, or left to a person', async ([, shown, differs]) => {
  const world = new ScriptedWorld();
  const place = { serviceId: SERVICE, port: 8080, domain: 'www.example.com', path: '/' };
  const action = portAction('create', {
    resource: 'HttpGatewayRule/www',
    step: { type: 'create', rule: { ...place, weight: 10, cookie: 'a=b', configuration: {} }, open: false },
    object: `rule/${SERVICE}/8080/http://www.example.com/`,
  });
  const intent = await leftBehind(world, action, { operation: 'createRule', idempotence: 'duplicate-rejecting' });
  world.clock.advance(timing.settleCreationMs);
  const value = [{ ...place, ...shown, ruleId: '1' } as unknown as RuleRecord];
  const doubts = await resolve(world, [intent], [{ readings: { listRules: { readable: true, value } } }]);
  expect(doubts.pending.map(({ evidence }) => evidence)).toEqual(
    differs.map(
      (what) =>
        `rule 1 has this key and was not there before, but its ${what} not what was sent: another request made it, or it was changed since`,
    ),
  );
  expect(world.intents()).toMatchObject([{ state: differs.length === 0 ? 'applied' : 'unknown' }]);
});

test('what observation cannot decide is held with its evidence, and nothing is written', async () => {
  const world = new ScriptedWorld();
  const rule = { serviceId: SERVICE, port: 8080, domain: 'www.example.com', path: '/' };
  const action = portAction('create', {
    resource: 'HttpGatewayRule/www',
    step: { type: 'create', rule, open: false },
    object: `rule/${SERVICE}/8080/http://www.example.com/`,
  });
  const intent = await leftBehind(world, action, { operation: 'createRule', idempotence: 'duplicate-rejecting' });
  world.clock.advance(timing.settleCreationMs);
  const rules = ['1', '2'].map((ruleId) => ({ ...rule, ruleId }) as unknown as RuleRecord);
  const doubts = await resolve(world, [intent], [{ readings: { listRules: { readable: true, value: rules } } }]);
  expect(doubts).toEqual({
    decided: false,
    pending: [{ intent, state: 'held', evidence: '2 new rules have this key: 1, 2' }],
  });
  expect(world.intents()).toEqual([intent]);
  expect(world.events).toEqual([]);
});

test('an intent of a kind that this version does not know is held', async () => {
  const world = new ScriptedWorld();
  const intent = await leftBehind(world, portAction('open_inner', { resource: 'Balloon/red' }));
  world.clock.advance(timing.settleTargetStateMs);
  expect((await resolve(world, [intent], [{}])).pending).toEqual([
    { intent, state: 'held', evidence: 'this version does not know the kind Balloon' },
  ]);
});

test('each intent is decided by itself', async () => {
  const world = new ScriptedWorld();
  const early = await leftBehind(world, portAction('open_inner'));
  const later = await leftBehind(world, portAction('add_port', { object: `port/${SERVICE}/9090` }), {
    ...addition,
    id: 'intent-2',
  });
  world.clock.advance(timing.settleTargetStateMs);
  const doubts = await resolve(world, [later, early], [{}]);
  expect(doubts.decided).toBe(true);
  expect(doubts.pending).toMatchObject([{ intent: { id: 'intent-2' }, state: 'in-window' }]);
});

test.for<readonly [string, Intent['outcome'], number]>([
  ['words of its own', { status: 400, code: 400, message: 'no' }, 1],
  ['the last status that is the request’s fault', { status: 499, code: 1, message: 'no' }, 1],
  ['a cluster that failed', { status: 400, code: 10411, message: 'no' }, 0],
  ['a licence that ended', { status: 401, code: 10400, message: 'no' }, 0],
  ['no code', { status: 400, message: 'no' }, 0],
  ['a failure of the platform', { status: 500, code: 500, message: 'no' }, 0],
  ['a redirect', { status: 399, code: 399, message: 'no' }, 0],
  ['no answer', { message: 'reset' }, 0],
  ['nothing, because the process died', null, 0],
])('a target state that was not taken, with %s, counts as so many refusals: %j', async ([, outcome, failures]) => {
  const world = new ScriptedWorld();
  await world.remember(portObject({ origin: 'created' }));
  const intent = await leftBehind(world, portAction('open_inner'), { outcome });
  world.clock.advance(timing.settleTargetStateMs);
  await resolve(world, [intent], [{}]);
  expect(world.objects()).toMatchObject([{ origin: 'created', failures }]);
});

test.for<readonly [string, Intent['preimage'], object]>([
  ['with what it was', { inner: false }, { former: { inner: false } }],
  ['of which nothing was seen', null, {}],
])(
  'a refused target state of an object never on record, %s, is counted on a row of its own',
  async ([, preimage, former]) => {
    const world = new ScriptedWorld();
    const outcome = { status: 400, code: 400, message: 'no' };
    const intent = await leftBehind(world, portAction('open_inner'), { outcome, preimage });
    world.clock.advance(timing.settleTargetStateMs);
    await resolve(world, [intent], [{}]);
    expect(world.objects()).toMatchObject([
      { uid: portObject().uid, origin: 'observed', state: 'present', failures: 1, lastApplied: {} },
    ]);
    expect(world.objects()[0]?.remoteAux).toEqual({
      ...former,
      failedWish: expect.any(String),
      refusal: expect.objectContaining({ message: expect.stringContaining('no') }),
    });
  },
);

test('a refusal that was confirmed later is on record with its reason', async () => {
  const world = new ScriptedWorld();
  await world.remember(portObject({ origin: 'created' }));
  const outcome = { status: 403, code: 10407, message: 'no store permissions', refused: 'store-credentials' };
  const intent = await leftBehind(world, portAction('open_inner'), { outcome });
  world.clock.advance(timing.settleTargetStateMs);
  await resolve(world, [intent], [{}]);
  const [object] = world.objects();
  expect(object && refusalOf(object)).toEqual({
    reason: 'store-credentials',
    message: 'HTTP 403, code 10407: no store permissions',
  });
});

test('a refusal that observation contradicts once is dropped for good', async () => {
  const world = new ScriptedWorld();
  const outcome = { status: 403, code: 403, message: 'no', refused: 'credentials' };
  const step = { type: 'install', name: 'db', store: 'main', modelId: 'm', modelVersion: '1', build: false };
  const action = portAction('add_port', { id: 'install', resource: 'StoreInstall/db', object: 'install/db', step });
  const intent = await leftBehind(world, action, {
    operation: 'install',
    idempotence: 'duplicate-accepting',
    preimage: { componentCount: 1, runningComponentCount: 0 },
    outcome,
  });
  world.clock.advance(timing.settleInstallMs);
  const counting = (componentCount: number) => ({
    readings: { listComponents: { readable: false } } as const,
    application: async () => ({ status: 'running', componentCount, runningComponentCount: 0 }),
  });
  const [held] = (await resolve(world, [intent], [counting(2)])).pending;
  expect(held).toMatchObject({ state: 'held', evidence: expect.stringContaining('but the application had 1') });
  const [now] = world.intents();
  expect(now).toMatchObject({ state: 'unknown', outcome: { status: 403, code: 403, message: 'no' } });
  expect(now?.outcome).not.toHaveProperty('refused');
  // Somebody deletes a component: the number is as before.
  const again = await resolve(world, now === undefined ? [] : [now], [counting(1), counting(1)]);
  expect(again.pending).toMatchObject([{ state: 'held' }]);
  expect(world.intents()).toMatchObject([{ state: 'unknown' }]);
});

test('a refusal counts against what the manifest says now, even if another wish failed before', async () => {
  const world = new ScriptedWorld();
  const other = { ...web, spec: { port: 9090 } } as Resource;
  await world.remember(withFailure(withFailure(portObject(), other, undefined), other, undefined));
  for (let round = 1; round <= 3; round += 1) {
    const outcome = { status: 400, code: 400, message: 'no' };
    const intent = await leftBehind(world, portAction('open_inner'), { id: `intent-${round}`, outcome });
    world.clock.advance(timing.settleTargetStateMs);
    await resolve(world, [intent], [{}]);
    const [object] = world.objects();
    expect(object === undefined ? 0 : failuresOf(object, web)).toBe(round);
  }
});

test('a creation that is refused in words of its own again and again, and never seen, counts each time and is not on record', async () => {
  const world = new ScriptedWorld();
  const outcome = { status: 400, code: 400, message: 'no' };
  for (let round = 1; round <= 3; round += 1) {
    const intent = await leftBehind(world, portAction('add_port'), { ...addition, id: `intent-${round}`, outcome });
    world.clock.advance(timing.settleCreationMs);
    await resolve(world, [intent], [showing(), showing()]);
    expect(world.objects()).toMatchObject([{ state: 'gone', origin: 'observed', lastApplied: {}, failures: round }]);
  }
});

test.for([
  { status: 409, code: 409, message: 'wait a moment please: 操作过于频繁，请稍后再试' },
  { status: 429, code: 429, message: 'slow down' },
])('a creation that a busy platform put off with $status counts nothing, however often', async (outcome) => {
  const world = new ScriptedWorld();
  for (let round = 1; round <= 3; round += 1) {
    const intent = await leftBehind(world, portAction('add_port'), { ...addition, id: `intent-${round}`, outcome });
    world.clock.advance(timing.settleCreationMs);
    await resolve(world, [intent], [showing(), showing()]);
  }
  expect(world.objects()).toEqual([]);
});

test('a creation that was refused in words of its own and done all the same counts nothing', async () => {
  const world = new ScriptedWorld();
  const outcome = { status: 400, code: 400, message: 'no' };
  const intent = await leftBehind(world, portAction('add_port'), { ...addition, outcome });
  world.clock.advance(timing.settleCreationMs);
  await resolve(world, [intent], [showing(portRow)]);
  expect(world.objects()).toMatchObject([{ state: 'present', origin: 'created', failures: 0 }]);
});
