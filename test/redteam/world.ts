import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { demo, demoSeed } from '../../src/sandbox/seeds/demo.ts';
import type { Seed } from '../../src/sandbox/seed.ts';
import type { PortRow, SandboxState } from '../../src/sandbox/state.ts';
import type { Dialect } from '../../src/sandbox/wire.ts';
import { type Scene, setScene, SHOP } from '../cli/scene.ts';

export const web = demo.webServiceId;
export const api = demo.apiServiceId;
/** Of the same team, in another application that the source does not name. */
export const blogWeb = 'b10c'.padEnd(32, '0');
/** Of another team, which the operator does not allow. */
export const billingWeb = 'b111'.padEnd(32, '0');
export const RULES = 20;

/** The demo, with neighbours that have something to lose. */
const seed: Seed = {
  ...demoSeed,
  applications: (demoSeed.applications ?? []).map((application) => {
    const neighbour = { 43: blogWeb, 44: billingWeb }[application.id];
    if (neighbour !== undefined)
      return {
        ...application,
        components: [
          { id: neighbour, name: `${application.name}-web`, ports: [{ port: 8080, inner: true, outer: true }] },
        ],
        rules: [{ component: neighbour, port: 8080, domain: `${application.name}.example.com`, path: '/' }],
      };
    return {
      ...application,
      components: (application.components ?? []).map((component) =>
        component.id === web
          ? { ...component, ports: [8080, 8081, 8082].map((port) => ({ port, inner: true, outer: port === 8080 })) }
          : component,
      ),
      rules: [{ component: web, port: 8080, domain: 'by-hand.example.com', path: '/' }],
    };
  }),
};

/** A file that is a link, to an absolute path or to one that starts at its own folder. */
export interface Link {
  readonly linkTo: string;
}

/** Files of a source: name → content; null: a file of those that were applied is gone. */
export type Files = Readonly<Record<string, string | Uint8Array | Link | null>>;

export function component(name: string, serviceId: string, spec: string, metadata = ''): string {
  return `apiVersion: portolan/v1
kind: Component
metadata: { name: ${name}${metadata === '' ? '' : `, ${metadata}`} }
spec:
  application: shop
  serviceId: ${serviceId}
${spec.replace(/^/gm, '  ')}
`;
}

export function rule(name: string, domain: string, extra = '', metadata = ''): string {
  return `apiVersion: portolan/v1
kind: HttpGatewayRule
metadata: { name: ${name}${metadata === '' ? '' : `, ${metadata}`} }
spec: { application: shop, component: shop-web, port: 8080, domain: ${domain}${extra === '' ? '' : `, ${extra}`} }
`;
}

export const WEB_PORTS = `ports:
  - { port: 8080, protocol: http, alias: WEB, inner: true, outer: true }
  - { port: 8081, alias: ADMIN, inner: true, outer: false }
  - { port: 8082, alias: PROBE, inner: true }`;
export const API_PORTS = `ports:
  - { port: 8000, alias: API, inner: true, outer: true }
  - { port: 9100, alias: METRICS, inner: true, outer: false }`;
export const database = (name: string, metadata = '', extra = ''): string => `apiVersion: portolan/v1
kind: StoreInstall
metadata: { name: ${name}${metadata === '' ? '' : `, ${metadata}`} }
spec: { application: shop, store: main, model: { id: "${demo.mysqlModelId}", version: "8.0.36" }, build: true${extra} }
`;

export const ruleFile = (at: number): string => `shop/rules/r${at}.yaml`;
export const ruleNumbers: readonly number[] = Array.from({ length: RULES }, (_, at) => at + 1);

/** What was applied before anybody attacks. */
export const applied: Readonly<Record<string, string>> = {
  'shop/application.yaml': SHOP,
  'shop/web.yaml': component('shop-web', web, WEB_PORTS),
  'shop/api.yaml': component('shop-api', api, API_PORTS),
  'shop/database.yaml': database('shop-db'),
  ...Object.fromEntries(ruleNumbers.map((at) => [ruleFile(at), rule(`r${at}`, `r${at}.example.com`)])),
};

