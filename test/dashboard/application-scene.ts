import type { Page } from '../../src/model/page.ts';
import type { ApplicationDetails, ApplicationSummary } from '../../src/model/status.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import { openWorld, type World } from './world.ts';

export const document = (kind: string, name: string, spec: string): string =>
  `apiVersion: portolan/v1\nkind: ${kind}\nmetadata: { name: ${name} }\nspec: ${spec}\n`;

/** Manifests of an application with so many rules. @param fields more fields of each rule: `, weight: 60`. */
export function shopDocuments(rules: number, fields = ''): Record<string, string> {
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
        `{ application: shop, component: shop-web, port: 8080, domain: ${name}.example.com${fields} }`,
      );
    }).join('---\n'),
  };
}

/** Opens a world with one application in sync, whose rules have the weight 50. */
export async function scene(rules: number, settings = ''): Promise<World> {
  const world = await openWorld({ manifests: shopDocuments(rules, ', weight: 50'), settings });
  await untilReady(world, 'shop');
  return world;
}

/** Returns the rules that manifests made, as the platform has them. */
export function liveRules({ sandbox }: World) {
  let found: { readonly domain: string; readonly weight: number }[] = [];
  sandbox.alter(({ rules }) => {
    found = [...rules.all()].filter(({ type }) => type === 1);
  });
  return found;
}

/** Returns the port of the component, as the platform has it. */
export function livePort({ sandbox }: World): { readonly alias: string } {
  let alias = '';
  sandbox.alter(({ ports }) => {
    alias = [...ports.all()].find(isPort)?.alias ?? '';
  });
  return { alias };
}

/** Changes the port on the platform, as a user of its console does. */
export function alterPort({ sandbox }: World, change: { readonly alias: string }): void {
  sandbox.alter(({ ports }) => {
    const found = [...ports.all()].find(isPort);
    if (found !== undefined) ports.put({ ...found, ...change });
  });
}

function isPort({ serviceId, port }: { readonly serviceId: string; readonly port: number }): boolean {
  return serviceId === demo.webServiceId && port === 8080;
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
