import { expect, test } from 'vitest';
import { Secret } from '../../src/model/secret.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import type { Log } from '../../src/runtime/log.ts';
import { systemRandom } from '../../src/runtime/random.ts';
import { checkSeed, seedProblems } from '../../src/sandbox/seed-check.ts';
import { demo, demoSeed } from '../../src/sandbox/seeds/demo.ts';
import { recordedSeed } from '../../src/sandbox/seeds/recorded.ts';
import { SANDBOX_TOKEN, startSandbox } from '../../src/sandbox/server.ts';
import { inMemoryTransport } from '../../src/sandbox/transport.ts';
import { ask, Bench, shopPath } from './support.ts';

test.for([
  ['demo', demoSeed],
  ['recorded', recordedSeed],
] as const)('the %s seed is valid, as JSON too', ([, seed]) => {
  expect(seedProblems(JSON.parse(JSON.stringify(seed)))).toEqual([]);
});

const [shop] = demoSeed.applications ?? [];
const [web] = shop?.components ?? [];

test.for([
  ['nothing', undefined, [/the document: must be object/]],
  ['no regions', { ...demoSeed, regions: [] }, [/^regions: must NOT have fewer than 1 items/]],
  ['an unknown field', { ...demoSeed, color: 'red' }, [/^the document: unknown field "color"/]],
  [
    'a short id',
    { ...demoSeed, applications: [{ ...shop, components: [{ ...web, id: 'abc' }] }] },
    [/^applications\[0\]\.components\[0\]\.id: /],
  ],
  [
    'an unknown team',
    { ...demoSeed, applications: [{ ...shop, team: 'nobody' }] },
    [/^applications\[0\]\.team: there is no team "nobody"/],
  ],
  [
    'a port twice',
    { ...demoSeed, applications: [{ ...shop, components: [{ ...web, ports: [{ port: 1 }, { port: 1 }] }] }] },
    [/^applications\[0\]\.components\[0\]\.ports: port "1" is there twice/],
  ],
  [
    'a rule without its port',
    {
      ...demoSeed,
      applications: [{ ...shop, rules: [{ component: demo.webServiceId, port: 1, domain: 'a.example.com' }] }],
    },
    [/^applications\[0\]\.rules\[0\]: the application has no component .* with port 1/],
  ],
  [
    'two faults',
    { ...demoSeed, monitoring: 'some', startAfterMs: -1 },
    [/^monitoring: must be one of traffic, lossy/, /^startAfterMs: must be >= 0/],
  ],
] as const)('a seed with %s says so', ([, seed, expected]) => {
  const problems = seedProblems(seed);
  expect(problems).toHaveLength(expected.length);
  for (const [index, pattern] of expected.entries()) expect(problems[index]).toMatch(pattern);
  expect(() => checkSeed(seed)).toThrow(problems[0]);
});

test('a seeded outer port has its rules, and what is sown twice is the same', () => {
  const components = [
    {
      ...web,
      ports: [
        { port: 8080, inner: true, outer: true },
        { port: 81, inner: true, outer: true },
      ],
    },
  ];
  const rules = [{ component: demo.webServiceId, port: 8080, domain: 'www.shop.example.com' }];
  const seed = checkSeed({ ...demoSeed, applications: [{ ...shop, components, rules }] });
  const bench = new Bench(seed);
  expect(bench.ask('GET', 'httpdomains').body).toMatchObject([
    { domain_name: 'www.shop.example.com', type: 1, is_outer_service: true },
    { domain_name: 'gr6f3c1d-81-team-a.region-1.apps.example.com', type: 0 },
  ]);
  expect(new Bench(seed).state.dump()).toEqual(bench.state.dump());
});

const request = {
  operation: 'install',
  query: {},
  isRead: false,
  timeoutMs: 1000,
  method: 'POST',
  path: `${shopPath}/install`,
} as const;

test('the transport in memory answers like the server, and keeps secrets unless told how to reveal them', async () => {
  const stores = (demoSeed.stores ?? []).map((store) => ({ ...store, accessKeys: ['hush'] }));
  const bench = new Bench({ ...demoSeed, stores });
  const context = () =>
    ({ nowMs: bench.nowMs, newId: bench.newId, dialect: 'extended', token: SANDBOX_TOKEN }) as const;
  const body = {
    market_url: demo.storeUrl,
    market_domain: demo.storeDomain,
    market_type: demo.storeType,
    market_access_key: new Secret('hush', 'test'),
    app_model_id: demo.mysqlModelId,
    app_model_version: '8.0.36',
  };
  const closed = await inMemoryTransport(bench.state, context)({ ...request, body });
  expect([closed.status, JSON.parse(closed.body).msg]).toEqual([403, 'no store permissions']);
  // The first key for a store is kept for good, so this is another platform.
  const another = new Bench({ ...demoSeed, stores });
  const open = await inMemoryTransport(another.state, context, (secret) => secret.reveal())({ ...request, body });
  expect([open.status, open.contentType, open.retryAfter]).toEqual([200, 'application/json', null]);
});

test('nothing secret is logged, listed or dumped', async () => {
  const lines: string[] = [];
  const note = (message: string, fields?: object): void => void lines.push(message + JSON.stringify(fields ?? {}));
  const log: Log = { debug: note, info: note, warn: note, error: note };
  const sandbox = await startSandbox({ clock: systemClock, random: systemRandom, token: 'hush-token', log });
  const answer = await fetch(`${sandbox.url}${shopPath}/install?is_deploy=true`, {
    method: 'POST',
    headers: { authorization: 'hush-token', 'content-type': 'application/json' },
    body: JSON.stringify({
      market_url: demo.storeUrl,
      market_domain: demo.storeDomain,
      market_type: demo.storeType,
      market_access_key: 'hush-key',
      app_model_id: demo.mysqlModelId,
      app_model_version: '8.0.36',
    }),
  });
  expect(answer.status).toBe(200);
  const pages = await Promise.all(
    ['requests', 'state', 'faults'].map((page) => ask(sandbox, 'GET', `/_sandbox/${page}`)),
  );
  const seen = [await answer.text(), ...lines, ...pages.map((page) => page.text)].join('\n');
  expect(lines).not.toEqual([]);
  expect(seen).not.toMatch(/hush/);
  await sandbox.close();
});
