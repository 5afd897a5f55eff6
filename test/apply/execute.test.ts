import { expect, test } from 'vitest';
import { execute, type Execution, OutcomeNotRecorded } from '../../src/apply/execute.ts';
import { componentKind } from '../../src/kinds/component/index.ts';
import type { ReconciledKind } from '../../src/kinds/define.ts';
import { PortolanError } from '../../src/model/errors.ts';
import { Secret } from '../../src/model/secret.ts';
import type { OwnedObject } from '../../src/model/owned.ts';
import type { Verdict } from '../../src/platform/verdict.ts';
import type { WriteRequest } from '../../src/platform/writes.ts';
import {
  calls,
  lost,
  portAction,
  portObject,
  refusal,
  scope,
  ScriptedWorld,
  SERVICE,
  timing,
  yes,
} from './scripted-world.ts';

const live = {
  type: 'observed',
  ports: [{ port: 8080, protocol: 'http', alias: 'WEB', serviceName: 'web', inner: true, outer: false }],
};
const rows = `/openapi/v1/teams/team-a/regions/region-1/apps/42/services/${SERVICE}/ports`;

function executionOf(world: ScriptedWorld, changes: Partial<Execution> = {}): Execution {
  return {
    action: portAction('open_inner'),
    kind: componentKind,
    place: { scope, kind: 'Component', resource: 'Component/web' },
    resource: undefined,
    live,
    memory: world.memory(),
    calls,
    ...changes,
  };
}

/** A kind whose every write is an install: what must never be sent twice. */
const installing: ReconciledKind = {
  ...componentKind,
  calls: {
    ...componentKind.calls,
    toWrite: (): WriteRequest => ({
      operation: 'install',
      app: calls.app,
      build: true,
      store: { url: 'https://s', domain: 'd', type: 't', accessKey: new Secret('k', 'test') },
      modelId: 'm',
      modelVersion: '1',
    }),
  },
};

test('the intent is on record before the request leaves, and the outcome with its object after', async () => {
  const world = new ScriptedWorld();
  const startMs = world.clock.now();
  world.answers.push(() => {
    expect(world.intents()).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f]{12}$/),
        uid: portObject().uid,
        scope: 'default/team-a/region-1/42',
        resource: 'Component/web',
        operation: 'updatePort',
        idempotence: 'target-state',
        action: portAction('open_inner'),
        epoch: world.ledger.epoch,
        requestHash: 'hash of updatePort',
        preimage: { protocol: 'http', alias: 'WEB', serviceName: 'web', inner: true, outer: false },
        state: 'open',
        createdMs: startMs,
        sendDeadlineMs: startMs + timing.sendWithinMs,
        settleMs: 0,
        settleMark: '',
        outcome: null,
        resolvedBy: null,
      },
    ]);
    expect(world.objects()).toEqual([]);
    return yes;
  });
  const action = portAction('open_inner');
  const result = await execute(world.apply, executionOf(world, { action }));
  expect(result).toEqual({ status: 'done', action, answer: { status: 200, message: 'ok' } });
  expect(world.sent).toEqual([
    {
      write: expect.objectContaining({ operation: 'updatePort', port: 8080 }),
      sendBeforeMs: startMs + timing.sendWithinMs,
    },
  ]);
  const [intent] = world.intents();
  expect(intent).toMatchObject({ state: 'applied', outcome: { status: 200, message: 'ok' }, settleMs: 0 });
  expect(world.objects()).toEqual([
    portObject({
      remoteAux: { former: { protocol: 'http', alias: 'WEB', serviceName: 'web', inner: true, outer: false } },
      lastSnapshot: 'snapshot-1',
    }),
  ]);
  expect(world.commits.map(({ actor, atMs, scope: of }) => [actor, atMs, of])).toEqual([
    ['test', startMs, 'default/team-a/region-1/42'],
    ['test', startMs, 'default/team-a/region-1/42'],
  ]);
  expect(await world.history()).toEqual([
    {
      event: 'intent',
      uid: portObject().uid,
      detail: { intent: intent?.id, action: action.id, summary: action.summary, request: `PUT ${rows}/8080` },
    },
    {
      event: 'applied',
      uid: portObject().uid,
      detail: { intent: intent?.id, action: action.id, answer: { status: 200, message: 'ok' } },
    },
  ]);
});

