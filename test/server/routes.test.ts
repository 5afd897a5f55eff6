import { connect } from 'node:net';
import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, onTestFinished, test } from 'vitest';
import type { PlanRequest } from '../../src/controller/api.ts';
import { createValidators, queryOf } from '../../src/server/validation.ts';
import { openApiDocument } from '../../src/server/openapi.ts';
import { lintOpenApi } from '../support/openapi-lint.ts';
import { routes } from '../../src/server/routes/table.ts';
import { COMMIT } from './hand-made-fleet.ts';
import { application, planOf, troubled } from './controller.ts';
import { serve, TOKENS } from './serving.ts';

interface Listed {
  readonly items: readonly { readonly id: string; readonly sequence: number; readonly serial: number }[];
  readonly nextCursor: string | null;
  readonly position: string;
}

test('the document is valid OpenAPI 3.1, and served', async () => {
  const validator = new Validator();
  expect(await validator.validate(structuredClone(openApiDocument(routes)))).toEqual({ valid: true });
  expect(validator.version).toBe('3.1');
  const { ask } = await serve();
  expect((await ask('/api/v1/openapi.json')).body).toEqual(openApiDocument(routes));
});

test('a linter finds nothing against the document, and finds what is planted', async () => {
  expect(await lintOpenApi(openApiDocument(routes))).toEqual([]);
  const { servers: _, ...withoutServers } = openApiDocument(routes);
  expect(await lintOpenApi(withoutServers)).toEqual([expect.stringMatching(/^no-empty-servers: /)]);
});

test('the schemas of all routes are valid and compile in strict mode: a server compiles each at its first request', () => {
  for (const route of routes) {
    const { text, body } = createValidators({ validateSchema: true });
    expect(() => text.compile(queryOf(route)), route.path).not.toThrow();
    const { schema } = { schema: {}, ...route.body };
    expect(() => body.compile(schema), route.path).not.toThrow();
  }
});

test('the document names servers, groups every operation under a tag, and shows examples', () => {
  // What linters of OpenAPI ask for beyond validity.
  const document = openApiDocument(routes) as unknown as {
    readonly servers: readonly { readonly url: string }[];
    readonly tags: readonly { readonly name: string; readonly description: string }[];
    readonly info: Readonly<Record<string, unknown>>;
    readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  };
  expect(document.servers.map(({ url }) => url)).toContain('/');
  expect(document.info).toMatchObject({ title: 'Portolan', license: { identifier: 'Apache-2.0' } });
  const names = document.tags.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  const used = new Set<string>();
  for (const [path, operations] of Object.entries(document.paths))
    for (const { tags, summary, description, parameters = [], responses } of Object.values(operations)) {
      expect(tags, path).toHaveLength(1);
      for (const tag of tags) used.add(tag);
      expect(summary.length * description.length, path).toBeGreaterThan(0);
      for (const parameter of parameters.filter((one) => one.in === 'path')) expect(parameter.example).toMatch(/^\w+$/);
      const problem = responses['default']?.content?.['application/problem+json']?.example;
      expect(problem, path).toMatchObject({ code: expect.any(String), remedy: expect.any(String) });
    }
  expect([...used].sort()).toEqual(names.toSorted());
});

interface Operation {
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly parameters?: readonly { readonly in: string; readonly example?: string }[];
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly example?: unknown }>> }>
  >;
}

test('operation ids are unique, and every list takes limit and cursor', () => {
  expect(new Set(routes.map(({ operationId }) => operationId)).size).toBe(routes.length);
  const lists = routes.filter(({ operationId }) => operationId.startsWith('list'));
  expect(lists.length).toBeGreaterThan(5);
  for (const { operationId, query = {} } of lists) {
    expect(Object.keys(query), operationId).toEqual(expect.arrayContaining(['limit', 'cursor']));
  }
});

test('every reading route answers as the document says', async () => {
  const { ask, api } = await serve();
  api.happen();
  api.happen({ application: null, scope: null, resource: null, revision: null, type: 'controller.started' });
  const reading = routes.filter(
    // A stream does not end, and a provider calls back only where one is configured.
    ({ method, operationId, access }) => method === 'GET' && operationId !== 'streamEvents' && access !== 'callback',
  );
  for (const { path } of reading) {
    for (const name of ['shop', 'blog']) {
      const answer = await ask(path.replace('{name}', name).replace('{sha}', COMMIT.id), { role: 'admin' });
      expect(answer.status, path).toBe(200);
    }
  }
});

