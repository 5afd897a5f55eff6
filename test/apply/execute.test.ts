import { expect, test } from 'vitest';
import { execute, type Execution } from '../../src/reconcile/apply/execute.ts';
import { componentKind } from '../../src/kinds/component/index.ts';
import type { ReconciledKind } from '../../src/kinds/define.ts';
import { PortolanError } from '../../src/model/errors.ts';
import type { OwnedObject } from '../../src/model/owned.ts';
import type { Verdict } from '../../src/platform/verdict.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import {
  executionOf,
  PORTS_PATH as rows,
  portAction,
  portObject,
  ScriptedWorld,
  timing,
  yes,
} from './scripted-world.ts';

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
      detail: {
        intent: intent?.id,
        action: action.id,
        summary: action.summary,
        request: `PUT ${rows}/8080`,
        write: {
          resource: action.resource,
          verb: action.verb,
          cause: action.cause,
          changes: action.changes,
          prune: false,
        },
      },
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
  const ledgerView = await world.remember(
    portObject({ origin: 'created', failures: 2, lastApplied: { alias: 'WEB' } }),
  );
  world.answers.push(yes);
  await execute(world.apply, executionOf(world, { ledgerView }));
  expect(world.objects()).toEqual([
    portObject({ origin: 'created', failures: 2, lastApplied: { alias: 'WEB', inner: true } }),
  ]);
});

test.for<readonly [string, Partial<OwnedObject> | undefined, readonly object[]]>([
  ['an object on record is marked as being deleted, until its absence is seen', {}, [{ state: 'deleting' }]],
  ['of what was never on record nothing is written', undefined, []],
])('a deletion that was done: %s', async ([, row, expected]) => {
  const world = new ScriptedWorld();
  const ledgerView = row === undefined ? world.ledgerView() : await world.remember(portObject(row));
  world.answers.push(yes);
  await execute(world.apply, executionOf(world, { ledgerView, action: portAction('delete_port') }));
  expect(world.objects()).toMatchObject(expected);
  expect(world.objects()).toHaveLength(expected.length);
});

test('what is let go of leaves the ledger', async () => {
  const world = new ScriptedWorld();
  const kind: ReconciledKind = { ...componentKind, calls: { ...componentKind.calls, applied: () => 'released' } };
  world.answers.push(yes);
  await execute(world.apply, executionOf(world, { kind, ledgerView: await world.remember(portObject()) }));
  expect(world.objects()).toEqual([]);
});

test('what the answer showed, the manifest, the former values and the time reach the kind', async () => {
  const world = new ScriptedWorld();
  const seen: object[] = [];
  const kind: ReconciledKind = {
    ...componentKind,
    calls: { ...componentKind.calls, applied: (step, context) => (seen.push({ step, ...context }), 'gone') },
  };
  const resource = { id: 'Component/web', spec: { ports: [] } } as unknown as Execution['resource'];
  const evidence = { type: 'port', port: { port: 8080 } } as unknown as { type: 'none' };
  const ledgerView = await world.remember(portObject());
  world.answers.push({ ...yes, evidence } as Verdict);
  await execute(world.apply, executionOf(world, { kind, resource, ledgerView }));
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
  const ledgerView = row === undefined ? world.ledgerView() : await world.remember(portObject(row));
  const step = { ...portAction('close_outer').step, temporary: true };
  world.answers.push(() => {
    expect(world.objects()).toMatchObject([{ obligation: { outer: true }, ...expected }]);
    return yes;
  });
  const action = portAction('close_outer', { step, obligation: { outer: true } });
  await execute(world.apply, executionOf(world, { ledgerView, action }));
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
  // The wait for its turn ends when the intent is too old, too.
  const sendBeforeMs = world.clock.monotonic() - sleptMs + timing.sendWithinMs;
  expect(world.sent).toMatchObject(status === 'done' ? [{ sendBeforeMs }] : []);
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
  ['while the intent is written', 'failed', 'commit'],
  ['while the request waits for its turn', 'skipped', 'turn'],
] as const)(
  'a machine that is suspended %s, and whose wall clock is set back, sends nothing late',
  async ([, status, when]) => {
    const world = new ScriptedWorld();
    let suspendedMs = 0;
    const suspend = (): void => {
      suspendedMs = timing.sendWithinMs;
    };
    const clock: Clock = {
      // It is set back by more than the machine sleeps.
      now: () => world.clock.now() - 300 * suspendedMs,
      monotonic: () => world.clock.monotonic(),
      sinceBoot: () => ({ ...world.clock.sinceBoot(), uptimeMs: world.clock.sinceBoot().uptimeMs + suspendedMs }),
      sleep: (ms, signal) => world.clock.sleep(ms, signal),
    };
    const commit = world.ledger.commit.bind(world.ledger);
    world.ledger.commit = async (transaction) => {
      await commit(transaction);
      if (when === 'commit') suspend();
    };
    const { client } = world.apply;
    const send: typeof client.send = async (write, options) => {
      if (when === 'turn') suspend();
      return client.send(write, options);
    };
    world.answers.push(yes);
    const result = await execute({ ...world.apply, clock, client: { ...client, send } }, executionOf(world));
    expect(result.status).toBe(status);
    expect(world.sent).toEqual([]);
    expect(world.intents()).toMatchObject([{ state: 'rejected' }]);
  },
);

test('a request that could arrive after another process took over is not sent, and its intent is closed', async () => {
  const world = new ScriptedWorld();
  // The lease ends while the intent is written.
  const untilMs = world.clock.monotonic() + 100;
  const commit = world.ledger.commit.bind(world.ledger);
  world.ledger.commit = async (transaction) => {
    await commit(transaction);
    await world.clock.sleep(100);
  };
  const action = portAction('open_inner');
  const { apply } = world;
  const result = await execute({ ...apply, sendUntilMs: () => untilMs }, executionOf(world, { action }));
  expect(result).toEqual({ status: 'skipped', action, because: { type: 'interrupted' } });
  expect(world.sent).toEqual([]);
  expect(world.intents().map(({ state }) => state)).toEqual(['rejected']);

  world.answers.push(yes);
  const laterMs = world.clock.monotonic() + 1_000;
  const later = await execute({ ...apply, sendUntilMs: () => laterMs }, executionOf(world, { action }));
  expect(later.status).toBe('done');
});