test('what was on record is built upon, and its failures stay until somebody reads back that it took', async () => {
  const world = new ScriptedWorld();
  const memory = await world.remember(portObject({ origin: 'created', failures: 2, lastApplied: { alias: 'WEB' } }));
  world.answers.push(yes);
  await execute(world.apply, executionOf(world, { memory }));
  expect(world.objects()).toEqual([
    portObject({ origin: 'created', failures: 2, lastApplied: { alias: 'WEB', inner: true } }),
  ]);
});

test.for<readonly [string, Partial<OwnedObject> | undefined, readonly object[]]>([
  ['an object on record is marked as being deleted, until its absence is seen', {}, [{ state: 'deleting' }]],
  ['of what was never on record nothing is written', undefined, []],
])('a deletion that was done: %s', async ([, row, expected]) => {
  const world = new ScriptedWorld();
  const memory = row === undefined ? world.memory() : await world.remember(portObject(row));
  world.answers.push(yes);
  await execute(world.apply, executionOf(world, { memory, action: portAction('delete_port') }));
  expect(world.objects()).toMatchObject(expected);
  expect(world.objects()).toHaveLength(expected.length);
});

test('what is let go of leaves the ledger', async () => {
  const world = new ScriptedWorld();
  const kind: ReconciledKind = { ...componentKind, calls: { ...componentKind.calls, applied: () => 'released' } };
  world.answers.push(yes);
  await execute(world.apply, executionOf(world, { kind, memory: await world.remember(portObject()) }));
  expect(world.objects()).toEqual([]);
});

test('what the answer showed, the manifest, the former values and the time reach the kind', async () => {
  const world = new ScriptedWorld();
  const seen: object[] = [];
  const kind: ReconciledKind = {
    ...componentKind,
    calls: { ...componentKind.calls, applied: (step, context) => (seen.push({ step, ...context }), 'gone') },
  };
  const resource = { id: 'Component/web' } as unknown as Execution['resource'];
  const evidence = { type: 'port', port: { port: 8080 } } as unknown as { type: 'none' };
  const memory = await world.remember(portObject());
  world.answers.push({ ...yes, evidence } as Verdict);
  await execute(world.apply, executionOf(world, { kind, resource, memory }));
  expect(seen).toEqual([
    {
      step: portAction('open_inner').step,
      evidence,
      prior: portObject(),
      preimage: expect.objectContaining({ alias: 'WEB' }),
      resource,
      nowMs: world.clock.now(),
    },
  ]);
});

test.for([
  ['of a port on record', {}, { lastApplied: { inner: true } }],
  [
    'of a port that was unknown so far',
    undefined,
    { origin: 'observed', lastApplied: {}, remoteAux: { former: { alias: 'WEB' } } },
  ],
] as const)('what is owed after a change for a moment is on record with the intent: %s', async ([, row, expected]) => {
  const world = new ScriptedWorld();
  const memory = row === undefined ? world.memory() : await world.remember(portObject(row));
  const step = { ...portAction('close_outer').step, temporary: true };
  world.answers.push(() => {
    expect(world.objects()).toMatchObject([{ obligation: { outer: true }, ...expected }]);
    return yes;
  });
  const action = portAction('close_outer', { step, obligation: { outer: true } });
  await execute(world.apply, executionOf(world, { memory, action }));
  expect(world.objects(), 'closing does not pay it back').toMatchObject([{ obligation: { outer: true } }]);
});

test('what is no valid request is not sent, and nothing is on record of it', async () => {
  const world = new ScriptedWorld();
  const refuse = (error: Error): void => {
    world.hashOf = () => {
      throw error;
    };
  };
  const facts = { code: 'x/y', message: 'no such value', remedy: 'Correct it.' };
  refuse(new PortolanError({ ...facts, disposition: 'invalid' }));
  const action = portAction('open_inner');
  expect(await execute(world.apply, executionOf(world, { action }))).toEqual({
    status: 'failed',
    action,
    answer: { message: 'no such value' },
    request: action.summary,
    reason: { type: 'not-sent' },
    remedy: 'Correct it.',
  });
  expect(world.commits).toEqual([]);
  for (const error of [new PortolanError({ ...facts, disposition: 'give-up' }), new TypeError('a bug')]) {
    refuse(error);
    await expect(execute(world.apply, executionOf(world))).rejects.toBe(error);
  }
});

