import type { Seed, SeedApplication } from '../../../src/sandbox/seed.ts';
import type { Chance } from '../chance.ts';
import { placeOf } from '../places.ts';
import { MODELS, storeSeed } from '../shop.ts';

/** What an application is on a platform. */
interface Site {
  readonly appId: number;
  readonly serviceId: string;
  readonly domain: string;
}

/** Applications of one team: several, so that listings that answer for all of them are worth their while. */
const APPLICATIONS = [
  { name: 'one', home: siteAt(51, '1', 'one.example.com'), away: siteAt(61, '4', 'one.example.org') },
  { name: 'two', home: siteAt(52, '2', 'two.example.com'), away: siteAt(62, '5', 'two.example.org') },
  { name: 'three', home: siteAt(53, '3', 'three.example.com'), away: siteAt(63, '6', 'three.example.org') },
] as const;
export type AppName = (typeof APPLICATIONS)[number]['name'];
export const appNames = APPLICATIONS.map(({ name }) => name);
/** Where an application comes that moves away from the default platform. */
export const OTHER_PLATFORM = 'west';
export const TEAM = 'team-a';
export const REGION = 'region-1';
const PORTS = [8080, 8081] as const;
const RULES_MAX = 5;

function siteAt(appId: number, digit: string, domain: string): Site {
  return { appId, serviceId: digit.repeat(32), domain };
}

/** Where git says that an application is. */
export function siteOf({ moved }: Content, name: AppName): Site {
  const found = APPLICATIONS.find((one) => one.name === name);
  if (found === undefined) throw new Error(`there is no application ${name}`);
  return moved?.has(name) === true ? found.away : found.home;
}

/** The application that a scope of the ledger means, wherever it is. */
export function nameOfScope(scope: string): AppName | undefined {
  return nameOfAppId(scope.slice(scope.lastIndexOf('/') + 1));
}

/** The application that a path of the API is about, wherever it is. */
export function nameOfPath(path: string): AppName | undefined {
  const [, appId] = /\/apps\/([0-9]+)/.exec(path) ?? [];
  return nameOfAppId(appId);
}

function nameOfAppId(appId: string | undefined): AppName | undefined {
  return APPLICATIONS.find(({ home, away }) => String(home.appId) === appId || String(away.appId) === appId)?.name;
}

/** Which application git has in a scope of the ledger; undefined: none, as where one was until it was moved. */
export function namedIn(content: Content, scope: string): AppName | undefined {
  const name = nameOfScope(scope);
  return name !== undefined && content.apps.has(name) && scope.endsWith(`/${siteOf(content, name).appId}`)
    ? name
    : undefined;
}

/** The platform before Portolan came. @param away draws the ports of where applications may be moved to; undefined: nowhere. */
export function anyEstate(chance: Chance, away?: Chance): Seed {
  const application = ({ appId, serviceId }: Site, name: string, draw: Chance): SeedApplication => ({
    id: appId,
    team: TEAM,
    region: REGION,
    name,
    components: [
      {
        id: serviceId,
        name: `${name}-web`,
        ports: PORTS.map((port) => {
          const outer = draw.happens(0.4);
          return { port, protocol: 'http', alias: `P${port}`, inner: outer || draw.happens(0.5), outer };
        }),
      },
    ],
  });
  const atHome = APPLICATIONS.map(({ name, home }) => application(home, name, chance));
  const elsewhere =
    away === undefined ? [] : APPLICATIONS.map((one) => application(one.away, `${one.name}-away`, away));
  return {
    enterprise: { id: 'e'.repeat(32) },
    regions: [{ id: '9'.repeat(32), name: REGION }],
    teams: [{ id: 'd'.repeat(32), name: TEAM }],
    applications: [...atHome, ...elsewhere],
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
  /** Applications that are on the other one of two platforms. */
  readonly moved?: ReadonlySet<AppName>;
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

export type EditName = keyof typeof edits | 'shrink' | 'empty' | 'break' | 'repair' | 'dropApplication' | 'move';
/** Those that any branch may have. */
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
    case 'move': {
      const moved = new Set(content.moved);
      const name = chance.pick(appNames);
      if (!moved.delete(name)) moved.add(name);
      return { ...content, moved };
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
export function filesOf(content: Content): readonly { readonly path: string; readonly text: string }[] {
  const files = [...content.apps].map(([name, app]) => ({
    path: `${name}.yaml`,
    text: documentsOf(name, app, siteOf(content, name), platformOf(content, name)),
  }));
  return content.isFaulty ? [...files, { path: 'broken.yaml', text: 'kind: [' }] : files;
}

function platformOf({ platforms, moved }: Content, name: AppName): string | undefined {
  const home = platforms?.get(name);
  if (moved?.has(name) !== true) return home;
  return home === undefined ? OTHER_PLATFORM : undefined;
}

function documentsOf(
  name: AppName,
  { ports, unlisted, rules, isLabelled, installs = [] }: AppWish,
  { appId, serviceId, domain }: Site,
  platform: string | undefined,
): string {
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
        { application: name, component: `${name}-web`, port, domain, path, weight },
      ),
    ),
  ].join('\n---\n');
}

function modelOf(id: string): object {
  return { id, version: MODELS.find((model) => model.id === id)?.versions[0] };
}

/** How many documents it has. */
export function sizeOf({ apps }: Content): number {
  let size = 0;
  for (const { rules, installs = [] } of apps.values()) size += 2 + rules.size + installs.length;
  return size;
}

/** Natural keys that it names, so that nobody may remove or close what they stand for. */
export function namedBy(content: Content, name: AppName): ReadonlySet<string> {
  const app = content.apps.get(name);
  if (app === undefined) return new Set();
  const site = siteOf(content, name);
  return new Set([
    ...[...app.rules.values()].map((rule) => ruleKey(site, rule)),
    ...app.ports.map((port) => `port/${site.serviceId}/${port}`),
    ...(app.unlisted === 'keep' ? PORTS.map((port) => `port/${site.serviceId}/${port}`) : []),
  ]);
}

/** Natural keys of ports that it closes, whether it ever named them or not. */
export function closedBy(content: Content, name: AppName): readonly string[] {
  const app = content.apps.get(name);
  if (app?.unlisted !== 'close') return [];
  const { serviceId } = siteOf(content, name);
  return PORTS.filter((port) => !app.ports.includes(port)).map((port) => `port/${serviceId}/${port}`);
}

function ruleKey({ serviceId, domain }: Site, { port, path }: RuleWish): string {
  return `rule/${placeOf({ serviceId, port, domain, path })}`;
}

/** The natural key of a rule, by the name of its manifest. */
export function ruleOf(content: Content, app: AppName, name: string): string | undefined {
  const rule = content.apps.get(app)?.rules.get(name);
  return rule && ruleKey(siteOf(content, app), rule);
}

/** Rules that it wants, by natural key, each with its weight. */
export function rulesOf(content: Content, name: AppName): ReadonlyMap<string, number> {
  const rules = content.apps.get(name)?.rules ?? new Map<string, RuleWish>();
  const site = siteOf(content, name);
  return new Map([...rules.values()].map((rule) => [ruleKey(site, rule), rule.weight]));
}
