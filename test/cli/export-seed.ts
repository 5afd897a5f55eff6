import { demo, demoSeed } from '../../src/sandbox/seeds/demo.ts';
import type { Seed, SeedApplication, SeedComponent, SeedPort } from '../../src/sandbox/seed.ts';

/** A component's id: 32 hexadecimal characters that tell application and component. */
export function idOf(application: number, component: number): string {
  return `${application.toString(16).padStart(4, '0')}${component.toString(16).padStart(4, '0')}`.padStart(32, 'c0de');
}

const PROTOCOLS = ['http', 'tcp', 'udp', 'grpc', 'mysql'] as const;

function application(id: number, name: string, rest: Partial<SeedApplication> = {}): SeedApplication {
  return { id, team: demo.team, region: demo.region, name, ...rest };
}

function component(app: number, number: number, name: string, ports: SeedPort[], rest: Partial<SeedComponent> = {}) {
  const id = idOf(app, number);
  return { id, alias: `gr${id.slice(-6)}`, name, serviceName: `svc-${app}-${number}`, ports, ...rest };
}

/** Ports of every protocol, each closed, open inside, and open outside too. */
function everyPort(): SeedPort[] {
  return PROTOCOLS.flatMap((protocol, kind) =>
    [0, 1, 2].map((open) => ({
      port: 1000 * (kind + 1) + open,
      protocol,
      alias: `${protocol.toUpperCase()}_${open}`,
      inner: open > 0,
      outer: open > 1,
    })),
  );
}

const open = (port: number, alias: string): SeedPort => ({ port, alias, inner: true, outer: true });