test('nothing is sent without an intent on record', async () => {
  const world = new ScriptedWorld();
  world.breaks = () => true;
  await expect(execute(world.apply, executionOf(world))).rejects.toThrow(PortolanError);
  expect(world.sent).toEqual([]);
});

test.for([
  [timing.sendWithinMs - 1, 'done', 'applied'],
  [timing.sendWithinMs, 'failed', 'rejected'],
] as const)('an intent that is %i ms old when it could be sent: %s', async ([sleptMs, status, state]) => {
  const world = new ScriptedWorld();
  const { commit } = world.ledger;
  world.ledger.commit = async (transaction) => {
    await commit(transaction);
    // The process was stopped, and goes on after that time.
    if (world.commits.length === 1) world.clock.advance(sleptMs);
  };
  world.answers.push(yes);
  const result = await execute(world.apply, executionOf(world));
  expect(result.status).toBe(status);
  expect(world.sent).toHaveLength(status === 'done' ? 1 : 0);
  expect(world.intents()).toMatchObject([{ state }]);
  if (result.status !== 'failed') return;
  expect(result).toEqual({
    status: 'failed',
    action: portAction('open_inner'),
    answer: { message: 'not sent: more than 2000 ms passed since the intent was written' },
    request: `PUT ${rows}/8080`,
    reason: { type: 'not-sent' },
    remedy: 'Run the same command again.',
  });
  expect(world.objects()).toEqual([]);
});

test.for([
  [
    'credentials',
    "Renew the platform's token (spec.auth of Platform in the file given by --config), then run the same command again.",
  ],
  ['region-not-ready', 'Wait until the region is enabled, then run the same command again.'],
  ['unsent', 'Nothing was sent. See that the platform can be reached, then run the same command again.'],
] as const)(
  'a refusal that is not about the object (%s) stops the scope and counts against nothing',
  async ([why, remedy]) => {
    const world = new ScriptedWorld();
    const memory = await world.remember(portObject());
    world.answers.push(refusal(why));
    const action = portAction('open_inner');
    expect(await execute(world.apply, executionOf(world, { action, memory }))).toEqual({
      status: 'failed',
      action,
      answer: { status: 400, code: 20400, message: 'no' },
      request: `PUT ${rows}/8080`,
      reason: { type: 'stop-scope', why },
      remedy,
    });
    expect(world.intents()).toMatchObject([
      { state: 'rejected', outcome: { status: 400, code: 20400, message: 'no' } },
    ]);
    expect(world.objects()).toEqual([portObject()]);
  },
);

test.for<readonly [string, string, Partial<OwnedObject> | undefined, object]>([
  [
    'a creation leaves only its count',
    'add_port',
    undefined,
    { state: 'gone', failures: 1, lastApplied: {}, remoteAux: { failedWish: expect.any(String) } },
  ],
  ['a creation of what was refused before', 'add_port', { state: 'gone', failures: 1 }, { state: 'gone', failures: 2 }],
  ['a creation of what is on record', 'add_port', {}, { state: 'present', failures: 1 }],
  ['a change of what was unknown', 'open_inner', undefined, { state: 'present', origin: 'observed', failures: 1 }],
  ['a change of what is on record', 'open_inner', { failures: 1 }, { state: 'present', failures: 2 }],
])('what the platform refuses is counted: %s', async ([, type, row, expected]) => {
  const world = new ScriptedWorld();
  const memory = row === undefined ? world.memory() : await world.remember(portObject(row));
  world.answers.push(refusal('invalid'));
  const action = portAction(type);
  const seen = type === 'add_port' ? undefined : live;
  expect(await execute(world.apply, executionOf(world, { action, memory, live: seen }))).toEqual({
    status: 'failed',
    action,
    answer: { status: 400, code: 20400, message: 'no' },
    request: type === 'add_port' ? `POST ${rows}` : `PUT ${rows}/8080`,
    reason: { type: 'refused' },
    remedy:
      'The platform refused it and nothing changed. Correct the manifest or the platform; the next run tries again.',
  });
  expect(world.objects()).toMatchObject([expected]);
  expect(world.intents()).toMatchObject([{ state: 'rejected' }]);
});

