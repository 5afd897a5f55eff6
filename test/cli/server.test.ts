import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { kindDeclarations } from '../../src/configuration/declarations.ts';
import { loadManifests } from '../../src/manifest/load.ts';
import type { ControllerApi } from '../../src/controller/api.ts';
import type { PlanDocument } from '../../src/plan/document.ts';
import { application, HandMadeController, troubled } from '../server/controller.ts';
import { serve, type Serving, TOKENS } from '../server/serving.ts';
import { collectingTerminal, type Run, runHere } from './running.ts';
import { PORTS, rule, type Scene, type SceneSettings, setScene, shop, web } from './scene.ts';

const operator = { PORTOLAN_SERVER_TOKEN: TOKENS.operator };

function run(serving: Pick<Serving, 'url'>, args: readonly string[], env: Record<string, string> = operator) {
  return runHere(args, { env: { PORTOLAN_SERVER: serving.url, ...env } });
}

/** A controller that plans what it is sent with the scene's platform and ledger. */
function planningWith(scene: Scene): ControllerApi['planManifests'] {
  return async (files, { variables, prune, adopt, targets }) => {
    const { problems } = loadManifests({ kinds: kindDeclarations, files, variables });
    if (problems.length > 0) return { type: 'invalid', problems };
    const folder = mkdtempSync(join(tmpdir(), 'portolan-sent-'));
    files.forEach(({ content }, at) => {
      const file = join(folder, `${at}.yaml`);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, content);
    });
    const planned: Run = await scene.run('plan', [
      '-f',
      folder,
      '-o',
      'json',
      ...[...variables].flatMap(([name, value]) => ['--var', `${name}=${value}`]),
      ...(prune ? ['--prune'] : []),
      ...(adopt === 'all' ? ['--adopt'] : adopt.flatMap((id) => ['--adopt', id])),
      ...(targets ?? []).flatMap((id) => ['--target', id]),
    ]);
    if (planned.out === '') throw new Error(planned.err);
    return { type: 'planned', document: JSON.parse(planned.out) as PlanDocument };
  };
}

async function planScene(settings: SceneSettings = {}) {
  const scene = await setScene(settings);
  const api = new HandMadeController();
  api.planManifests = planningWith(scene);
  const serving = await serve({ api });
  const onServer = (args: readonly string[] = [], env: Record<string, string> = {}): Promise<Run> =>
    runHere(['plan', ...scene.options, ...args], {
      // Neither the platform's token nor a ledger is at hand.
      env: { PORTOLAN_SERVER: serving.url, PORTOLAN_SERVER_TOKEN: TOKENS.viewer, ...env },
    });
  return { scene, serving, onServer };
}

const manifests = { 'a.yaml': shop(web(PORTS), rule('www', 'www.example.com', 'weight: 50')) };

test.for([
  ['changes that are pending', {}, [], async () => {}],
  ['changes that are pending, with a code of their own', {}, ['--detailed-exitcode'], async () => {}],
  ['as JSON', {}, ['-o', 'json'], async () => {}],
  ['as annotations, with the places of the files that were sent', {}, ['-o', 'github'], async () => {}],
  ['as SARIF', {}, ['-o', 'sarif'], async () => {}],
  ['as Markdown', {}, ['-o', 'markdown'], async () => {}],
  ['a target', { manifests }, ['--target', 'Component/shop-web', '-o', 'json'], async () => {}],
  [
    'nothing to do',
    { manifests },
    ['--detailed-exitcode'],
    async (scene: Scene): Promise<void> => void (await scene.run('apply')),
  ],
  [
    'what is held',
    { manifests },
    [],
    async (scene: Scene): Promise<void> => void (await scene.run('apply', ['--ledger', `${scene.folder}/another.db`])),
  ],
  [
    'what is held, and adopted',
    { manifests },
    ['--adopt'],
    async (scene: Scene): Promise<void> => void (await scene.run('apply', ['--ledger', `${scene.folder}/another.db`])),
  ],
  [
    'a platform that says no',
    { manifests },
    [],
    async (scene: Scene): Promise<void> =>
      scene.sandbox.setFaults([
        { path: '**/apps/42', fault: { type: 'status', when: 'before', status: 403, body: { msg: 'no' } } },
      ]),
  ],
] as const)(
  'a plan of the server is that of here, to the letter and the code: %s',
  async ([, settings, args, prepare]) => {
    const { scene, onServer } = await planScene(settings);
    await prepare(scene);
    const here = await scene.run('plan', args);
    // On stderr, here only: that there is no ledger yet.
    expect(await onServer(args)).toEqual({ code: here.code, out: here.out, err: '' });
    expect(here.out).not.toBe('');
  },
);

