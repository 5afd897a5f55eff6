import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Seed, SeedComponent, SeedRule } from '../../src/sandbox/seed.ts';

/** How much there is; `reference` is what the figures of the project are said for. */
export interface FleetSize {
  readonly applications: number;
  readonly teams: number;
  readonly rulesPerApplication: number;
  /** Each has an equal part of the applications, one after another. Default: one platform, `default`. */
  readonly platforms?: number;
}

/** 1,000 applications, 3,000 components, 10,000 ports, 2,000 rules: 6,000 documents. */
export const reference: FleetSize = { applications: 1_000, teams: 20, rulesPerApplication: 2 };
/** 10,000 applications in 60,000 documents. */
export const large: FleetSize = { ...reference, applications: 10_000 };
/** The same applications in 10,000 documents. */
export const manyManifests: FleetSize = { ...reference, rulesPerApplication: 6 };

export const COMPONENTS_PER_APPLICATION = 3;
/** Of the three components: 10 in every application. */
const PORTS_OF_COMPONENT = [4, 3, 3] as const;
/** Of the first component: the rules are on them. */
const PUBLIC_PORTS = 2;
export const REGION = 'region-1';

/** One application of the fleet, as manifests and platform both have it. */
export interface FleetApplication {
  readonly appId: number;
  readonly name: string;
  readonly team: string;
  readonly platform: string;
  /** The component whose ports have rules. */
  readonly publicComponent: string;
  readonly rules: number;
}

export function fleetApplications({
  applications,
  teams,
  rulesPerApplication,
  platforms = 1,
}: FleetSize): readonly FleetApplication[] {
  const names = platformNames(platforms);
  return Array.from({ length: applications }, (_, index) => ({
    appId: index + 1,
    name: `app-${index + 1}`,
    team: `team-${(index % teams) + 1}`,
    platform: names[Math.floor((index * names.length) / applications)] ?? 'default',
    publicComponent: serviceId(index + 1, 0),
    rules: rulesPerApplication,
  }));
}

export function platformNames(count: number): readonly string[] {
  return count === 1 ? ['default'] : Array.from({ length: count }, (_, index) => `platform-${index + 1}`);
}

/** The platform makes names of the first six characters. */
export function serviceId(appId: number, component: number): string {
  return `${appId.toString(16).padStart(5, '0')}${component}`.padEnd(32, '0');
}

/** The platform as the manifests want it, but for the rules where `withRules` is false. */
export function fleetSeed(
  size: FleetSize,
  { withRules, platform = 'default' }: { readonly withRules: boolean; readonly platform?: string },
): Seed {
  const applications = fleetApplications(size).filter((application) => application.platform === platform);
  return {
    enterprise: { id: 'e'.repeat(32) },
    regions: [{ id: '1'.repeat(32), name: REGION }],
    teams: Array.from({ length: size.teams }, (_, index) => ({
      id: (index + 1).toString(16).padStart(32, '0'),
      name: `team-${index + 1}`,
    })),
    applications: applications.map((application) => ({
      id: application.appId,
      team: application.team,
      region: REGION,
      name: application.name,
      components: PORTS_OF_COMPONENT.map((_, component) => seedComponent(application, component)),
      rules: withRules
        ? rulesOf(application).map((rule): SeedRule => ({ ...rule, component: application.publicComponent }))
        : [],
    })),
  };
}

function seedComponent({ appId, name }: FleetApplication, component: number): SeedComponent {
  return { id: serviceId(appId, component), name: `${name}-c${component}`, ports: portsOf(component) };
}

function portsOf(component: number) {
  return Array.from({ length: PORTS_OF_COMPONENT[component] ?? 0 }, (_, index) => ({
    port: 8080 + index,
    protocol: 'http' as const,
    alias: `P${component}${index}`,
    inner: true,
    outer: component === 0 && index < PUBLIC_PORTS,
  }));
}

function rulesOf({ name, rules }: FleetApplication) {
  return Array.from({ length: rules }, (_, index) => ({
    port: 8080 + (index % PUBLIC_PORTS),
    domain: `r${index}.${name}.example.com`,
    path: '/',
  }));
}

/** Path from the top of the source → YAML: a file per document, as teams lay them out. */
export function fleetManifests(size: FleetSize): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  for (const application of fleetApplications(size)) {
    for (const [file, text] of applicationManifests(application)) files.set(file, text);
  }
  return files;
}

/** @param weight of the application's first rule: what a one-file change changes. */
export function applicationManifests(application: FleetApplication, weight = 100): ReadonlyMap<string, string> {
  const { name, team, appId, platform } = application;
  const files = new Map<string, string>();
  const add = (kind: string, resource: string, spec: object): void => {
    const document = { apiVersion: 'portolan/v1', kind, metadata: { name: resource }, spec };
    files.set(`${team}/${name}/${kind.toLowerCase()}-${resource}.yaml`, yamlOf(document));
  };
  add('Application', name, { ...(platform === 'default' ? {} : { platform }), team, region: REGION, appId });
  for (const component of PORTS_OF_COMPONENT.keys())
    add('Component', `${name}-c${component}`, {
      application: name,
      serviceId: serviceId(appId, component),
      ports: portsOf(component),
    });
  for (const [index, rule] of rulesOf(application).entries())
    add('HttpGatewayRule', `${name}-r${index}`, {
      application: name,
      component: `${name}-c0`,
      ...rule,
      weight: index === 0 ? weight : 100,
    });
  return files;
}

/** YAML as people write it, of the few shapes there are here. */
function yamlOf(value: object, indent = ''): string {
  return Object.entries(value)
    .map(([key, entry]) => {
      if (Array.isArray(entry))
        return `${indent}${key}:\n${entry.map((item) => `${indent}  - ${JSON.stringify(item)}\n`).join('')}`;
      if (typeof entry === 'object' && entry !== null)
        return `${indent}${key}:\n${yamlOf(entry as object, `${indent}  `)}`;
      return `${indent}${key}: ${JSON.stringify(entry)}\n`;
    })
    .join('');
}

export function writeFiles(folder: string, files: ReadonlyMap<string, string>): void {
  for (const [path, text] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

/** @param platforms the URL of `default`, or of each platform by its name. */
export function configurationFor(
  platforms: string | ReadonlyMap<string, string>,
  settings = '{}',
  requestsPerSecond = 100_000,
): string {
  const urls = typeof platforms === 'string' ? new Map([['default', platforms]]) : platforms;
  const documents = Array.from(
    urls,
    ([name, url]) => `apiVersion: portolan/v1
kind: Platform
metadata: { name: ${name} }
spec:
  url: ${url}
  auth: { header: Authorization, value: { env: PORTOLAN_TOKEN } }
  dialect: extended
  limits: { requestsPerSecond: ${requestsPerSecond} }
`,
  );
  return [...documents, `apiVersion: portolan/v1\nkind: Settings\nspec: ${settings}\n`].join('---\n');
}