test('lists come in parts that follow each other, in one order, each item once', async () => {
  const { ask, api } = await serve();
  api.list = ['d', 'a', 'c', 'b', 'e'].map((name) => application(name));
  for (let times = 0; times < 3; times += 1) api.happen();
  const read = async (path: string, keyOf: (item: Listed['items'][number]) => unknown) => {
    const keys: unknown[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const and = path.includes('?') ? '&' : '?';
      const next: string = cursor === '' ? '' : `&cursor=${cursor}`;
      const page = (await ask(`${path}${and}limit=2${next}`, { role: 'operator' })).body as Listed;
      expect(page.items.length).toBeLessThanOrEqual(2);
      keys.push(...page.items.map(keyOf));
      cursor = page.nextCursor;
    }
    return keys;
  };
  const inOrder = ['a', 'b', 'c', 'd', 'e'];
  expect(await read('/api/v1/applications', ({ id }) => id)).toEqual(inOrder.map((name) => `Application/${name}`));
  expect(await read('/api/v1/resources', ({ id }) => id)).toEqual(inOrder.map((name) => `Component/${name}-web`));
  expect(await read('/api/v1/history', ({ serial }) => serial)).toEqual([3, 3, 2, 2, 2, 2, 2, 1]);
  expect(await read('/api/v1/events', ({ sequence }) => sequence)).toEqual([3, 2, 1]);
  expect(await read('/api/v1/intents', ({ id }) => id)).toEqual(['1', '2']);
  expect(await read('/api/v1/applications/a/objects', (item) => (item as { uid?: string }).uid)).toEqual([
    'a',
    'b',
    'c',
  ]);
});

test.for([
  ['condition=Ready', ['shop']],
  ['condition=Ready%3DFalse', ['blog']],
  ['condition=Ready!%3DTrue', ['blog']],
  ['condition=Healthy%3DUnknown', ['blog', 'shop']],
  ['condition=Stalled&condition=Ready', []],
  ['label=env', ['blog', 'shop']],
  ['label=env%3Dprod', ['shop']],
  ['label=tier%3D', ['blog']],
  ['label=constructor', []],
  ['label=env%3Dtest&condition=Ready%3DFalse', ['blog']],
] as const)('applications with %s', async ([query, names]) => {
  const { ask } = await serve();
  const { items } = (await ask(`/api/v1/applications?${query}`)).body as Listed;
  expect(items.map(({ id }) => id)).toEqual(names.map((name) => `Application/${name}`));
});

test('a list says how many resources are not as they should be; the application has them all', async () => {
  const { ask } = await serve();
  const { items } = (await ask('/api/v1/applications?condition=Ready%3DFalse')).body as { items: object[] };
  expect(items[0]).toMatchObject({ resources: { total: 1, notReady: 1, drifted: 1, held: 1 } });
  expect((await ask('/api/v1/applications/blog')).body).toEqual({ sources: [], ...troubled('blog'), observed: null });
  const resources = (await ask('/api/v1/resources?condition=Ready!%3DTrue')).body as Listed;
  expect(resources.items.map(({ id }) => id)).toEqual(['Component/blog-web']);
});

test.for([
  ['/api/v1/applications?limit=0', 'server/invalid-request'],
  ['/api/v1/applications?limit=1001', 'server/invalid-request'],
  ['/api/v1/applications?limit=1&limit=2', 'server/invalid-request'],
  ['/api/v1/applications?limt=1', 'server/invalid-request'],
  ['/api/v1/applications?condition=Wild', 'server/invalid-request'],
  ['/api/v1/applications?cursor=%00', 'server/bad-cursor'],
  ['/api/v1/history?cursor=YXBwbGljYXRpb25zOmE', 'server/bad-cursor'],
  // Skips 999,999 rows, which the ledger would have to read first.
  [
    `/api/v1/history?cursor=${Buffer.from('history:999999999999999.999999').toString('base64url')}`,
    'server/bad-cursor',
  ],
  ['/api/v1/events/stream?after=yesterday', 'server/bad-position'],
] as const)('%s is refused as %s', async ([path, code]) => {
  const { ask } = await serve();
  expect((await ask(path)).body).toMatchObject({ status: 400, code });
});