const existing: Verdict = { verdict: 'exists', answer: { status: 400, message: 'there already' } };

test.for<readonly [string, Partial<OwnedObject> | undefined, object]>([
  ['unknown so far', undefined, { state: 'hold', failures: 1 }],
  ['refused before', { state: 'gone', failures: 1 }, { state: 'hold', failures: 2 }],
  ['on record', {}, { state: 'present', failures: 1 }],
])('what is there already and not ours is left alone: %s', async ([, row, expected]) => {
  const world = new ScriptedWorld();
  const memory = row === undefined ? world.memory() : await world.remember(portObject(row));
  world.answers.push(existing);
  const action = portAction('add_port');
  expect(await execute(world.apply, executionOf(world, { action, memory }))).toEqual({
    status: 'failed',
    action,
    answer: existing.answer,
    request: `POST ${rows}`,
    reason: { type: 'exists' },
    remedy:
      'It exists and is not ours, so it was not touched. Run apply --adopt Component/web to take it over, or delete it in the console.',
  });
  expect(world.objects()).toMatchObject([expected]);
  expect(world.intents()).toMatchObject([{ state: 'rejected' }]);
});

/** An earlier creation whose end nobody knew, and that was set aside to be sent once more. */
async function worldAfter(operation: 'add_port' | 'open_inner', moved: 'superseded' | 'rejected', port = 8080) {
  const world = new ScriptedWorld();
  const earlier = portAction(operation, { object: `port/${SERVICE}/${port}` });
  world.answers.push(lost);
  await execute(world.apply, executionOf(world, { action: earlier }));
  const [intent] = world.intents();
  await world.ledger.commit({
    scope: 'default/team-a/region-1/42',
    actor: 'earlier',
    atMs: world.clock.now(),
    operations: [{ op: 'move-intent', id: intent?.id ?? '', state: moved }],
  });
  return world;
}

test('what is there already is ours where the same was sent before and its end was never known', async () => {
  const world = await worldAfter('add_port', 'superseded');
  world.answers.push(existing);
  const action = portAction('add_port');
  const random = { ...world.apply.random, hex: () => 'second' };
  const contexts: object[] = [];
  const kind: ReconciledKind = {
    ...componentKind,
    calls: {
      ...componentKind.calls,
      applied: (step, context) => {
        contexts.push(context);
        return componentKind.calls.applied(step, context);
      },
    },
  };
  const result = await execute({ ...world.apply, random }, executionOf(world, { action, kind, live: undefined }));
  expect(contexts).toEqual([
    { evidence: { type: 'none' }, prior: undefined, preimage: null, resource: undefined, nowMs: world.clock.now() },
  ]);
  expect(result).toEqual({ status: 'done', action, answer: existing.answer });
  expect(world.objects()).toMatchObject([
    { origin: 'created', state: 'present', lastApplied: { protocol: 'http', inner: true }, remoteAux: {} },
  ]);
  expect(world.intents().at(-1)).toMatchObject({ state: 'applied', preimage: null });
});

test.for([
  ['of another object', 'add_port', 'superseded', 9090],
  ['of another kind of request', 'open_inner', 'superseded', 8080],
  ['that was refused', 'add_port', 'rejected', 8080],
] as const)('an earlier request %s makes nothing ours', async ([, operation, moved, port]) => {
  const world = await worldAfter(operation, moved, port);
  world.answers.push(existing);
  const random = { ...world.apply.random, hex: () => 'second' };
  const result = await execute({ ...world.apply, random }, executionOf(world, { action: portAction('add_port') }));
  expect(result).toMatchObject({ status: 'failed', reason: { type: 'exists' } });
});

const slowDown: Verdict = { verdict: 'throttled', retryAfterMs: 7_000, answer: { status: 429, message: 'slow' } };

