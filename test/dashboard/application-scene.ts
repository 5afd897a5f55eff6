import type { Page } from '../../src/model/page.ts';
import type { ApplicationDetails, ApplicationSummary } from '../../src/model/status.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import type { World } from './world.ts';

const document = (kind: string, name: string, spec: string): string =>
  `apiVersion: portolan/v1\nkind: ${kind}\nmetadata: { name: ${name} }\nspec: ${spec}\n`;

/** Manifests of an application with so many rules. */
export function largeShop(rules: number): Record<string, string> {
  return {
    'app.yaml': document('Application', 'shop', `{ team: ${demo.team}, region: ${demo.region}, appId: ${demo.appId} }`),
    'web.yaml': document(
      'Component',
      'shop-web',
      `{ application: shop, serviceId: ${demo.webServiceId}, ports: [{ port: 8080, protocol: http, alias: WEB, inner: true, outer: true }] }`,
    ),
    'rules.yaml': Array.from({ length: rules }, (_, at) => {
      const name = `shop-${String(at + 1).padStart(2, '0')}`;
      return document(
        'HttpGatewayRule',
        name,
        `{ application: shop, component: shop-web, port: 8080, domain: ${name}.example.com }`,
      );
    }).join('---\n'),
  };
}

export function detailsOf(world: World, name: string): Promise<ApplicationDetails> {
  return world.api<ApplicationDetails>(`/api/v1/applications/${name}`);
}

/** Waits until it is so. A test that waits for ever hangs, and its time limit says so. */
export async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await systemClock.sleep(50);
}

/** Waits until an application is in sync. */
export async function untilReady(world: World, name: string): Promise<void> {
  await until(async () => {
    const { items } = await world.api<Page<ApplicationSummary>>('/api/v1/applications');
    const found = items.find(({ id }) => id === `Application/${name}`);
    return found?.conditions.some(({ type, status }) => type === 'Ready' && status === 'True') === true;
  });
}