/** A scene whose source is `applied`, with the guards at their defaults and one team allowed. */
export function freshScene(dialect: Dialect): Promise<Scene> {
  const settings = '{ scopes: { allow: ["team-a/*/*"] } }';
  return setScene({ dialect, manifests: applied, settings, sandbox: { seed } });
}

/** A scene in which `applied` has been applied. */
export async function appliedScene(dialect: Dialect): Promise<Scene> {
  const scene = await freshScene(dialect);
  const run = await scene.run('apply');
  if (run.code !== 0) throw new Error(`the attacked state could not be applied:\n${run.out}${run.err}`);
  return scene;
}

/** Puts an attack's files in place of, or beside, what was applied. */
export function plant(scene: Scene, files: Files): void {
  for (const [name, content] of Object.entries(files)) {
    const file = join(scene.folder, 'manifests', name);
    rmSync(file, { force: true });
    if (content === null) continue;
    mkdirSync(dirname(file), { recursive: true });
    if (typeof content === 'string' || content instanceof Uint8Array) writeFileSync(file, content);
    else symlinkSync(content.linkTo, file);
  }
}

/** Objects of the platform, by a name that people know them by, as JSON to compare. */
export interface Inventory {
  readonly objects: ReadonlyMap<string, { readonly appId: number; readonly row: object }>;
}

export function inventory(state: SandboxState): Inventory {
  const objects = new Map<string, { appId: number; row: object }>();
  const owner = new Map([...state.components.all()].map((row) => [row.id, row.appId]));
  for (const row of state.applications.all()) objects.set(`application ${row.id}`, { appId: row.id, row });
  // A component's life goes on by itself; that it is there is what counts.
  for (const row of state.components.all())
    objects.set(`component ${row.id}`, { appId: row.appId, row: { id: row.id } });
  for (const row of state.installs.all()) objects.set(`install ${row.id}`, { appId: row.appId, row: { id: row.id } });
  for (const row of state.ports.all())
    objects.set(`port ${row.serviceId} ${row.port}`, { appId: owner.get(row.serviceId) ?? 0, row });
  // Whether its port is open is the port's damage and its own: an address that answers no more.
  for (const row of state.rules.all()) objects.set(`rule ${row.id}`, { appId: row.appId, row });
  return { objects };
}

/** What became of what was there before. Whatever is new is no damage, but it is counted. */
export interface Damage {
  readonly removed: readonly string[];
  /** Ports of which an access was closed, and rules whose address does not answer any more. */
  readonly closed: readonly string[];
  readonly changed: readonly string[];
  readonly created: number;
  /** Of these, what belongs to an application that the source never named, and what a stranger made in ours. */
  readonly foreign: readonly string[];
}

export function damageBetween(before: Inventory, after: Inventory): Damage {
  const removed: string[] = [];
  const closed: string[] = [];
  const changed: string[] = [];
  const foreign: string[] = [];
  for (const [name, { appId, row }] of before.objects) {
    const now = after.objects.get(name)?.row;
    if (now !== undefined && JSON.stringify(now) === JSON.stringify(row)) continue;
    (now === undefined ? removed : isClosed(row, now) ? closed : changed).push(name);
    if (appId !== demo.appId || ('domain' in row && row.domain === 'by-hand.example.com')) foreign.push(name);
  }
  const created = [...after.objects.keys()].filter((name) => !before.objects.has(name)).length;
  return { removed, closed, changed, created, foreign };
}

function isClosed(before: object, after: object): boolean {
  return (['inner', 'outer'] as const).some(
    (access) => (before as Partial<PortRow>)[access] === true && (after as Partial<PortRow>)[access] === false,
  );
}
