import { expect, onTestFinished, test } from 'vitest';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import { deriveEntries } from '../../src/views/fleet.ts';
import { DaemonWorld } from './daemon.ts';

const SHOP = 'Application/shop';

const files = (labels: string): Record<string, string> => ({
  'app.yaml': `apiVersion: portolan/v1
kind: Application
metadata: { name: shop }
spec: { team: ${demo.team}, region: ${demo.region}, appId: ${demo.appId} }
---
apiVersion: portolan/v1
kind: Component
metadata: { name: shop-web, labels: ${labels} }
spec: { application: shop, serviceId: ${demo.webServiceId}, ports: [ { port: 8080, protocol: http, inner: true, outer: true } ] }
---
apiVersion: portolan/v1
kind: HttpGatewayRule
metadata: { name: www }
spec: { application: shop, component: shop-web, port: 8080, domain: www.example.com }
`,
});

async function started(policies: string): Promise<DaemonWorld> {
  const world = new DaemonWorld(`{ policies: [ ${policies} ] }`);
  onTestFinished(async () => void (await world.controller.drain()));
  world.start();
  return world;
}

const conditions = (world: DaemonWorld, of: 'application' | 'web') => {
  const status = world.application(SHOP);
  const found = of === 'application' ? status : status.resources.find(({ id }) => id === 'Component/shop-web');
  return (found?.conditions ?? []).map(({ type, status: value, reason }) => `${type} ${value} ${reason}`);
};
/** The applications that the status counts as held, and those that lists show as held. */
const countedAndShown = async ({ controller: { api } }: DaemonWorld): Promise<readonly number[]> => {
  const entries = await deriveEntries(api.standings(), async () => {});
  return [api.status().counts.held, entries.filter(({ row }) => row.state === 'held').length];
};
const ready = (world: DaemonWorld): string =>
  world.application(SHOP).conditions.find(({ type }) => type === 'Ready')?.message ?? '';

test('a denied manifest holds its application, the correction of drift too, until a commit corrects it', async () => {
  const world = await started(`{ name: owner, message: add the label owner,
    expression: 'manifest.kind != "Component" || "owner" in manifest.metadata.labels' }`);
  await world.commit(files('{ owner: web }'));
  await world.until(() => world.ready(SHOP) === 'True InSync', 'it is in sync');
  const written = world.writes().length;

  await world.commit(files('{}'));
  await world.until(() => world.ready(SHOP) === 'False Denied', 'it is denied');
  expect(ready(world)).toBe('policy "owner" denies Component/shop-web: add the label owner; nothing was sent');
  expect(conditions(world, 'application')).toContain('Stalled True Denied');
  expect(conditions(world, 'web').slice(0, 3)).toEqual([
    'Ready False Denied',
    'Reconciling False Denied',
    'Stalled True Denied',
  ]);
  // It counts as its row says, although no resource of it is held.
  expect(await countedAndShown(world)).toEqual([1, 1]);
  // Somebody removes the rule: it is not restored while the application is held.
  world.state.rules.delete([...world.state.rules.all()].find(({ type }) => type === 1)?.id ?? '');
  await world.pass(2 * 3_600_000);
  expect(world.writes().length).toBe(written);
  const [event, ...others] = world.eventsOf('application.failed');
  expect(others).toEqual([]);
  expect(event?.detail).toMatchObject({ code: 'guard/policy' });
  expect(event?.message).toBe(
    `${SHOP}: policy "owner" denies Component/shop-web: add the label owner; nothing was sent. To allow it: correct the manifest.`,
  );
  const plan = await world.controller.api.plan([SHOP], new AbortController().signal);
  expect(plan.refusals).toMatchObject([{ code: 'guard/policy', policy: 'owner', resource: 'Component/shop-web' }]);

  await world.commit(files('{ owner: web }'));
  await world.until(() => world.ready(SHOP) === 'True InSync', 'it is in sync again');
  expect(world.writes().length).toBeGreaterThan(written);
});

test('a denied plan is held until a reload, and a warning is part of the status', async () => {
  const world = await started(
    '{ name: never, subject: plan, message: not today, expression: plan.summary.create == 0 }',
  );
  await world.commit(files('{}'));
  await world.until(() => world.ready(SHOP) === 'False Denied', 'its plan is denied');
  expect(ready(world)).toBe('policy "never" denies the plan of Application/shop: not today; nothing was sent');
  expect(world.application(SHOP).approval).toBeNull();
  await world.pass(3_600_000);
  expect(world.writes()).toEqual([]);

  const { settings, ...others } = world.configuration();
  const policies = settings.policies.map((policy) => ({
    ...policy,
    subject: 'manifest' as const,
    expression: 'false',
  }));
  const warning = policies.map((policy) => ({ ...policy, action: 'warn' as const }));
  await world.controller.reload({ ...others, settings: { ...settings, policies: warning } });
  await world.until(() => world.ready(SHOP) === 'True InSync', 'it is applied');
  expect(ready(world)).toContain('in sync with the source; policy "never" warns about Application/shop: not today');
});
