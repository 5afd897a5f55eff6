import { install } from '../../src/kinds/store-install/requests.ts';
import { expect, test } from 'vitest';
import { execute, OutcomeNotRecorded } from '../../src/reconcile/apply/execute.ts';
import { componentKind } from '../../src/kinds/component/index.ts';
import type { ReconciledKind } from '../../src/kinds/define.ts';
import type { OwnedObject } from '../../src/model/owned.ts';
import { Secret } from '../../src/model/secret.ts';
import type { Verdict } from '../../src/platform/verdict.ts';
import type { WriteRequest } from '../../src/platform/writes.ts';
import {
  calls,
  executionOf,
  livePort as live,
  lost,
  PORTS_PATH as rows,
  portAction,
  portObject,
  refusal,
  ScriptedWorld,
  SERVICE,
  timing,
  yes,
} from './scripted-world.ts';

/** A kind whose every write is an install: what must never be sent twice. */
const installing: ReconciledKind = {
  ...componentKind,
  calls: {
    ...componentKind.calls,
    toWrite: (): WriteRequest =>
      install({
        app: calls.app,
        build: true,
        store: { url: 'https://s', domain: 'd', type: 't', accessKey: new Secret('k', 'test') },
        modelId: 'm',
        modelVersion: '1',
      }),
  },
};
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
    const ledgerView = await world.remember(portObject());
    world.answers.push(refusal(why));
    const action = portAction('open_inner');
    expect(await execute(world.apply, executionOf(world, { action, ledgerView }))).toEqual({
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
    {
      state: 'gone',
      failures: 1,
      lastApplied: {},
      remoteAux: {
        failedWish: expect.any(String),
        refusal: { reason: 'invalid', message: 'HTTP 400, code 20400: no' },
      },
    },
  ],
  ['a creation of what was refused before', 'add_port', { state: 'gone', failures: 1 }, { state: 'gone', failures: 2 }],
  ['a creation of what is on record', 'add_port', {}, { state: 'present', failures: 1 }],
  ['a change of what was unknown', 'open_inner', undefined, { state: 'present', origin: 'observed', failures: 1 }],
  ['a change of what is on record', 'open_inner', { failures: 1 }, { state: 'present', failures: 2 }],
])('what the platform refuses is counted: %s', async ([, type, row, expected]) => {
  const world = new ScriptedWorld();
  const ledgerView = row === undefined ? world.ledgerView() : await world.remember(portObject(row));
  world.answers.push(refusal('invalid'));
  const action = portAction(type);
  const seen = type === 'add_port' ? undefined : live;
  expect(await execute(world.apply, executionOf(world, { action, ledgerView, live: seen }))).toEqual({
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
  const ledgerView = row === undefined ? world.ledgerView() : await world.remember(portObject(row));
  world.answers.push(existing);
  const action = portAction('add_port');
  expect(await execute(world.apply, executionOf(world, { action, ledgerView }))).toEqual({
    status: 'failed',
    action,
    answer: existing.answer,
    request: `POST ${rows}`,
    reason: { type: 'exists' },
    remedy:
      'It exists and is not ours, so it was not touched. Run apply --adopt Component/web to take it over, or take it out of the manifests.',
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
    scopeUntilMs: world.clock.now() + Math.min(windowMs, timing.settleTargetStateMs),
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
      result: {
        status: 'in-doubt',
        intent: world.intents()[0]?.id,
        answer: { ...verdict.answer, message: `${verdict.answer.message}; the ledger could not record it` },
        request: `POST ${rows}`,
      },
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
