import { install } from '../../src/kinds/store-install/requests.ts';
import { expect, test } from 'vitest';
import { execute } from '../../src/reconcile/apply/execute.ts';
import { componentKind } from '../../src/kinds/component/index.ts';
import { installKind } from '../../src/kinds/store-install/index.ts';
import type { Obstacle } from '../../src/kinds/calls.ts';
import type { ReconciledKind } from '../../src/kinds/define.ts';
import type { Resolution, ResolveContext } from '../../src/kinds/reconciled.ts';
import { knownSince } from '../../src/ledger/confirmation.ts';
import { PortolanError } from '../../src/model/errors.ts';
import { refusalOf } from '../../src/model/owned.ts';
import type { RejectionReason, Verdict } from '../../src/platform/verdict.ts';
import type { WriteRequest } from '../../src/platform/writes.ts';
import { calls, executionOf, key, portAction, readerOf, ScriptedWorld, timing } from './scripted-world.ts';

/** A kind whose every write is an install, and whose observations are told. */
function seeing(resolve: (context: ResolveContext) => Resolution | Promise<Resolution>): ReconciledKind {
  return {
    ...componentKind,
    calls: {
      ...componentKind.calls,
      remedies: installKind.calls.remedies ?? {},
      toWrite: (): WriteRequest =>
        install({
          app: calls.app,
          build: false,
          store: { url: 'https://s', domain: 'd', type: 't', accessKey: null },
          modelId: 'm',
          modelVersion: '1',
        }),
      resolve: async (_step, context) => resolve(context),
    },
  };
}

const absent: Resolution = { type: 'absent-so-far', evidence: 'nothing is new' };
const changed: Resolution = { type: 'hold', code: 'x', evidence: 'there is one more' };

function refused(
  reason: RejectionReason,
  answer: Verdict['answer'] = { status: 404, code: 404, message: 'no' },
): Verdict {
  return { verdict: 'rejected', reason, answer, needsObservation: true };
}

async function run(world: ScriptedWorld, verdict: Verdict, resolve: Parameters<typeof seeing>[0]) {
  world.answers.push(verdict);
  return execute(
    world.apply,
    executionOf(world, { action: portAction('add_port'), kind: seeing(resolve), live: undefined }),
  );
}

test.for<readonly [RejectionReason, RegExp]>([
  ['not-found', /^The platform refused it and nothing changed\./],
  ['store-credentials', /Correct the key of this store in the console.*keeps the first access key/],
  ['store-failed', /Check that the application store runs and that the platform can reach it/],
  ['rolled-back', /removed what it had created/],
])('a refusal (%s) that observation confirms twice has failed, and its row says why', async ([reason, remedy]) => {
  const world = new ScriptedWorld();
  const looks: number[] = [];
  const result = await run(world, refused(reason), ({ intent }) => {
    looks.push(world.clock.now());
    expect(intent.outcome).toEqual({ status: 404, code: 404, message: 'no', refused: reason });
    return absent;
  });
  expect(result).toMatchObject({
    status: 'failed',
    reason: { type: 'refused' },
    remedy: expect.stringMatching(remedy),
  });
  expect((looks[1] ?? 0) - (looks[0] ?? 0)).toBe(timing.absenceApartMs);
  expect(world.intents()).toMatchObject([{ state: 'rejected' }]);
  const [row] = world.objects();
  expect(row && refusalOf(row)).toEqual({ reason, message: 'HTTP 404: no' });
});

test('a refusal about the token stops the scope once observation confirms it', async () => {
  const world = new ScriptedWorld();
  const result = await run(world, refused('credentials'), () => absent);
  expect(result).toMatchObject({ status: 'failed', reason: { type: 'stop-scope', why: 'credentials' } });
  expect(world.intents()).toMatchObject([{ state: 'rejected' }]);
});

test('a refusal without status and code is recorded by its message', async () => {
  const world = new ScriptedWorld();
  await run(world, refused('invalid', { message: 'no' }), () => absent);
  const [row] = world.objects();
  expect(row && refusalOf(row)).toEqual({ reason: 'invalid', message: 'no' });
});

