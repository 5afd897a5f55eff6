import { createHash } from 'node:crypto';
import type { Seed, SeedApplication } from '../../../sandbox/seed.ts';

/** The applications of the demo of the dashboard, on the sandbox and as manifests. */

const TEAMS = ['storefront', 'platform'] as const;

/** Region of its applications; the third one is under maintenance. */
const REGIONS = { east: 'region-east', west: 'region-west', maintenance: 'region-north' } as const;

/** The region that fails for a while. */
export const FAILING_REGION = REGIONS.west;

interface DemoApplication {
  readonly name: string;
  readonly team: (typeof TEAMS)[number];
  readonly region: string;
  readonly environment: 'prod' | 'staging';
}

export const DEMO_APPLICATIONS: readonly DemoApplication[] = (
  [
    ['accounts', 'platform', REGIONS.east, 'prod'],
    ['billing', 'platform', REGIONS.east, 'prod'],
    ['catalog', 'storefront', REGIONS.east, 'prod'],
    ['checkout', 'storefront', REGIONS.east, 'prod'],
    ['mail', 'platform', REGIONS.west, 'prod'],
    ['media', 'storefront', REGIONS.west, 'prod'],
    ['reports', 'platform', REGIONS.west, 'staging'],
    ['reviews', 'storefront', REGIONS.west, 'prod'],
    ['search', 'storefront', REGIONS.east, 'prod'],
    ['shop', 'storefront', REGIONS.east, 'prod'],
    ['status-page', 'platform', REGIONS.west, 'prod'],
    ['wiki', 'platform', REGIONS.maintenance, 'staging'],
  ] as const
).map(([name, team, region, environment]) => ({ name, team, region, environment }));

const FIRST_ID = 101;
export const WEB_PORT = 8080;
const API_PORT = 9000;

/** Returns the id of a component: 32 hexadecimal characters that follow from its name. */
function componentId(component: string): string {
  return createHash('sha256').update(component).digest('hex').slice(0, 32);
}

const appIdOf = (name: string): number => FIRST_ID + DEMO_APPLICATIONS.findIndex((one) => one.name === name);

/** Returns the address of a component's ports on the sandbox. */
export function portsPath(name: string): string {
  const { team = '', region = '' } = DEMO_APPLICATIONS.find((one) => one.name === name) ?? {};
  const app = `/openapi/v1/teams/${team}/regions/${region}/apps/${appIdOf(name)}`;
  return `${app}/services/${componentId(`${name}-web`)}/ports`;
}

/** The sandbox before any manifest was applied. */
export const fleetSeed: Seed = {
  enterprise: { id: 'e0e1e2e3e4e5e6e7e8e9eaebecedeeef' },
  regions: Object.entries(REGIONS).map(([key, name]) => ({
    id: componentId(name),
    name,
    httpDomain: `${key}.apps.example.com`,
    ...(key === 'maintenance' ? { status: '3', description: 'under maintenance' } : {}),
  })),
  teams: TEAMS.map((name) => ({ id: componentId(name), name })),
  applications: DEMO_APPLICATIONS.map(
    ({ name, team, region }): SeedApplication => ({
      id: appIdOf(name),
      team,
      region,
      name,
      components: [
        { id: componentId(`${name}-web`), name: `${name}-web`, ports: [{ port: WEB_PORT, inner: true }] },
        { id: componentId(`${name}-api`), name: `${name}-api`, ports: [{ port: API_PORT, inner: true }] },
        { id: componentId(`${name}-jobs`), name: `${name}-jobs`, monitored: false },
      ],
    }),
  ),
};

/** Holds the fields that commits of the demo change in the manifests of one application. */
export interface Variant {
  /** Alias of the port of the web component. */
  readonly alias: string;
  /** Domains of its rules. */
  readonly domains: readonly string[];
  /** Weight of its rules. */
  readonly weight: number;
}

export function firstVariant(name: string): Variant {
  const isShop = name === 'shop';
  return {
    alias: 'WEB',
    domains: (isShop ? ['www', 'm', 'static', 'cdn', 'old'] : ['www']).map((label) => `${label}.${name}.example.com`),
    weight: 100,
  };
}

/** Returns the manifests of one application. */
export function manifestsOf(name: string, { alias, domains, weight }: Variant): string {
  const { team = '', region = '', environment = '' } = DEMO_APPLICATIONS.find((one) => one.name === name) ?? {};
  const documents = [
    `kind: Application
metadata:
  name: ${name}
  labels: { env: ${environment}, team: ${team} }
spec: { team: ${team}, region: ${region}, appId: ${appIdOf(name)} }`,
    `kind: Component
metadata: { name: ${name}-web }
spec:
  application: ${name}
  serviceId: ${componentId(`${name}-web`)}
  ports:
    - { port: ${WEB_PORT}, protocol: http, alias: ${alias}, inner: true, outer: true }`,
    `kind: Component
metadata: { name: ${name}-api }
spec:
  application: ${name}
  serviceId: ${componentId(`${name}-api`)}
  ports:
    - { port: ${API_PORT}, protocol: grpc, alias: API, inner: true, outer: false }`,
    ...domains.map(
      (domain) => `kind: HttpGatewayRule
metadata: { name: ${domain.replaceAll('.', '-')} }
spec:
  application: ${name}
  component: ${name}-web
  port: ${WEB_PORT}
  domain: ${domain}
  weight: ${weight}`,
    ),
  ];
  return `${documents.map((document) => `apiVersion: portolan/v1\n${document}\n`).join('---\n')}`;
}

/** Returns the operator's configuration. @param platform address of the sandbox. */
export function configurationOf(platform: string): string {
  return `apiVersion: portolan/v1
kind: Platform
metadata: { name: default }
spec:
  url: ${platform}
  auth: { header: Authorization, value: { env: PORTOLAN_TOKEN } }
---
apiVersion: portolan/v1
kind: Settings
spec:
  scopes: { allow: [${TEAMS.map((team) => `"${team}/*/*"`).join(', ')}] }
  prune: { enabled: true, maxObjects: 3 }
  settle: { targetState: 20s }
  source: { interval: 2s }
  controller: { resyncInterval: 10s, pruneAfter: 2s }
  server:
    tokens:
      - { name: demo, role: admin, value: { env: PORTOLAN_DEMO_TOKEN } }
`;
}
