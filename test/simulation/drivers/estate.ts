import type { Seed } from '../../../src/sandbox/seed.ts';
import type { Chance } from '../chance.ts';
import { placeOf } from '../places.ts';
import { MODELS, storeSeed } from '../shop.ts';

/** Applications of one team: several, so that listings that answer for all of them are worth their while. */
const APPLICATIONS = [
  { name: 'one', appId: 51, serviceId: '1'.repeat(32) },
  { name: 'two', appId: 52, serviceId: '2'.repeat(32) },
  { name: 'three', appId: 53, serviceId: '3'.repeat(32) },
] as const;
export type AppName = (typeof APPLICATIONS)[number]['name'];
export const appNames = APPLICATIONS.map(({ name }) => name);
export const TEAM = 'team-a';
export const REGION = 'region-1';
const PORTS = [8080, 8081] as const;
const RULES_MAX = 5;

export function applicationOf(name: AppName): (typeof APPLICATIONS)[number] {
  const found = APPLICATIONS.find((one) => one.name === name);
  if (found === undefined) throw new Error(`there is no application ${name}`);
  return found;
}

/** The application that a scope of the ledger means. */
export function nameOfScope(scope: string): AppName | undefined {
  return APPLICATIONS.find(({ appId }) => scope.endsWith(`/${appId}`))?.name;
}

/** The application that a path of the API is about. */
export function nameOfPath(path: string): AppName | undefined {
  const [, appId] = /\/apps\/([0-9]+)/.exec(path) ?? [];
  return APPLICATIONS.find((one) => String(one.appId) === appId)?.name;
}

/** The platform before Portolan came. */
export function anyEstate(chance: Chance): Seed {
  return {
    enterprise: { id: 'e'.repeat(32) },
    regions: [{ id: '9'.repeat(32), name: REGION }],
    teams: [{ id: 'd'.repeat(32), name: TEAM }],
    applications: APPLICATIONS.map(({ name, appId, serviceId }) => ({
      id: appId,
      team: TEAM,
      region: REGION,
      name,
      components: [
        {
          id: serviceId,
          name: `${name}-web`,
          ports: PORTS.map((port) => {
            const outer = chance.happens(0.4);
            return { port, protocol: 'http', alias: `P${port}`, inner: outer || chance.happens(0.5), outer };
          }),
        },
      ],
    })),
    stores: [storeSeed],
  };
}

interface RuleWish {
  readonly port: number;
  readonly path: string;
  readonly weight: number;
}

/** What git says of one application. */
interface AppWish {
  /** Listed ports; each is open to the outside. */
  readonly ports: readonly number[];
  readonly unlisted: 'keep' | 'close';
  readonly rules: ReadonlyMap<string, RuleWish>;
  readonly isLabelled: boolean;
  /** Names of models of the store, each to be installed once. Git never names one of them less. */
  readonly installs?: readonly string[];
}

/** What git says, whole. */
export interface Content {
  readonly apps: ReadonlyMap<AppName, AppWish>;
  /** A file that nobody can read. */
  readonly isFaulty: boolean;
  /** The platform of each application, where there are several. */
  readonly platforms?: ReadonlyMap<AppName, string> | undefined;
}

export function anyContent(chance: Chance): Content {
  const apps = new Map<AppName, AppWish>();
  for (const name of appNames) {
    let app: AppWish = {
      ports: [...PORTS],
      unlisted: chance.pick(['keep', 'close']),
      rules: new Map(),
      isLabelled: false,
    };
    for (let count = chance.between(1, RULES_MAX); count > 0; count -= 1) app = withRule(app, chance);
    apps.set(name, app);
  }
  return { apps, isFaulty: false };
}

function withRule(app: AppWish, chance: Chance): AppWish {
  const name = `r${chance.int(RULES_MAX)}`;
  const [port] = app.ports.length === 0 ? [undefined] : [chance.pick(app.ports)];
  if (port === undefined) return app;
  const rule = { port, path: `/${name}`, weight: chance.pick([100, 50]) };
  return { ...app, rules: new Map(app.rules).set(name, rule) };
}

const edits = {
  addRule: (app, chance) => withRule(app, chance),
  removeRule: (app, chance) => withoutRules(app, (name) => name === anyRule(app, chance)),
  removeRules: (app) => withoutRules(app, () => true),
  editRule(app, chance) {
    const name = anyRule(app, chance);
    const rule = name === undefined ? undefined : app.rules.get(name);
    if (name === undefined || rule === undefined) return app;
    return { ...app, rules: new Map(app.rules).set(name, { ...rule, weight: chance.pick([1, 10, 20]) }) };
  },
  unlistPort(app) {
    const [kept] = app.ports;
    const ports = kept === undefined ? [] : [kept];
    const rules = new Map([...app.rules].filter(([, { port }]) => ports.includes(port)));
    return { ...app, ports, unlisted: 'close', rules };
  },
  listPorts: (app) => ({ ...app, ports: [...PORTS] }),
  relabel: (app) => ({ ...app, isLabelled: !app.isLabelled }),
} satisfies Record<string, (app: AppWish, chance: Chance) => AppWish>;

/** One more install, of the models that some application does not have yet. */
export function withInstall(content: Content, chance: Chance): Content {
  const name = chance.pick(appNames);
  const { id } = chance.pick(MODELS);
  const app = content.apps.get(name);
  if (app === undefined || app.installs?.includes(id) === true) return content;
  return { ...content, apps: new Map(content.apps).set(name, { ...app, installs: [...(app.installs ?? []), id] }) };
}

