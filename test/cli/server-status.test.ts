import { expect, test } from 'vitest';
import type { Hold } from '../../src/model/plan.ts';
import type { ApplicationStatus, Condition, ControllerStatus, ResourceStatus } from '../../src/model/status.ts';
import { application, controllerStatus } from '../server/controller.ts';
import { serve, TOKENS } from '../server/serving.ts';
import { runHere } from './running.ts';

const SINCE = Date.UTC(2026, 10, 20, 12);
const SOURCE = { ...controllerStatus().source, error: null };
const CALM = { ...controllerStatus().counts, drifted: 0, held: 0, failing: 0, suspended: 0 };
const lastError = { code: 'platform/unreachable', message: 'no answer', remedy: 'look', atMs: SINCE };
const approval = { digest: 'abcdef0123', refusals: [], sinceMs: SINCE };
const suspended = { type: 'suspended', by: 'ops', reason: 'a move', sinceMs: SINCE } as const;

const condition = (type: Condition['type'], status: Condition['status'], reason: string): Condition => ({
  type,
  status,
  reason,
  message: '',
  observedRevision: null,
  sinceMs: SINCE,
});
const failing = condition('Ready', 'False', 'Failing');
const stalled = condition('Stalled', 'True', 'Held');

const hold: Hold = {
  code: 'rule/x',
  resource: 'Component/shop-web',
  message: 'm',
  remedy: 'r',
  changes: [],
  untilMs: SINCE,
};

/** An application of one resource, which is not as git says. */
function shop(changes: Partial<ApplicationStatus>, ofResource: Partial<ResourceStatus> = {}): ApplicationStatus {
  const [web] = application('shop').resources as [ResourceStatus];
  const pending = [condition('Ready', 'False', 'Pending')];
  return application('shop', { ...changes, resources: [{ ...web, conditions: pending, ...ofResource }] });
}

test.for<readonly [string, number, ApplicationStatus]>([
  ['a suspended resource that is held', 4, shop({}, { mode: 'suspend', holds: [hold] })],
  ['a held resource of an application that is missing', 4, shop({}, { application: 'Application/x', holds: [hold] })],
  ['a held resource', 4, shop({}, { holds: [hold] })],
  ['a stalled resource without a hold', 0, shop({}, { conditions: [failing, stalled] })],
  ['an application that failed before a restart', 0, shop({ conditions: [failing], lastError, failures: 0 })],
  ['an application that fails', 1, shop({ lastError, failures: 1 })],
  ['an application that fails and is stalled', 1, shop({ lastError, failures: 1, conditions: [stalled], approval })],
  ['an application suspended just now', 0, shop({ pause: suspended })],
  ['an application that is suspended and stalled', 4, shop({ pause: suspended, conditions: [stalled] })],
  ['an application that needs approval', 4, shop({ approval })],
])('status of a controller with %s ends with %i', async ([, code, status]) => {
  const serving = await serve();
  serving.api.state = controllerStatus({ source: SOURCE, counts: CALM });
  serving.api.list = [status];
  const env = { PORTOLAN_SERVER: serving.url, PORTOLAN_SERVER_TOKEN: TOKENS.operator };
  const shown = await runHere(['status'], { env });
  expect(shown.code, shown.out + shown.err).toBe(code);
});

test.for<readonly [string, number, Partial<ControllerStatus['counts']>, readonly string[]]>([
  ['held', 4, { ready: 0, held: 1 }, []],
  ['failing', 1, { ready: 0, failing: 1 }, []],
  ['held and not asked for', 0, { ready: 0, held: 1 }, ['--team', 'shop']],
])(
  'status of a controller whose counts are older than its lists, with one that was %s, ends with %i',
  async ([, code, counts, args]) => {
    const serving = await serve();
    // The application became ready after the counts were read.
    serving.api.state = controllerStatus({ source: SOURCE, counts: { ...CALM, applications: 1, ...counts } });
    serving.api.list = [application('shop')];
    const env = { PORTOLAN_SERVER: serving.url, PORTOLAN_SERVER_TOKEN: TOKENS.operator };
    const shown = await runHere(['status', ...args], { env });
    expect(shown.code, shown.out + shown.err).toBe(code);
  },
);

test('status of a controller names the age of its state once it cannot read what the others share', async () => {
  const serving = await serve();
  const env = { PORTOLAN_SERVER: serving.url, PORTOLAN_SERVER_TOKEN: TOKENS.operator };
  const shownWith = async (isReachable: boolean, ageMs: number): Promise<string> => {
    const database = { isReachable, ageMs, asOfMs: Date.UTC(2026, 0, 1, 12) };
    serving.api.state = controllerStatus({ source: SOURCE, counts: CALM, database });
    return (await runHere(['status'], { env })).out.replaceAll(/\s+/g, ' ');
  };
  expect(await shownWith(true, 3_000)).not.toContain('database');
  const away = await shownWith(false, 60_000);
  expect(away).toContain('This controller cannot read the database of the ledger.');
  expect(away).toContain('Shown is the state of 2026-01-01T12:00:00.000Z. Changes are refused.');
  expect(await shownWith(true, 60_000)).toContain('This controller cannot read what the others have stored.');
});

test('attention names the database that a controller cannot read, and does not end with 0', async () => {
  const serving = await serve();
  const env = { PORTOLAN_SERVER: serving.url, PORTOLAN_SERVER_TOKEN: TOKENS.operator };
  const attention = (ageMs: number, ...args: readonly string[]) => {
    const database = { isReachable: false, ageMs, asOfMs: Date.UTC(2026, 0, 1, 12) };
    serving.api.state = controllerStatus({ source: SOURCE, counts: CALM, database });
    return runHere(['attention', '--application', 'shop', ...args], { env });
  };
  expect(await attention(3_000)).toMatchObject({ code: 0, out: 'Nothing requires manual action.\n' });
  expect(await attention(60_000)).toMatchObject({
    code: 4,
    out: `database  since 2026-01-01T12:00:00.000Z
  This controller cannot read the database of the ledger. Everything else here is as of then.
  → Changes are refused. Its log names the reason. It resumes by itself once the database answers.

Nothing else required manual action then.
`,
  });
  expect(await attention(60_000, '-o', 'json')).toMatchObject({
    code: 4,
    out: '[]\n',
    err: expect.stringContaining(
      'warning: This controller cannot read the database of the ledger. Changes are refused.',
    ),
  });
});
