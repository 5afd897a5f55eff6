import type { ComponentSpec, PortSpec } from '../../src/kinds/component/spec.ts';
import type { HttpGatewayRuleSpec } from '../../src/kinds/http-gateway-rule/spec.ts';
import type { StoreInstallSpec } from '../../src/kinds/store-install/spec.ts';
import type { Seed, SeedPort, SeedRule } from '../../src/sandbox/seed.ts';
import type { Dialect } from '../../src/sandbox/wire.ts';
import { MODELS, seedWith, type Wishes } from './shop.ts';

/** What is tried at every point of its life: a platform, what git said before, and what it says now. */
export interface Workload {
  readonly name: string;
  readonly dialects: readonly Dialect[];
  readonly platform: Seed;
  /** Applied in peace first; absent: Portolan has never been here. */
  readonly before?: Wishes;
  readonly wishes: Wishes;
}

const BOTH: readonly Dialect[] = ['documented', 'extended'];
const EXTENDED: readonly Dialect[] = ['extended'];
const WEB = 'a'.repeat(32);
const API = 'b'.repeat(32);

interface Parts {
  readonly web?: readonly PortSpec[];
  readonly api?: readonly PortSpec[];
  readonly spec?: Partial<ComponentSpec>;
  readonly rules?: Readonly<Record<string, Partial<HttpGatewayRuleSpec>>>;
  readonly installs?: Readonly<Record<string, Partial<StoreInstallSpec>>>;
  readonly installed?: readonly PortSpec[];
  readonly annotations?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly prune?: boolean;
  readonly adopt?: boolean;
}

function wishing(parts: Parts): Wishes {
  const component = (identity: Partial<ComponentSpec>, ports: readonly PortSpec[]): ComponentSpec => ({
    application: 'shop',
    unlistedPorts: 'keep',
    ...identity,
    ...parts.spec,
    ports,
  });
  const components = new Map<string, ComponentSpec>();
  if (parts.web !== undefined) components.set('web', component({ serviceId: WEB }, parts.web));
  if (parts.api !== undefined) components.set('api', component({ serviceId: API }, parts.api));
  const [install] = Object.keys(parts.installs ?? {});
  if (parts.installed !== undefined && install !== undefined) {
    components.set('db', component({ from: { install, component: 'mysql' } }, parts.installed));
  }
  return {
    components,
    rules: new Map(
      Object.entries(parts.rules ?? {}).map(([name, spec]) => [
        name,
        { application: 'shop', component: 'web', port: 8080, domain: `${name}.example.com`, path: '/', ...spec },
      ]),
    ),
    installs: new Map(
      Object.entries(parts.installs ?? {}).map(([name, spec]) => [
        name,
        {
          application: 'shop',
          store: 'main',
          model: { id: MODELS[0].id, version: '1' },
          build: false,
          allowSecondCopy: false,
          ...spec,
        },
      ]),
    ),
    annotations: new Map(Object.entries(parts.annotations ?? {})),
    prune: parts.prune ?? false,
    adopt: parts.adopt ?? false,
  };
}

function platform(web: readonly SeedPort[], rules: readonly SeedRule[] = [], api?: readonly SeedPort[]): Seed {
  const components = [{ id: WEB, name: 'web', ports: web }];
  return seedWith(api === undefined ? components : [...components, { id: API, name: 'api', ports: api }], rules);
}

const port = (number: number, alias: string, open: 'closed' | 'inner' | 'outer', protocol = 'http'): SeedPort => ({
  port: number,
  protocol,
  alias,
  inner: open !== 'closed',
  outer: open === 'outer',
});

const installed: Parts = { installs: { db: {} }, installed: [{ port: 3306, alias: 'DB', inner: true }] };
const published: Parts = { web: [{ port: 8080, outer: true, inner: true }], rules: { www: { weight: 50 } } };

const OPENED: readonly PortSpec[] = [{ port: 8080, protocol: 'http', alias: 'FRONT', inner: true, outer: true }];
const GIVEN_BACK = { 'Component/web': { 'portolan/on-removal': 'restore' } };