test('a change of a target state that was throttled did nothing', async () => {
  const world = new ScriptedWorld();
  world.answers.push(slowDown);
  const action = portAction('open_inner');
  expect(await execute(world.apply, executionOf(world, { action }))).toEqual({
    status: 'failed',
    action,
    answer: slowDown.answer,
    request: `PUT ${rows}/8080`,
    reason: { type: 'throttled', retryAfterMs: 7_000 },
    remedy: 'The platform asked to slow down; it did nothing. The next run tries again.',
  });
  expect(world.intents()).toMatchObject([{ state: 'rejected' }]);
  expect(world.objects()).toEqual([]);
});

test.for([
  ['a throttled creation', 'add_port', slowDown, componentKind, timing.settleCreationMs],
  ['a throttled install', 'open_inner', slowDown, installing, timing.settleInstallMs],
  ['an unknown end', 'open_inner', lost, componentKind, timing.settleTargetStateMs],
  ['an unknown end of a creation', 'add_port', lost, componentKind, timing.settleCreationMs],
] as const)('%s leaves the intent in doubt for its window', async ([, type, verdict, kind, windowMs]) => {
  const world = new ScriptedWorld();
  world.answers.push(verdict);
  const action = portAction(type);
  const result = await execute(world.apply, executionOf(world, { action, kind }));
  const untilMs = world.clock.now() + windowMs;
  const [intent] = world.intents();
  expect(result).toEqual({
    status: 'in-doubt',
    action,
    answer: verdict.answer,
    request: expect.stringMatching(/^(?:PUT|POST) \/openapi/),
    intent: intent?.id,
    untilMs,
  });
  expect(intent).toMatchObject({ state: 'unknown', settleMs: untilMs, settleMark: `boot-1 ${untilMs}` });
  expect(world.objects()).toEqual([]);
  expect((await world.history()).map(({ event }) => event)).toEqual(['intent', 'unknown']);
});

test('an outcome is recorded at the third attempt', async () => {
  const world = new ScriptedWorld();
  const startMs = world.clock.now();
  world.breaks = (call, nth) => call === 'commit' && (nth === 2 || nth === 3);
  world.answers.push(yes);
  expect(await execute(world.apply, executionOf(world))).toMatchObject({ status: 'done' });
  expect(world.intents()).toMatchObject([{ state: 'applied' }]);
  expect(world.clock.now() - startMs, '100 ms, then 200 ms').toBe(300);
});

test.for<readonly [string, Verdict, (call: string, nth: number) => boolean]>([
  ['after what was done', yes, (call, nth) => call === 'commit' && nth > 1],
  ['while asking whether it was sent before', existing, (call) => call === 'intents'],
])(
  'a ledger that fails %s leaves the intent open, and the answer is told all the same',
  async ([, verdict, breaks]) => {
    const world = new ScriptedWorld();
    const startMs = world.clock.now();
    world.breaks = breaks;
    world.answers.push(verdict);
    const error: unknown = await execute(world.apply, executionOf(world, { action: portAction('add_port') })).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(OutcomeNotRecorded);
    expect(error).toMatchObject({
      name: 'OutcomeNotRecorded',
      message: expect.stringContaining('memory'),
      intent: { id: world.intents()[0]?.id, state: 'open' },
      answer: { ...verdict.answer, message: `${verdict.answer.message}; the ledger could not be told` },
      request: `POST ${rows}`,
      ledgerError: { code: 'ledger/full' },
    });
    expect(world.intents()).toMatchObject([{ state: 'open' }]);
    if (verdict === yes) expect(world.clock.now(), 'three attempts').toBe(startMs + 300);
  },
);

test('a mistake of ours after the request is not taken for a ledger that fails', async () => {
  const world = new ScriptedWorld();
  world.answers.push({ verdict: 'perhaps', answer: { message: 'x' } } as unknown as Verdict);
  const error: unknown = await execute(world.apply, executionOf(world)).catch((thrown: unknown) => thrown);
  expect(error).not.toBeInstanceOf(OutcomeNotRecorded);
  expect(error).toMatchObject({ message: expect.stringContaining('unreachable') });
});