/** Twenty applications, no two alike. */
export const varied: readonly SeedApplication[] = [
  application(101, 'empty'),
  application(102, 'no-ports', { components: [component(102, 1, 'no-ports-worker', [])] }),
  application(103, 'every-port', { components: [component(103, 1, 'every-port', everyPort())] }),
  application(104, '商城', {
    k8sApp: 'mall',
    components: [
      component(104, 1, '前端', [open(8080, 'WEB')], { k8sName: 'mall-web' }),
      component(104, 2, '订单服务', [{ port: 9000, protocol: 'grpc', alias: 'ORDERS', inner: true }], {
        k8sName: 'orders',
      }),
    ],
    rules: [{ component: idOf(104, 1), port: 8080, domain: 'mall.example.com' }],
  }),
  application(105, '订单', {
    k8sApp: '订单',
    components: [component(105, 1, '库', [open(80, 'A')], { k8sName: '库' })],
  }),
  application(106, 'yes', { components: [component(106, 1, 'no', [open(80, 'NO')]), component(106, 2, 'on', [])] }),
  application(107, '012', { components: [component(107, 1, '0x1F', [open(80, 'Y')]), component(107, 2, '1e3', [])] }),
  application(108, 'null', { components: [component(108, 1, '~', [open(80, 'NULL')]), component(108, 2, 'true', [])] }),
  application(109, '${NAME}', {
    components: [component(109, 1, '$${HOME}: #1', [open(80, 'TRUE')])],
    rules: [
      {
        component: idOf(109, 1),
        port: 80,
        domain: 'vars.example.com',
        cookie: 'a=${NAME}; b=$${OTHER}',
        header: 'x: "quoted" \\ ${',
      },
    ],
  }),
  application(110, 'every-rule', {
    components: [component(110, 1, 'every-rule', [open(8080, 'WEB'), open(8443, 'TLS')])],
    rules: [
      { component: idOf(110, 1), port: 8080, domain: 'a.example.com' },
      { component: idOf(110, 1), port: 8080, domain: 'A.B.Example.com', path: '/api/v1', weight: 25 },
      { component: idOf(110, 1), port: 8080, domain: 'a.example.com', path: '/api', cookie: 'beta=1' },
      { component: idOf(110, 1), port: 8080, domain: 'a.example.com', path: '/api-x', header: 'x-env=12' },
      { component: idOf(110, 1), port: 8080, domain: '*.wild.example.com', weight: 0 },
      { component: idOf(110, 1), port: 8443, domain: 'secure.example.com', certificateId: 7, autoSsl: true },
      {
        component: idOf(110, 1),
        port: 8443,
        domain: 'xn--bcher-kva.example',
        path: '/~u/(a)*',
        extensions: [{ key: 'k', value: 'v' }],
      },
    ],
  }),
  application(111, 'default-rules', {
    components: [
      component(111, 1, 'one', [open(80, 'ONE')]),
      component(111, 2, 'two', [open(80, 'TWO'), open(81, 'MORE')]),
    ],
  }),
  application(112, 'closed-with-rules', {
    components: [component(112, 1, 'closed', [{ port: 80, alias: 'C', inner: true }])],
    rules: [{ component: idOf(112, 1), port: 80, domain: 'closed.example.com' }],
  }),
  application(113, 'shared-alias', {
    components: [
      component(113, 1, 'shared', [
        { port: 80, alias: 'SAME', inner: true },
        { port: 81, alias: 'SAME', inner: true },
        { port: 82, alias: 'OWN' },
      ]),
    ],
  }),
  application(114, 'odd-values', {
    components: [
      component(114, 1, 'odd', [
        { port: 80, alias: 'ODD', inner: true },
        { port: 81, alias: 'OUTER_ONLY', inner: false, outer: true, protocol: 'tcp' },
        { port: 65_535, alias: 'LAST' },
        { port: 1, alias: 'FIRST' },
      ]),
    ],
  }),
  application(115, 'unsayable-rules', {
    components: [component(115, 1, 'web', [open(80, 'W'), open(81, 'V')])],
    rules: [
      { component: idOf(115, 1), port: 80, domain: 'under_score.example.com' },
      { component: idOf(115, 1), port: 80, domain: '10.0.0.1' },
      { component: idOf(115, 1), port: 80, domain: 'ok.example.com', path: '/a b' },
      { component: idOf(115, 1), port: 80, domain: 'heavy.example.com', weight: 900 },
      { component: idOf(115, 1), port: 80, domain: 'both.example.com' },
      { component: idOf(115, 1), port: 81, domain: 'both.example.com' },
      { component: idOf(115, 1), port: 80, domain: 'both.example.com', certificateId: 7 },
      { component: idOf(115, 1), port: 81, domain: 'twice.example.com' },
      { component: idOf(115, 1), port: 81, domain: 'twice.example.com', cookie: 'x' },
      { component: idOf(115, 1), port: 81, domain: 'cookie.example.com', cookie: '\u202eevil\u2028\u0007' },
    ],
  }),
  application(116, 'shop', {
    components: [component(116, 1, 'shop-web', [open(80, 'W')]), component(116, 2, 'web', [])],
  }),
  application(117, 'Shop', { components: [component(117, 1, 'web', [open(80, 'W')]), component(117, 2, 'Web', [])] }),
  application(118, 'a-very-long-name-that-goes-on-and-on-and-on-until-nobody-reads-it-any-more-at-all', {
    components: [component(118, 1, 'and-so-does-its-component-which-has-a-name-that-is-far-too-long', [open(80, 'W')])],
  }),
  application(119, 'many', {
    components: Array.from({ length: 12 }, (_, number) =>
      component(119, number + 1, `part-${number}`, [open(8000 + number, `P${number}`)]),
    ),
    rules: Array.from({ length: 12 }, (_, number) => ({
      component: idOf(119, number + 1),
      port: 8000 + number,
      domain: `part-${number}.example.com`,
      path: '/x',
    })),
  }),
  application(120, 'stored', { components: [component(120, 1, 'stored-web', [open(80, 'W')])] }),
];

/** A platform that has them all, and nothing else. */
export const variedSeed: Seed = { ...demoSeed, startAfterMs: 0, applications: varied };

/** What `--list` takes where the server cannot list components. */
export const variedList = varied
  .map(({ id, components = [] }) => `${demo.team}/${demo.region}/${id} ${components.map((each) => each.id).join(' ')}`)
  .join('\n');
