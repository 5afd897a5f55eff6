import { expect, test } from 'vitest';
import type { Hold } from '../../../src/model/plan.ts';
import type { ControllerEvent, StatusError } from '../../../src/model/status.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { application, condition, event, handMadeApi, resource } from '../hand-made.ts';
import { Alertmanager } from './alertmanager.ts';

const MINUTE = 60_000;
const SHOP = 'Application/shop' as const;
const HOLD: Hold = {
  resource: 'Component/shop-web',
  code: 'rule/not-ours',
  message: 'it is of others',
  remedy: 'Adopt it.',
  changes: [],
};

function scene(...applications: Parameters<typeof handMadeApi>) {
  const clock = new VirtualClock();
  const api = handMadeApi(...applications);
  const pager = new Alertmanager(clock);
  /** An event of this moment. */
  const emit = (facts: Partial<ControllerEvent>): void => api.emit(event({ atMs: clock.now(), ...facts }));
  /** The status of a pass that ends now. */
  const passed = (facts: Parameters<typeof application>[1] = {}) =>
    application('shop', { lastAttemptMs: clock.now(), ...facts });
  return { clock, api, pager, emit, passed, pass: (ms: number) => clock.sleep(ms) };
}

const failure = (clock: VirtualClock): StatusError => ({
  code: 'platform/unavailable',
  message: 'the platform gave no answer',
  remedy: 'Wait.',
  atMs: clock.now(),
});

test('an alert that stands is sent every minute, and fires for a few minutes after the last time', async () => {
  const { api, clock, pager, emit, passed, pass } = scene();
  const { end } = pager.listen(api);
  api.applicationsNow = [passed({ lastError: failure(clock) })];
  emit({ type: 'application.failed', severity: 'error', resource: null });
  await pass(60 * MINUTE);
  expect(pager.firing()).toEqual(['PortolanApplicationFailed']);
  expect(pager.messages.length).toBeGreaterThan(55);
  expect(pager.messages.length).toBeLessThan(65);
  // As if it had been killed.
  await end();
  await pass(3 * MINUTE);
  expect(pager.firing()).toEqual(['PortolanApplicationFailed']);
  await pass(3 * MINUTE);
  expect(pager.firing()).toEqual([]);
});

test('an alert is sent further although a bug prevents the comparison with the status', async () => {
  const { api, pager, emit, pass } = scene();
  pager.listen(api);
  emit({ type: 'application.failed', severity: 'error', resource: null });
  await pass(1_000);
  api.standings = () => {
    throw new TypeError('a bug');
  };
  await pass(10 * MINUTE);
  expect(pager.firing()).toEqual(['PortolanApplicationFailed']);
});

test('an alert ends by the labels that it started with, although the Application has others by then', async () => {
  const { api, clock, pager, emit, passed, pass } = scene();
  pager.listen(api, { labels: { env: 'prod' } });
  api.applicationsNow = [passed({ scope: null, lastError: failure(clock) })];
  emit({ type: 'application.failed', severity: 'error', resource: null, scope: null });
  await pass(2 * MINUTE);
  expect(pager.firing('label_env', 'scope')).toEqual(['PortolanApplicationFailed prod ']);
  const labels = { env: 'test', tier: 'front' };
  api.applicationsNow = [passed({ labels, lastError: failure(clock) })];
  await pass(2 * MINUTE);
  expect(pager.firing('label_env', 'scope')).toEqual(['PortolanApplicationFailed prod ']);
  api.applicationsNow = [passed({ labels })];
  emit({ type: 'application.recovered', severity: 'info', resource: null, labels });
  await pass(1_000);
  expect(pager.firing()).toEqual([]);
});

const approval = (sinceMs: number) => ({
  digest: 'a'.repeat(64),
  refusals: [{ code: 'guard/share', message: 'too many', override: 'raise it' }],
  sinceMs,
});
const drift = (sinceMs: number) => ({
  sinceMs,
  changes: [{ path: 'port', before: 1, after: 2, cause: 'drift' as const }],
});