/** Every kind of thing that a plan can hold, each in the smallest surroundings that need it. */
export const workloads: readonly Workload[] = [
  {
    name: 'a new port, opened to the outside',
    dialects: BOTH,
    platform: platform([]),
    wishes: wishing({ web: [{ port: 8080, protocol: 'http', alias: 'WEB', inner: true, outer: true }] }),
  },
  {
    name: 'a port closed on both sides',
    dialects: BOTH,
    platform: platform([port(8080, 'WEB', 'outer')]),
    wishes: wishing({ web: [{ port: 8080, inner: false, outer: false }] }),
  },
  {
    name: 'another protocol, for which outer access closes for a moment',
    dialects: BOTH,
    platform: platform([port(8080, 'WEB', 'outer', 'tcp')]),
    wishes: wishing({ web: [{ port: 8080, protocol: 'grpc' }] }),
  },
  {
    name: 'two ports that swap their aliases',
    dialects: BOTH,
    platform: platform([port(8080, 'ALPHA', 'inner'), port(8081, 'BETA', 'inner')]),
    wishes: wishing({
      web: [
        { port: 8080, alias: 'BETA' },
        { port: 8081, alias: 'ALPHA' },
      ],
    }),
  },
  {
    name: 'a port that is opened, and given back when git names it no more',
    dialects: EXTENDED,
    platform: platform([port(8080, 'WEB', 'inner')]),
    wishes: wishing({ web: OPENED, annotations: GIVEN_BACK, prune: true }),
  },
  {
    name: 'a port and a service name that git names no more, given back',
    dialects: EXTENDED,
    platform: platform([port(8080, 'WEB', 'inner')]),
    before: wishing({ web: OPENED, annotations: GIVEN_BACK, spec: { serviceName: 'front' } }),
    wishes: wishing({ annotations: GIVEN_BACK, prune: true }),
  },
  {
    name: 'a service name for all ports',
    dialects: BOTH,
    platform: platform([port(8080, 'ALPHA', 'inner'), port(8081, 'BETA', 'inner')]),
    wishes: wishing({ web: [{ port: 8080 }, { port: 8081, inner: false }], spec: { serviceName: 'front' } }),
  },
  {
    name: 'ports of two components',
    dialects: BOTH,
    platform: platform([port(8080, 'WEB', 'closed')], [], [port(9000, 'API', 'inner')]),
    wishes: wishing({
      web: [{ port: 8080, inner: true }],
      api: [
        { port: 9000, inner: false },
        { port: 9100, protocol: 'tcp' },
      ],
    }),
  },
  {
    name: 'unlisted ports of a component never seen before',
    dialects: BOTH,
    platform: platform([port(8080, 'WEB', 'inner'), port(9000, 'OLD', 'outer')]),
    wishes: wishing({ web: [{ port: 8080 }], spec: { unlistedPorts: 'close' }, prune: true }),
  },
  {
    name: 'unlisted ports, closed',
    dialects: BOTH,
    platform: platform([port(8080, 'WEB', 'inner'), port(9000, 'OLD', 'outer')]),
    before: wishing({ web: [{ port: 8080 }] }),
    wishes: wishing({ web: [{ port: 8080 }], spec: { unlistedPorts: 'close' }, prune: true }),
  },
  {
    name: 'unlisted ports, deleted with their rules',
    dialects: EXTENDED,
    platform: platform([port(8080, 'WEB', 'inner'), port(9000, 'OLD', 'outer')]),
    before: wishing({ web: [{ port: 8080 }] }),
    wishes: wishing({ web: [{ port: 8080 }], spec: { unlistedPorts: 'delete' }, prune: true }),
  },
  {
    name: 'a rule that opens its port by being created',
    dialects: BOTH,
    platform: platform([port(8080, 'WEB', 'closed')]),
    wishes: wishing(published),
  },
  {
    name: 'two rules on one port',
    dialects: BOTH,
    platform: platform([port(8080, 'WEB', 'outer')]),
    wishes: wishing({
      ...published,
      rules: { www: { weight: 50 }, api: { path: '/api', autoSsl: { enabled: true } } },
    }),
  },
  {
    name: 'a rule with other values',
    dialects: BOTH,
    platform: platform([port(8080, 'WEB', 'outer')]),
    before: wishing(published),
    wishes: wishing({ ...published, rules: { www: { weight: 10, autoSsl: { enabled: true } } } }),
  },
  {
    name: 'a rule that leads to another port, while its own becomes tcp',
    dialects: ['extended'],
    platform: platform([port(8080, 'WEB', 'outer'), port(8081, 'NEW', 'outer')]),
    before: wishing(published),
    wishes: wishing({
      web: [
        { port: 8080, protocol: 'tcp', outer: true, inner: true },
        { port: 8081, protocol: 'http', outer: true, inner: true },
      ],
      rules: { www: { weight: 50, port: 8081 } },
    }),
  },
  {
    name: 'a rule that must be created again',
    dialects: BOTH,
    platform: platform([port(8080, 'WEB', 'outer')]),
    before: wishing({ ...published, rules: { www: { configuration: { proxyBodySize: 1 }, header: 'x=y' } } }),
    wishes: wishing({
      ...published,
      rules: { www: { configuration: { proxyBodySize: 10 }, onImmutableChange: 'recreate' } },
    }),
  },
  {
    name: 'a rule that is to be kept when git names it no more',
    dialects: EXTENDED,
    platform: platform([port(8080, 'WEB', 'outer')]),
    wishes: wishing({
      ...published,
      annotations: { 'HttpGatewayRule/www': { 'portolan/prune': 'keep' } },
      prune: true,
    }),
  },
  {
    name: 'a rule that changes, and is to be kept when git names it no more',
    dialects: EXTENDED,
    platform: platform([port(8080, 'WEB', 'outer')]),
    before: wishing({ ...published, rules: { www: { weight: 10 } } }),
    wishes: wishing({
      ...published,
      rules: { www: { weight: 50 } },
      annotations: { 'HttpGatewayRule/www': { 'portolan/prune': 'keep' } },
      prune: true,
    }),
  },
  {
    name: 'a rule that git names no more',
    dialects: BOTH,
    platform: platform([port(8080, 'WEB', 'outer')]),
    before: wishing({ ...published, rules: { www: {}, old: {} } }),
    wishes: wishing({ ...published, rules: { www: {} }, prune: true }),
  },
  {
    name: 'a rule that git names no more, and nobody may delete',
    dialects: EXTENDED,
    platform: platform([port(8080, 'WEB', 'outer')]),
    before: wishing({ ...published, rules: { www: {}, old: {} } }),
    wishes: wishing({ ...published, rules: { www: { weight: 10 } } }),
  },
  {
    name: 'a rule under another name',
    dialects: BOTH,
    platform: platform([port(8080, 'WEB', 'outer')]),
    before: wishing(published),
    wishes: wishing({ ...published, rules: { other: { weight: 50, domain: 'www.example.com' } }, prune: true }),
  },
  {
    name: 'a rule of somebody else, adopted',
    dialects: BOTH,
    platform: platform([port(8080, 'WEB', 'outer')], [{ component: WEB, port: 8080, domain: 'www.example.com' }]),
    wishes: wishing({ ...published, adopt: true }),
  },
  {
    name: 'an adopted rule that git names no more',
    dialects: EXTENDED,
    platform: platform([port(8080, 'WEB', 'outer')], [{ component: WEB, port: 8080, domain: 'www.example.com' }]),
    before: wishing({ ...published, rules: { www: {} }, adopt: true }),
    wishes: wishing({ ...published, rules: {}, prune: true }),
  },
  {
    name: 'a rule of somebody else, left alone',
    dialects: BOTH,
    platform: platform([port(8080, 'WEB', 'outer')], [{ component: WEB, port: 8080, domain: 'www.example.com' }]),
    wishes: wishing({ ...published, prune: true }),
  },
  {
    name: 'a rule of somebody else, just as it is wished',
    dialects: EXTENDED,
    platform: platform(
      [port(8080, 'WEB', 'outer')],
      [{ component: WEB, port: 8080, domain: 'www.example.com', weight: 50 }],
    ),
    wishes: wishing({ ...published, prune: true }),
  },
  { name: 'an install', dialects: BOTH, platform: platform([]), wishes: wishing({ installs: { db: {} } }) },
  {
    name: 'an install and the ports of its component',
    dialects: BOTH,
    platform: platform([]),
    wishes: wishing(installed),
  },
  {
    name: 'an install that must come to run first',
    dialects: BOTH,
    platform: platform([]),
    wishes: wishing({ ...installed, installs: { db: { build: true, wait: { for: 'running', timeout: '10m' } } } }),
  },
  {
    name: 'two installs of one model',
    dialects: BOTH,
    platform: platform([]),
    wishes: wishing({ installs: { db: {}, second: { allowSecondCopy: true } } }),
  },
  {
    name: 'an install of another version',
    dialects: BOTH,
    platform: platform([]),
    before: wishing({ installs: { db: {} } }),
    wishes: wishing({ installs: { db: { model: { id: MODELS[0].id, version: '2' } } } }),
  },
  {
    name: 'an install under another name',
    dialects: BOTH,
    platform: platform([]),
    before: wishing(installed),
    wishes: wishing({
      installs: { store: {} },
      installed: [{ port: 3306, alias: 'DB', inner: true }],
      annotations: { 'StoreInstall/store': { 'portolan/moved-from': 'db' } },
    }),
  },
  {
    name: 'everything at once',
    dialects: BOTH,
    platform: platform([port(8080, 'ALPHA', 'closed'), port(8081, 'BETA', 'outer', 'tcp')]),
    wishes: wishing({
      ...installed,
      web: [
        { port: 8080, alias: 'BETA', inner: true, outer: true },
        { port: 8081, alias: 'ALPHA', protocol: 'udp' },
      ],
      rules: { www: {}, api: { path: '/api' } },
    }),
  },
];