/** Models that it wants in an application. */
export function installsOf({ apps }: Content, name: AppName): readonly string[] {
  return apps.get(name)?.installs ?? [];
}

function anyRule(app: AppWish, chance: Chance): string | undefined {
  return app.rules.size === 0 ? undefined : chance.pick([...app.rules.keys()]);
}

function withoutRules(app: AppWish, isGone: (name: string) => boolean): AppWish {
  return { ...app, rules: new Map([...app.rules].filter(([name]) => !isGone(name))) };
}

export type EditName = keyof typeof edits | 'shrink' | 'empty' | 'break' | 'repair' | 'dropApplication';
export const editNames: readonly EditName[] = [
  ...(Object.keys(edits) as (keyof typeof edits)[]),
  'shrink',
  'empty',
  'break',
  'repair',
  'dropApplication',
];

/** One commit's change. */
export function edited(content: Content, edit: EditName, chance: Chance): Content {
  switch (edit) {
    case 'shrink': {
      const apps = new Map([...content.apps].map(([name, app]) => [name, withoutRules(app, () => true)] as const));
      return { ...content, apps };
    }
    case 'empty':
      return { ...content, apps: new Map() };
    case 'break':
      return { ...content, isFaulty: true };
    case 'repair':
      return { ...content, isFaulty: false };
    case 'dropApplication': {
      const apps = new Map(content.apps);
      apps.delete(chance.pick(appNames));
      return { ...content, apps };
    }
    default: {
      const name = chance.pick(appNames);
      const app = content.apps.get(name);
      // One that was dropped comes back with the next edit of it.
      const fresh: AppWish = { ports: [...PORTS], unlisted: 'keep', rules: new Map(), isLabelled: false };
      const next = app === undefined ? withRule(fresh, chance) : edits[edit](app, chance);
      return { ...content, apps: new Map(content.apps).set(name, next) };
    }
  }
}

/** One file for each application, each document on a line of JSON, which is YAML. */
export function filesOf({
  apps,
  isFaulty,
  platforms,
}: Content): readonly { readonly path: string; readonly text: string }[] {
  const files = [...apps].map(([name, app]) => ({
    path: `${name}.yaml`,
    text: documentsOf(name, app, platforms?.get(name)),
  }));
  return isFaulty ? [...files, { path: 'broken.yaml', text: 'kind: [' }] : files;
}

function documentsOf(
  name: AppName,
  { ports, unlisted, rules, isLabelled, installs = [] }: AppWish,
  platform: string | undefined,
): string {
  const { appId, serviceId } = applicationOf(name);
  const document = (kind: string, metadata: object, spec: object): string =>
    JSON.stringify({ apiVersion: 'portolan/v1', kind, metadata, spec });
  const labels = { labels: { tier: isLabelled ? 'gold' : 'plain' } };
  return [
    document('Application', { name, ...labels }, { team: TEAM, region: REGION, appId, platform }),
    document(
      'Component',
      { name: `${name}-web` },
      {
        application: name,
        serviceId,
        ports: ports.map((port) => ({ port, protocol: 'http', alias: `P${port}`, inner: true, outer: true })),
        unlistedPorts: unlisted,
      },
    ),
    ...installs.map((model) =>
      document(
        'StoreInstall',
        { name: `${name}-${model}` },
        { application: name, store: 'main', model: modelOf(model) },
      ),
    ),
    ...[...rules].map(([rule, { port, path, weight }]) =>
      document(
        'HttpGatewayRule',
        { name: `${name}-${rule}` },
        { application: name, component: `${name}-web`, port, domain: domainOf(name), path, weight },
      ),
    ),
  ].join('\n---\n');
}

function modelOf(id: string): object {
  return { id, version: MODELS.find((model) => model.id === id)?.versions[0] };
}

export function domainOf(name: AppName): string {
  return `${name}.example.com`;
}

/** How many documents it has. */
export function sizeOf({ apps }: Content): number {
  let size = 0;
  for (const { rules, installs = [] } of apps.values()) size += 2 + rules.size + installs.length;
  return size;
}

/** Natural keys that it names, so that nobody may remove or close what they stand for. */
export function namedBy({ apps }: Content, name: AppName): ReadonlySet<string> {
  const app = apps.get(name);
  if (app === undefined) return new Set();
  const { serviceId } = applicationOf(name);
  return new Set([
    ...[...app.rules.values()].map((rule) => ruleKey(name, rule)),
    ...app.ports.map((port) => `port/${serviceId}/${port}`),
    ...(app.unlisted === 'keep' ? PORTS.map((port) => `port/${serviceId}/${port}`) : []),
  ]);
}

function ruleKey(name: AppName, { port, path }: RuleWish): string {
  return `rule/${placeOf({ serviceId: applicationOf(name).serviceId, port, domain: domainOf(name), path })}`;
}

/** Rules that it wants, by natural key, each with its weight. */
export function rulesOf({ apps }: Content, name: AppName): ReadonlyMap<string, number> {
  const rules = apps.get(name)?.rules ?? new Map<string, RuleWish>();
  return new Map([...rules.values()].map((rule) => [ruleKey(name, rule), rule.weight]));
}