test.for<[string, Partial<ControllerEvent>, (nowMs: number) => Parameters<typeof application>[1]]>([
  ['PortolanApprovalNeeded', { type: 'approval.needed', resource: null }, (nowMs) => ({ approval: approval(nowMs) })],
  [
    'PortolanHold',
    { type: 'hold.added', detail: { code: HOLD.code } },
    () => ({ resources: [resource('shop-web', { holds: [HOLD] })] }),
  ],
  ['PortolanDrift', {}, (nowMs) => ({ resources: [resource('shop-web', { drift: drift(nowMs) })] })],
  [
    'PortolanActionFailed',
    { type: 'action.failed', severity: 'error' },
    () => ({ resources: [resource('shop-web', { conditions: [condition('Ready', 'False', 'Failing')] })] }),
  ],
  [
    'PortolanWriteInDoubt',
    { type: 'action.in-doubt' },
    () => ({ resources: [resource('shop-web', { conditions: [condition('Ready', 'False', 'InDoubt')] })] }),
  ],
  [
    'PortolanUnhealthy',
    { type: 'health.changed', resource: null },
    () => ({ conditions: [condition('Ready', 'True'), condition('Healthy', 'False')] }),
  ],
])('%s ends without an event once a later pass does not find it', async ([name, starts, found]) => {
  const { api, clock, pager, emit, passed, pass } = scene();
  const healthy = { conditions: [condition('Ready', 'True'), condition('Healthy', 'True')] };
  pager.listen(api);
  api.applicationsNow = [passed(healthy)];
  await pass(1_000);
  emit(starts);
  // The pass that published the event is under way for a while.
  await pass(10 * MINUTE);
  expect(pager.firing()).toEqual([name]);
  api.applicationsNow = [passed(found(clock.now()))];
  await pass(10 * MINUTE);
  expect(pager.firing()).toEqual([name]);
  api.applicationsNow = [passed({ ...healthy, resources: [resource('shop-web')] })];
  await pass(MINUTE + 1_000);
  expect(pager.firing()).toEqual([]);
  expect(pager.messages.at(-1)?.[0]).not.toHaveProperty('startsAt');

  // A process that starts anew finds it in the status.
  api.applicationsNow = [passed(found(clock.now()))];
  const other = new Alertmanager(clock);
  other.listen(api);
  await pass(MINUTE + 1_000);
  expect(other.firing('application', 'resource')).toContain(
    `${name} ${SHOP} ${starts.resource === null ? '' : 'Component/shop-web'}`,
  );
});

test('the alerts of an Application that git removes end; those of one that is not known yet stay', async () => {
  const { api, clock, pager, emit, passed, pass } = scene();
  pager.listen(api);
  const conditions = [condition('Ready', 'False', 'Failing')];
  api.applicationsNow = [passed({ conditions, lastError: failure(clock) })];
  emit({ type: 'application.failed', severity: 'error', resource: null });
  emit({ type: 'action.failed', severity: 'error' });
  await pass(5 * MINUTE);
  const both = ['PortolanActionFailed', 'PortolanApplicationFailed'];
  expect(pager.firing()).toEqual(both);
  api.applicationsNow = [];
  api.statusFacts = { phase: 'starting' };
  await pass(5 * MINUTE);
  expect(pager.firing()).toEqual(both);
  api.statusFacts = {};
  await pass(MINUTE + 1_000);
  expect(pager.firing()).toEqual([]);
});

test('only the leader sends: a start that waits is dropped when another replica leads', async () => {
  const { api, clock, pager, emit, passed, pass } = scene();
  pager.answerMs = 5_000;
  const { counted } = pager.listen(api);
  const conditions = [condition('Ready', 'False', 'Held')];
  api.applicationsNow = [passed({ conditions, lastError: failure(clock) })];
  emit({ type: 'hold.added', detail: { code: 'one' } });
  await pass(100);
  emit({ type: 'application.failed', severity: 'error', resource: null });
  api.ledNow = (unit) => unit !== 'platform:default';
  await pass(30 * MINUTE);
  expect(pager.messages.map((posts) => posts.map(({ labels }) => labels['alertname']))).toEqual([['PortolanHold']]);
  expect(counted).toEqual(['pager sent']);
  api.ledNow = () => true;
  await pass(MINUTE + 10_000);
  expect(pager.firing()).toEqual(['PortolanApplicationFailed', 'PortolanHold']);
});

test('the end of an alert is sent until Alertmanager has it', async () => {
  const { api, clock, pager, emit, passed, pass } = scene();
  pager.listen(api);
  api.applicationsNow = [passed({ lastError: failure(clock) })];
  emit({ type: 'application.failed', severity: 'error', resource: null });
  await pass(MINUTE);
  pager.status = 400;
  api.applicationsNow = [passed()];
  emit({ type: 'application.recovered', severity: 'info', resource: null });
  await pass(MINUTE);
  expect(pager.firing()).toEqual(['PortolanApplicationFailed']);
  pager.status = 200;
  await pass(MINUTE + 10_000);
  expect(pager.firing()).toEqual([]);
});

test('many alerts are few messages, each with a limited size, and nothing secret', async () => {
  const { api, pager, passed, pass } = scene();
  const { counted } = pager.listen(api, {}, 10);
  const held = Array.from({ length: 2_000 }, (_, at) =>
    resource(`web-${at}`, {
      holds: [{ ...HOLD, resource: `Component/web-${at}`, message: `hunter2 ${'x'.repeat(500)}` }],
    }),
  );
  api.applicationsNow = [passed({ resources: held })];
  await pass(5 * MINUTE);
  expect(pager.firing('resource')).toHaveLength(2_000);
  for (const body of pager.bodies) expect(body.length).toBeLessThan(500_000);
  // Ten per minute, and a few at once.
  expect(counted.length).toBeLessThanOrEqual(60);
  expect(pager.bodies.join('')).not.toContain('hunter2');
  await pass(60 * MINUTE);
  expect(pager.firing('resource')).toHaveLength(2_000);
  api.applicationsNow = [passed({ resources: held.slice(0, 3).map((one) => ({ ...one, holds: [] })) })];
  await pass(5 * MINUTE);
  expect(pager.firing('resource')).toHaveLength(0);
});