test('faults of manifests are those of here, with their places; variables go along', async () => {
  const { scene, onServer } = await planScene({
    manifests: { 'a.yaml': shop(web(PORTS)).replace('appId: 42', 'appId: forty'), 'b.yaml': 'kind: ${KIND}\n' },
  });
  const args = ['--var', 'KIND=Wrong'];
  const here = await scene.run('plan', args);
  expect(here.code).toBe(3);
  expect(here.err).toContain('a.yaml:');
  expect(await onServer(args)).toEqual(here);
  expect(await onServer([], { PORTOLAN_VAR_KIND: 'Wrong' })).toEqual(here);
});

test('a digest that is expected of a plan of the server is that of the plan, or the command ends with 4', async () => {
  const { onServer } = await planScene({ manifests });
  const { digest } = JSON.parse((await onServer(['-o', 'json'])).out) as { digest: string };
  expect((await onServer(['--expect', digest, '--detailed-exitcode'])).code).toBe(2);
  const other = await onServer(['--expect', '0'.repeat(64)]);
  expect(other.code).toBe(4);
  expect(other.err).toContain(`The digest of the plan is ${digest}, and ${'0'.repeat(64)} was expected.`);
});

test('what cannot be read here is not sent; limits of the server are not ours to lift', async () => {
  const { scene, serving, onServer } = await planScene();
  const missing = await run(serving, ['plan', '-f', join(scene.folder, 'nothing')]);
  expect(missing).toMatchObject({ code: 3, out: '' });
  const lifted = await onServer(['--max-prunes', '100']);
  expect(lifted.code).toBe(3);
  expect(lifted.err).toContain('--max-prunes cannot be used with --server');
  expect((await run(serving, ['plan'])).err).toContain('Pass -f');
});

test('status shows each application, what is not ready of it, and what to do', async () => {
  const serving = await serve();
  const shown = await run(serving, ['status']);
  expect(shown.code).toBe(1);
  expect(shown.out).toContain(
    ': running, source default at main@sha1:1\n2 applications, 1 ready, 1 drifted, 1 held, 1 failing, 1 suspended, 1 resource not ready',
  );
  expect(shown.out).toMatch(
    /Application\/blog +False +Unknown +Held +2026-11-20T12:00:00.000Z +suspended by ops: a move\n/,
  );
  expect(shown.out).toMatch(
    / {2}Component\/blog-web +False +Unknown +Drifted +2026-11-20T12:00:00.000Z +rule\/not-ours: not ours\n/,
  );
  expect(shown.out).toMatch(/Application\/shop +True/);
  expect(shown.out).not.toContain('Component/shop-web');
  expect(shown.out).toContain(
    `→ Application/blog: A guard refused its plan. To see and approve it: portolan approve blog --server ${serving.url} (digest of this application: abcdef0123)\n`,
  );
  expect(shown.out).toContain(`→ Application/blog: portolan resume blog --server ${serving.url}\n`);
  const json = JSON.parse((await run(serving, ['status', '-o', 'json'])).out) as Record<string, unknown[]>;
  expect(json).toMatchObject({ formatVersion: 1, controller: { phase: 'running' } });
  expect(json['applications']?.length).toBe(2);
  expect(json['resources']?.length).toBe(1);
});

test('what keeps a whole application is said once', async () => {
  const serving = await serve();
  const blog = troubled('blog');
  const [web] = blog.resources;
  const ready = {
    type: 'Ready',
    status: 'Unknown',
    reason: 'Unreachable',
    message: 'no answer',
    observedRevision: null,
    sinceMs: 1,
  } as const;
  serving.api.list = [
    { ...blog, pause: null, resources: web === undefined ? [] : [{ ...web, holds: [], conditions: [ready] }] },
  ];
  const circuit = { type: 'circuit', region: 'region-1', untilMs: 60_000 } as const;
  for (const pause of [null, circuit]) {
    serving.api.list = serving.api.list.map((one) => ({ ...one, pause }));
    const { out } = await run(serving, ['status']);
    const open = 'too many failures in a row in region region-1 until 1970-01-01T00:01:00.000Z; last error: ';
    expect(out).toMatch(new RegExp(`Application/blog .* {3}${pause === null ? '' : open}no answer\n`));
    expect(out).toMatch(/ {2}Component\/blog-web +Unknown +Unknown +Unreachable +1970-01-01T00:00:00.001Z +-\n/);
  }
});