test('a refusal that observation contradicts is in doubt, as long as the platform may take for any request', async () => {
  const world = new ScriptedWorld();
  const answers = [absent, changed];
  const result = await run(world, refused('not-found'), () => answers.shift() ?? changed);
  expect(result).toMatchObject({
    status: 'in-doubt',
    answer: { status: 404, message: 'no; but there is one more' },
    untilMs: world.clock.now() + timing.settleTargetStateMs,
  });
  expect(world.intents()).toMatchObject([{ state: 'unknown', outcome: { status: 404 } }]);
  expect(world.intents()[0]?.outcome).not.toHaveProperty('refused');
  expect(world.objects()).toEqual([]);
});

const failure = (code: string) =>
  new PortolanError({ code, disposition: 'retry', message: 'not now', remedy: 'Run it again.' });

test('a refusal is in doubt while the platform cannot be read', async () => {
  const world = new ScriptedWorld();
  const result = await run(world, refused('not-found'), () => {
    throw failure('platform/unreachable');
  });
  expect(result).toMatchObject({
    status: 'in-doubt',
    answer: { message: 'no; whether it happened could not be read (not now)' },
  });
  expect(world.intents()).toMatchObject([{ state: 'unknown', outcome: { refused: 'not-found' } }]);
});

test.for([failure('ledger/full'), new TypeError('a bug')])(
  '%s while a refusal is confirmed is not hidden',
  async (error) => {
    const world = new ScriptedWorld();
    const thrown = await run(world, refused('not-found'), () => {
      throw error;
    }).catch((caught: unknown) => caught);
    expect(String(thrown)).toContain(error.message);
    expect(world.intents()).toMatchObject([{ state: 'open' }]);
  },
);

test('observation reads with a reader of its own each time', async () => {
  const world = new ScriptedWorld();
  world.answers.push(refused('not-found'));
  const readers = new Set<unknown>();
  await execute(
    world.apply,
    executionOf(world, {
      action: portAction('add_port'),
      live: undefined,
      kind: seeing(({ reader }) => {
        readers.add(reader);
        return absent;
      }),
      freshReader: () => readerOf({}),
    }),
  );
  expect(readers.size).toBe(2);
});

test.for<readonly [string, () => Obstacle, object, reason?: string]>([
  ['what it rests on has changed', () => ({ why: 'there is one more' }), { message: 'not sent: there is one more' }],
  [
    'what it rests on was not done',
    () => ({ why: 'it is open', isUntaken: true }),
    { message: 'not sent: it is open' },
    'not-taken',
  ],
  [
    'the platform cannot be read',
    () => {
      throw failure('platform/unreachable');
    },
    { message: 'not sent: the platform could not be read (not now)' },
  ],
])(
  'a write that may never be sent twice is kept where %s: no intent, no request',
  async ([, obstacle, answer, reason]) => {
    const world = new ScriptedWorld();
    const kind = seeing(() => absent);
    const blocked: ReconciledKind = { ...kind, calls: { ...kind.calls, obstacle: async () => obstacle() } };
    const action = portAction('add_port');
    expect(await execute(world.apply, executionOf(world, { action, kind: blocked, live: undefined }))).toMatchObject({
      status: 'failed',
      reason: { type: reason ?? 'not-sent' },
      answer,
      remedy: expect.stringContaining('Run the same command again'),
    });
    expect(world.sent).toEqual([]);
    expect(world.intents()).toEqual([]);
  },
);

test('a bug in what looks for an obstacle is not hidden', async () => {
  const world = new ScriptedWorld();
  const kind = seeing(() => absent);
  const obstacle = async (): Promise<undefined> => {
    throw new TypeError('a bug');
  };
  const broken: ReconciledKind = { ...kind, calls: { ...kind.calls, obstacle } };
  const run = execute(
    world.apply,
    executionOf(world, { action: portAction('add_port'), kind: broken, live: undefined }),
  );
  await expect(run).rejects.toThrow('a bug');
});

test('what the list says after an install is on record with its outcome', async () => {
  const world = new ScriptedWorld();
  const kind = seeing(() => absent);
  const since = () => ({ total: 3, besides: 'one more' });
  world.answers.push({ verdict: 'applied', answer: { status: 200, message: 'ok' }, evidence: { type: 'none' } });
  const listing: ReconciledKind = { ...kind, calls: { ...kind.calls, since } };
  await execute(world.apply, executionOf(world, { action: portAction('add_port'), kind: listing, live: undefined }));
  expect(await knownSince(world.ledger, key)).toEqual({ total: 3, besides: 'one more' });
});