test('a fleet without alerts sends nothing', async () => {
  const { api, pager, pass } = scene(Array.from({ length: 100 }, (_, at) => application(`shop-${at}`)));
  pager.listen(api);
  await pass(60 * MINUTE);
  expect(pager.messages).toEqual([]);
});

test('an alert about a region or the source lasts as long as an event or the status says', async () => {
  const { api, pager, emit, pass } = scene();
  const gate = (state: 'open' | 'paused' | 'circuit-open') => {
    api.statusFacts = { regions: [{ platform: 'default', region: 'r', state, message: '' }] };
  };
  pager.listen(api);
  const ofRegion = { application: null, resource: null, scope: null, detail: { platform: 'default', region: 'r' } };
  const ofSource = { application: null, resource: null, scope: null, detail: null };
  const error = { code: 'source/unreachable', message: 'no answer', remedy: 'Wait.', atMs: 0 };
  api.sourceNow = { ...api.sourceNow, error };
  emit({ type: 'circuit.opened', severity: 'error', ...ofRegion });
  emit({ type: 'source.failed', severity: 'error', ...ofSource });
  gate('circuit-open');
  await pass(5 * MINUTE);
  expect(pager.firing('region')).toEqual(['PortolanCircuitOpen r', 'PortolanSourceFailed ']);
  // Another leader shows it as open until it has checked it.
  gate('open');
  api.sourceNow = { ...api.sourceNow, error: null };
  await pass(5 * MINUTE);
  expect(pager.firing()).toEqual(['PortolanCircuitOpen']);
  emit({ type: 'circuit.closed', severity: 'info', ...ofRegion });
  await pass(1_000);
  expect(pager.firing()).toEqual([]);
  emit({ type: 'region.paused', ...ofRegion });
  gate('paused');
  await pass(5 * MINUTE);
  expect(pager.firing()).toEqual(['PortolanRegionPaused']);
  api.statusFacts = { regions: [] };
  await pass(MINUTE + 1_000);
  expect(pager.firing()).toEqual([]);
});

test('a commit that is rejected was read, so the alert about an unreadable source ends', async () => {
  const { api, pager, emit, pass } = scene();
  pager.listen(api);
  api.sourceNow = { ...api.sourceNow, error: { code: 'x', message: 'x', remedy: 'x', atMs: 0 } };
  const ofSource = { application: null, resource: null, scope: null, severity: 'error', detail: null } as const;
  emit({ type: 'source.failed', ...ofSource });
  await pass(MINUTE);
  emit({ type: 'source.refused', ...ofSource });
  await pass(5 * MINUTE);
  expect(pager.firing()).toEqual(['PortolanSourceRejected']);
});

test('an approval ends the alert at once, although the next pass uses it later', async () => {
  const { api, clock, pager, emit, passed, pass } = scene();
  pager.listen(api);
  const { approval: needed } = passed({ approval: approval(clock.now()) });
  api.applicationsNow = [passed({ approval: needed })];
  emit({ type: 'approval.needed', resource: null });
  await pass(MINUTE);
  api.keptNow = { approved: { digest: needed?.digest ?? '', by: 'ops', atMs: clock.now() } };
  emit({ type: 'approval.given', severity: 'info', resource: null });
  await pass(10 * MINUTE);
  expect(pager.firing()).toEqual([]);
  api.keptNow = {};
  await pass(MINUTE + 1_000);
  expect(pager.firing()).toEqual(['PortolanApprovalNeeded']);
});

test('a refused configuration is an alert of its process until that is restarted', async () => {
  const { api, pager, emit, pass } = scene();
  const { end } = pager.listen(api);
  emit({ type: 'controller.reload-refused', severity: 'error', application: null, resource: null, scope: null });
  api.ledNow = () => false;
  await pass(30 * 60 * MINUTE);
  expect(pager.firing()).toEqual(['PortolanConfigurationRefused']);
  await end();
  pager.listen(api);
  await pass(10 * MINUTE);
  expect(pager.firing()).toEqual([]);
});

test('the alert of another leader, which only its event shows, is sent on by the next one and ends with its event', async () => {
  const { api, clock, pager, emit, pass } = scene();
  pager.listen(api);
  const ofRegion = { application: null, resource: null, scope: null, detail: { platform: 'default', region: 'r' } };
  api.statusFacts = { regions: [{ platform: 'default', region: 'r', state: 'open', message: '' }] };
  api.ledNow = () => false;
  const opened = { type: 'circuit.opened', severity: 'error', atMs: clock.now(), ...ofRegion } as const;
  api.emitElsewhere(event(opened));
  await pass(5 * MINUTE);
  expect(pager.messages).toEqual([]);
  api.ledNow = () => true;
  await pass(10 * MINUTE);
  expect(pager.firing('platform', 'region')).toEqual(['PortolanCircuitOpen default r']);
  emit({ type: 'circuit.closed', severity: 'info', ...ofRegion });
  await pass(1_000);
  expect(pager.firing()).toEqual([]);
});