test('an unknown application is 404, with the one that was probably meant', async () => {
  const { ask } = await serve();
  for (const [method, path] of [
    ['GET', '/api/v1/applications/shpo'],
    ['GET', '/api/v1/history?application=shpo'],
    ['POST', '/api/v1/applications/shpo/sync'],
  ] as const) {
    const { body } = await ask(path, { method, role: 'operator' });
    expect(body).toMatchObject({ status: 404, code: 'controller/unknown-application' });
    expect((body as { remedy: string }).remedy).toContain('Did you mean shop?');
  }
});

test('commands are passed on with the name of the token', async () => {
  const { ask, api, said } = await serve();
  const post = (path: string, body?: object) =>
    ask(path, { method: 'POST', role: 'operator', ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  expect((await post('/api/v1/applications/shop/sync')).body).toEqual({ syncing: ['Application/shop'] });
  expect((await post('/api/v1/sync')).status).toBe(202);
  expect((await post('/api/v1/applications/shop/suspend', { reason: 'a move' })).status).toBe(200);
  expect((await post('/api/v1/applications/shop/resume')).status).toBe(200);
  expect((await post('/api/v1/applications/blog/approve', { digest: 'abcdef0123' })).status).toBe(200);
  expect(api.asked).toEqual([
    'sync Application/shop by operator',
    'poke: sync by operator',
    'sync all by operator',
    'suspend Application/shop by operator: a move',
    'resume Application/shop by operator',
    'approve Application/blog abcdef0123 by operator',
  ]);
  expect(said.filter((line) => line.startsWith('info server: command')).length).toBe(5);
});

test.for([
  ['/api/v1/applications/shop/approve', { digest: 'abcdef0123' }, 409, 'controller/nothing-to-approve'],
  ['/api/v1/applications/blog/approve', { digest: 'abcdef9999' }, 409, 'controller/other-plan'],
  ['/api/v1/applications/blog/approve', { digest: 'XYZ XYZ XYZ' }, 400, 'server/invalid-request'],
  ['/api/v1/applications/blog/approve', {}, 400, 'server/invalid-request'],
  ['/api/v1/applications/shop/suspend', { reason: '' }, 400, 'server/invalid-request'],
  ['/api/v1/applications/shop/suspend', { reason: 'two\nlines' }, 400, 'server/invalid-request'],
  ['/api/v1/applications/shop/suspend', { reason: 7 }, 400, 'server/invalid-request'],
  ['/api/v1/applications/shop/suspend', { reason: 'a', by: 'root' }, 400, 'server/invalid-request'],
] as const)('POST %s %j is refused', async ([path, body, status, code]) => {
  const { ask, api } = await serve();
  const answer = await ask(path, { method: 'POST', role: 'operator', body: JSON.stringify(body) });
  expect(answer.body).toMatchObject({ status, code });
  expect(api.asked).toEqual([]);
});

test('manifests that are sent are planned as they are, with all that goes with them', async () => {
  const { ask, api } = await serve();
  const asked: unknown[] = [];
  api.planned = async (files, options: PlanRequest) => {
    asked.push(files, { ...options, variables: [...options.variables] });
    return planOf();
  };
  const files = [{ path: 'a.yaml', content: 'kind: X\n' }];
  const body = { files, variables: { A: '1' }, prune: true, adopt: 'all', targets: ['Component/web'] };
  const answer = await ask('/api/v1/plan', { method: 'POST', body: JSON.stringify(body) });
  expect(answer.body).toEqual(JSON.parse(JSON.stringify(planOf())));
  expect(asked).toEqual([files, { variables: [['A', '1']], prune: true, adopt: 'all', targets: ['Component/web'] }]);
  asked.length = 0;
  await ask('/api/v1/plan', { method: 'POST', body: JSON.stringify({ files: [] }) });
  expect(asked).toEqual([[], { variables: [], prune: false, adopt: [], targets: undefined }]);
});

test('manifests with faults are 422, with each fault and its place', async () => {
  const { ask, api } = await serve();
  const fault = { code: 'yaml/x', position: { file: 'a', line: 1, column: 2 }, path: '', message: 'm' };
  const shown = { ...fault, resource: 'A/b', expected: 'e', hint: 'h', excerpt: { line: 'l', caret: 0, length: 1 } };
  api.planned = async () => [fault, shown];
  const { body } = await ask('/api/v1/plan', { method: 'POST', body: '{"files":[]}' });
  expect(body).toMatchObject({ status: 422, code: 'server/invalid-manifests', problems: [fault, shown] });
});

test('plans wait for their turn; no more than may, and none for ever', async () => {
  const { ask, api } = await serve({
    limits: { plans: 1, plansWaiting: 1, plansOfCaller: 1, plansWaitingOfCaller: 1, planMs: 400 },
  });
  let running = 0;
  let most = 0;
  api.planned = (_files, _options, signal) => {
    running += 1;
    most = Math.max(most, running);
    return new Promise((_, reject) => {
      signal.addEventListener('abort', () => {
        running -= 1;
        reject(signal.reason as Error);
      });
    });
  };
  const answers = await Promise.all(
    ['/api/v1/plan', '/api/v1/applications/shop/plan', '/api/v1/plan', '/api/v1/plan'].map((path) => ask(path)),
  );
  const codes = answers.map(({ body }) => (body as { code: string }).code).toSorted();
  expect(codes).toEqual(['server/busy', 'server/busy', 'server/took-too-long', 'server/took-too-long']);
  expect(most).toBe(1);
  api.planned = async () => planOf();
  expect((await ask('/api/v1/plan')).status).toBe(200);
});

test('a fault of ours is 500 without a word of it, and the log has it', async () => {
  const { ask, api, said } = await serve();
  api.planned = async () => {
    throw new TypeError('private words');
  };
  const answer = await ask('/api/v1/plan');
  expect(answer.body).toMatchObject({ status: 500, code: 'server/fault' });
  expect(answer.text).not.toContain('private');
  expect(said.join('\n')).toContain('private words');
});

test('what should not be there is masked', async () => {
  const { ask, api } = await serve();
  api.list = [application('shop', { labels: { key: 'canary-canary' } })];
  expect((await ask('/api/v1/applications')).text).not.toContain('canary-canary');
});

test('readiness tells the three obstacles apart; health is told without a token', async () => {
  const { ask, api } = await serve();
  const ready = () => ask('/readyz', { role: null });
  expect((await ready()).body).toEqual({ ready: true, reasons: [] });
  api.state = { ...api.state, phase: 'starting', source: { ...api.state.source, error: null } };
  expect((await ready()).body).toMatchObject({ ready: false, reasons: ['the source was not loaded yet'] });
  api.state = { ...api.state, phase: 'draining' };
  expect(await ready()).toMatchObject({ status: 503, body: { reasons: ['draining'] } });
  api.state = { ...api.state, phase: 'running' };
  api.ledgerFails = true;
  await expect
    .poll(async () => (await ready()).body)
    .toMatchObject({
      reasons: ['the ledger does not answer'],
    });
  expect(await ask('/healthz', { role: null })).toMatchObject({ status: 200, body: { status: 'ok' } });
});

test('one token has neither all plans nor all places, and is refused before its manifests are read', async () => {
  const { ask, api, url } = await serve({
    limits: { plans: 3, plansWaiting: 2, plansOfCaller: 2, plansWaitingOfCaller: 1 },
  });
  const release: (() => void)[] = [];
  api.planned = () => new Promise((resolve) => release.push(() => resolve(planOf())));
  const ofViewer = Array.from({ length: 3 }, () => ask('/api/v1/plan'));
  await expect.poll(() => release.length).toBe(2);
  const { status, code } = (await ask('/api/v1/plan')).body as { status: number; code: string };
  expect([status, code]).toEqual([503, 'server/busy']);
  const head = await new Promise<string>((resolve) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.write(
      `POST /api/v1/plan HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${TOKENS.viewer}\r\nContent-Type: application/json\r\nContent-Length: 8000000\r\n\r\n`,
    );
    socket.once('data', (data) => resolve(String(data)));
    onTestFinished(() => void socket.destroy());
  });
  expect(head).toContain('HTTP/1.1 503');
  const ofOperator = ask('/api/v1/plan', { role: 'operator' });
  await expect.poll(() => release.length).toBe(3);
  for (const go of release) go();
  await expect.poll(() => release.length).toBe(4);
  release[3]?.();
  const answers = await Promise.all([...ofViewer, ofOperator]);
  expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200, 200]);
  api.planned = async () => planOf();
  expect((await ask('/api/v1/plan')).status).toBe(200);
});