test('the code of status says the worst: all well, held, failed', async () => {
  const serving = await serve();
  const { state } = serving.api;
  const calm = {
    ...state,
    source: { ...state.source, error: null },
    counts: { ...state.counts, held: 0, failing: 0 },
  };
  serving.api.state = calm;
  serving.api.list = [application('shop')];
  expect((await run(serving, ['status'])).code).toBe(0);
  serving.api.list = [{ ...troubled('blog'), lastError: null }];
  expect((await run(serving, ['status'])).code).toBe(4);
  serving.api.list = [];
  serving.api.state = { ...calm, source: { ...calm.source, error: { code: 'a', message: 'm', remedy: 'r', atMs: 1 } } };
  const failed = await run(serving, ['status']);
  expect(failed.code).toBe(1);
  expect(failed.out).toContain('→ source: m r\n');
});

test('a list of more than one part is shown whole', async () => {
  const serving = await serve();
  serving.api.list = Array.from({ length: 1_203 }, (_, at) => application(`app-${at}`));
  const { out } = await run(serving, ['status']);
  expect([...out.matchAll(/^Application\//gm)].length).toBe(1_203);
});

test('status --watch shows what changes, goes on when the server is gone for a while, and ends with the signal', async () => {
  const serving = await serve();
  serving.api.list = [application('shop')];
  const stop = new AbortController();
  const { terminal, text } = collectingTerminal();
  const watching = runHere(['status', '--server', serving.url, '--watch'], {
    terminal,
    env: operator,
    signal: stop.signal,
  });
  await expect.poll(() => text.out).toContain('Application/shop');
  serving.api.list = [application('shop'), application('blog')];
  await expect.poll(() => text.out).toContain('Application/blog');
  await serving.close();
  await expect.poll(() => text.err).toContain('cannot be reached');
  stop.abort();
  expect((await watching).code).toBe(130);
});

test('events shows those of before, the oldest first', async () => {
  const serving = await serve();
  for (let times = 0; times < 4; times += 1) serving.api.happen();
  serving.api.happen({ application: 'Application/blog', resource: null, message: 'x\u001b[2J\ny' });
  const all = await run(serving, ['events', '--limit', '2']);
  expect(all).toEqual({
    code: 0,
    out:
      'TIME                       SEVERITY   TYPE             ABOUT                MESSAGE\n' +
      '2026-11-20T12:00:00.004Z   warning    drift.detected   Component/shop-web   event 4\n' +
      '2026-11-20T12:00:00.005Z   warning    drift.detected   Application/blog     x\\u001b[2J\\ny\n',
    err: '',
  });
  const one = await run(serving, ['events', '--application', 'Application/blog', '-o', 'json']);
  expect(JSON.parse(one.out)).toMatchObject({ sequence: 5 });
  serving.api.happen({ type: 'application.failed', severity: 'error', message: 'failed' });
  serving.api.happen({ type: 'apply.started', severity: 'info', message: 'applying' });
  const some = await run(serving, ['events', '--type', 'application', '--type', 'apply.started']);
  expect(
    some.out
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => line.split(/ +/).at(-1)),
  ).toEqual(['failed', 'applying']);
  const errors = await run(serving, ['events', '--severity', 'error', '-o', 'json']);
  expect(JSON.parse(errors.out)).toMatchObject({ sequence: 6 });
  expect((await run(serving, ['events', '--severity', 'fatal'])).code).toBe(3);
});

test('events --follow goes on, over a stream that breaks off, without losing or repeating one', async () => {
  const serving = await serve();
  serving.api.happen();
  const stop = new AbortController();
  const { terminal, text } = collectingTerminal();
  const args = ['events', '--follow', '-o', 'json', '--server', serving.url];
  const following = runHere(args, { terminal, env: operator, signal: stop.signal });
  const seen = () =>
    text.out.split('\n').flatMap((line) => (line === '' ? [] : [(JSON.parse(line) as { sequence: number }).sequence]));
  await expect.poll(() => serving.api.listeners).toBe(1);
  serving.api.happen();
  await expect.poll(seen).toEqual([1, 2]);
  serving.reload(serving.settings); // Ends every stream.
  await expect.poll(() => serving.api.listeners).toBe(0);
  serving.api.happen();
  serving.api.happen();
  await expect.poll(seen).toEqual([1, 2, 3, 4]);
  stop.abort();
  expect(await following).toMatchObject({ code: 0 });
  expect(text.err).toBe('');
});

test.for([
  [['sync', 'shop'], 'sync Application/shop by operator', 'sync of Application/shop requested'],
  [['sync', '--all'], 'sync all by operator', 'the source and 2 applications'],
  [
    ['suspend', 'Application/shop', '--reason', 'a move'],
    'suspend Application/shop by operator: a move',
    'is suspended',
  ],
  [['resume', 'shop'], 'resume Application/shop by operator', 'is resumed'],
  [['approve', 'blog', 'abcdef0123'], 'approve Application/blog abcdef0123 by operator', 'is approved'],
] as const)('portolan %j', async ([args, asked, said]) => {
  const serving = await serve();
  const done = await run(serving, args);
  expect(done).toMatchObject({ code: 0, err: '' });
  expect(done.out).toContain(said);
  expect(serving.api.asked).toContain(asked);
});

test('a name that is misspelt is told the one that was meant', async () => {
  const serving = await serve();
  for (const args of [
    ['sync', 'shpo'],
    ['suspend', 'shpo'],
    ['resume', 'shpo'],
    ['approve', 'shpo', 'abcdef0123'],
  ]) {
    const { code, err } = await run(serving, args);
    expect(code).toBe(3);
    expect(err).toContain('Did you mean shop?');
  }
  expect(serving.api.asked).toEqual([]);
});

test('sync wants one or all', async () => {
  const serving = await serve();
  expect((await run(serving, ['sync'])).err).toContain('either one application or --all');
  expect((await run(serving, ['sync', 'shop', '--all'])).code).toBe(3);
});

test('approving another plan is held, with the digest of now', async () => {
  const serving = await serve();
  const { code, err } = await run(serving, ['approve', 'blog', 'abcdef9999']);
  expect(code).toBe(4);
  expect(err).toContain('abcdef0123');
});

test.for([
  ['no token', {}, 5, 'server/no-token'],
  ['a wrong token', { PORTOLAN_SERVER_TOKEN: 'wrong-wrong-wrong-wrong' }, 5, 'server/no-token'],
  ['a token of too small a role', { PORTOLAN_SERVER_TOKEN: TOKENS.viewer }, 5, 'server/wrong-role'],
] as const)('%s ends with what to do', async ([, env, code, problem]) => {
  const serving = await serve();
  const done = await run(serving, ['sync', 'shop'], env);
  expect(done.code).toBe(code);
  expect(done.err).toContain(`[${problem}]`);
  expect(done.err).not.toContain('wrong-wrong');
});

test('the token comes from a file before the variable', async () => {
  const serving = await serve();
  const file = join(mkdtempSync(join(tmpdir(), 'portolan-token-')), 'token');
  writeFileSync(file, `${TOKENS.operator}\n`);
  const env = { PORTOLAN_SERVER_TOKEN: 'wrong-wrong-wrong-wrong' };
  expect((await run(serving, ['sync', 'shop', '--token-file', file], env)).code).toBe(0);
  expect((await run(serving, ['sync', 'shop'], { PORTOLAN_SERVER_TOKEN_FILE: file })).code).toBe(0);
  expect((await run(serving, ['sync', 'shop', '--token-file', '/nowhere'], env)).code).toBe(3);
});

/** Somebody else's server. */
async function stranger(status: number, headers: Record<string, string>, body: string): Promise<string> {
  const server = createServer((_, response) => {
    response.writeHead(status, headers).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test.for([
  ['a page', 200, { 'content-type': 'text/html' }, '<html>'],
  ['JSON of somebody else', 200, { 'content-type': 'application/json' }, '{"kind":"Status"}'],
  ['a list', 200, { 'content-type': 'application/json' }, '[]'],
  ['half of JSON', 200, { 'content-type': 'application/json' }, '{"phase"'],
  ['a proxy that is at its end', 502, { 'content-type': 'text/html' }, 'Bad Gateway'],
  ['JSON that is no problem of ours', 404, { 'content-type': 'application/json' }, '{"message":"no"}'],
  ['a redirect', 302, { location: 'http://127.0.0.1:1/' }, ''],
] as const)('%s is told from a server of ours', async ([, status, headers, body]) => {
  const url = await stranger(status, headers, body);
  for (const args of [['status'], ['events'], ['sync', 'shop']]) {
    const done = await run({ url }, args);
    expect(done.code).toBe(5);
    expect(done.err).toContain('[cli/not-a-portolan-server]');
  }
});

test.for([
  ['http://127.0.0.1:47779', 5, 'connection refused'],
  ['http://nobody.invalid', 5, 'cannot be reached'],
  ['ftp://127.0.0.1', 3, 'not an http or https address'],
  ['http://user:pass@127.0.0.1', 3, 'not an http or https address'],
  ['127.0.0.1:7780', 3, 'not an http or https address'],
] as const)('--server %s ends with %i: %s', async ([url, code, said]) => {
  const done = await run({ url }, ['status']);
  expect(done.code).toBe(code);
  expect(done.err).toContain(said);
  expect(done.err).not.toContain('user:pass');
});
