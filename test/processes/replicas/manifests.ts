import type { Random } from '../../../src/runtime/random.ts';
import type { Seed } from '../../../src/sandbox/seed.ts';
import type { SandboxState } from '../../../src/sandbox/state.ts';
import { ADDRESS, SERVICE, smallShop } from '../../support/small-shop.ts';

/** The manifests of a platform in each generation, and what its platform should have then. */

export const STORE = { url: 'https://store.example.com', domain: 'market-1', type: 'rainstore' } as const;
const IDLE_APP = 43;
/** A rule that no manifest has: nothing may remove it. */
const UNMANAGED_DOMAIN = 'unmanaged.example.com';
const EXTRA_PORTS = [9000, 9001, 9002] as const;
/** Share of the changes that remove a rule, that bring one back, and that have an extra port. */
const [REMOVES, RETURNS, HAS_PORT] = [0.6, 0.3, 0.5];

/** The content of the manifests of one platform. */
export interface Content {
  readonly generation: number;
  /** Rules that earlier generations had. */
  readonly removed: ReadonlySet<number>;
  readonly extraPort: number | undefined;
}

export const FIRST: Content = { generation: 1, removed: new Set(), extraPort: undefined };

/**
 * Returns the content of the next generation: it renames a port, adds a rule, changes another one, and installs a model.
 * @param random for removals and returns; undefined: there are none.
 */
export function nextContent({ generation, removed, extraPort }: Content, random: Random | undefined): Content {
  const next = generation + 1;
  if (random === undefined) return { generation: next, removed, extraPort };
  const pick = <T>(from: readonly T[]): T | undefined => from[Math.floor(random.next() * from.length)];
  const present = numbersTo(generation).filter((n) => !removed.has(n));
  const [removes, returns, hasPort] = [random.next() < REMOVES, random.next() < RETURNS, random.next() < HAS_PORT];
  const [gone, back] = [pick(present), pick([...removed])];
  const after = new Set(removed);
  if (returns && back !== undefined) after.delete(back);
  if (removes && gone !== undefined) after.add(gone);
  return { generation: next, removed: after, extraPort: hasPort ? pick(EXTRA_PORTS) : undefined };
}

/** Returns how the state of a platform differs from the manifests. */
export function contentDifferences(
  name: string,
  { generation, removed, extraPort }: Content,
  state: SandboxState,
): readonly string[] {
  const found: string[] = [];
  const ports = new Map([...state.ports.all()].flatMap((row) => (row.serviceId === SERVICE ? [[row.port, row]] : [])));
  const alias = aliasOf(generation);
  if (ports.get(8080)?.alias !== alias)
    found.push(`${name}: port 8080 has the alias ${ports.get(8080)?.alias}, not ${alias}`);
  for (const port of EXTRA_PORTS)
    if (ports.has(port) !== (port === extraPort))
      found.push(`${name}: ${ports.has(port) ? 'unwanted' : 'no'} port ${port}`);
  const rules = new Map([...state.rules.all()].map(({ domain, weight }) => [domain, weight]));
  for (const n of numbersTo(generation)) {
    const weight = rules.get(domainOf(name, n));
    const wanted = removed.has(n) ? undefined : weightOf(n, generation);
    if (weight !== wanted) found.push(`${name}: rule ${n} has the weight ${weight}, not ${wanted}`);
  }
  if (!rules.has(UNMANAGED_DOMAIN)) found.push(`${name}: the unmanaged rule was removed`);
  return found;
}

export function installDifferences(name: string, { generation }: Content, state: SandboxState): readonly string[] {
  const installs = new Set([...state.installs.all()].map(({ modelId }) => modelId));
  return numbersTo(generation).flatMap((n) => (installs.has(`model-${n}`) ? [] : [`${name}: no install ${n}`]));
}

function numbersTo(generation: number): readonly number[] {
  return Array.from({ length: generation }, (_, index) => index + 1);
}

function aliasOf(generation: number): string {
  return `WEB${generation % 7}`;
}

function domainOf(platform: string, n: number): string {
  return `r${n}.${platform}.example.com`;
}

/** The newest rules change with each generation. */
function weightOf(n: number, generation: number): number {
  return n < generation - 1 ? 10 + (n % 90) : 10 + ((n * 7 + generation) % 90);
}

interface Document {
  readonly kind: string;
  readonly metadata: object;
  readonly spec: object;
}

/** Returns the name of the application that commands are about. */
export function idleApplication(platform: string): string {
  return `${platform}-idle`;
}

export function manifestsOf(platform: string, { generation, removed, extraPort }: Content): readonly Document[] {
  const application = `${platform}-shop`;
  const extra = extraPort === undefined ? [] : [{ port: extraPort, protocol: 'tcp', inner: true }];
  return [
    { kind: 'Application', metadata: { name: application }, spec: { platform, ...ADDRESS } },
    {
      kind: 'Component',
      metadata: { name: `${platform}-web` },
      spec: {
        application,
        serviceId: SERVICE,
        ports: [
          { port: 8080, protocol: 'http', alias: aliasOf(generation), inner: true, outer: true },
          { port: 8081, protocol: 'http', alias: 'RULES', inner: true, outer: true },
          ...extra,
        ],
      },
    },
    ...numbersTo(generation)
      .filter((n) => !removed.has(n))
      .map((n) => ({
        kind: 'HttpGatewayRule',
        metadata: { name: `${platform}-rule-${n}` },
        spec: {
          application,
          component: `${platform}-web`,
          port: 8081,
          domain: domainOf(platform, n),
          weight: weightOf(n, generation),
        },
      })),
    ...numbersTo(generation).map((n) => ({
      kind: 'StoreInstall',
      metadata: { name: `${platform}-install-${n}` },
      spec: { application, store: 'main', model: { id: `model-${n}`, version: '1' } },
    })),
  ];
}

/** Returns the manifest of an application without resources. */
export function idleManifest(platform: string): Document {
  return {
    kind: 'Application',
    metadata: { name: idleApplication(platform) },
    spec: { platform, ...ADDRESS, appId: IDLE_APP },
  };
}

export function documentsText(documents: readonly object[]): string {
  return documents.map((document) => JSON.stringify({ apiVersion: 'portolan/v1', ...document })).join('\n---\n');
}

export function seedOf(generations: number): Seed {
  const models = Array.from({ length: generations + 2 }, (_, n) => ({
    id: `model-${n}`,
    name: `Model ${n}`,
    versions: [
      { version: '1', components: [{ key: `key-${n}`, name: `part-${n}`, image: 'registry.example.com/part:1' }] },
    ],
  }));
  const shop = smallShop({ ports: [{ port: 8080, inner: true, outer: true }] }, [
    { component: SERVICE, port: 8080, domain: UNMANAGED_DOMAIN },
  ]);
  const idle = { id: IDLE_APP, team: ADDRESS.team, region: ADDRESS.region, name: 'idle', components: [] };
  return {
    ...shop,
    applications: [...shop.applications, idle],
    stores: [{ url: STORE.url, domain: STORE.domain, models }],
  };
}
