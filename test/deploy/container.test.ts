/**
 * Without a container engine: the Dockerfile is read, and what it says is done by the same kind of user over a copy of the
 * same layout that this user cannot write to. `image.long.test.ts` builds the image and runs it, where there is an engine.
 */
import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { startReceiver } from '../controller/notifications/receivers.ts';
import { parseExposition } from '../server/exposition.ts';
import { SANDBOX_TOKEN } from '../../src/sandbox/server.ts';
import { freePort } from '../support/free-port.ts';
import { environmentOf, execForm, stagesOf, textsOf } from './containerfile.ts';
import { type Part, pinned } from './kubernetes.ts';
import { HANG_MS } from '../support/hang.ts';
import { builtPackage } from '../support/program.ts';

const stages = stagesOf(readFileSync('Dockerfile', 'utf8'));
const image = stages.at(-1) ?? [];
const one = (name: string): string => {
  const texts = textsOf(image, name);
  expect(texts, name).toHaveLength(1);
  return texts[0] ?? '';
};

test('the image is small, pinned, and nobody in it is root', () => {
  expect(stages.length).toBeGreaterThan(1);
  const bases = stages.map((stage) => textsOf(stage, 'FROM')[0]?.split(' ')[0] ?? '');
  for (const base of bases) expect(pinned('base', base)).toEqual([]);
  expect(bases.at(-1)).toMatch(/slim|alpine|distroless/);
  const [, version] = /node:([\d.]+)/.exec(bases.at(-1) ?? '') ?? [];
  const { devDependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    devDependencies: { node: string };
  };
  expect(version, 'the Node that everything is tested with').toBe(devDependencies.node);
  expect(new Set(bases).size, 'both stages run the same Node').toBe(1);
  // A number, so that Kubernetes can tell; the last word, so that nothing after it is done by root.
  expect(one('USER')).toBe('1000:1000');
  const last = ['RUN', 'COPY', 'ADD'].map((name) => image.findLastIndex((instruction) => instruction.name === name));
  expect(image.findIndex(({ name }) => name === 'USER')).toBeGreaterThan(Math.max(...last));
  expect(stages.flatMap((stage) => textsOf(stage, 'ADD'))).toEqual([]);
  for (const text of textsOf(image, 'RUN').filter((command) => command.includes('apt-get install')))
    expect(text).toMatch(/--no-install-recommends.*rm -rf \/var\/lib\/apt\/lists/);
  expect(textsOf(image, 'COPY').every((text) => text.startsWith('--from=build /app/'))).toBe(true);
  expect(execForm(one('CMD'))).toEqual(['run']);
  expect(execForm(one('ENTRYPOINT')).slice(0, INIT.length)).toEqual(INIT);
  expect(textsOf(image, 'RUN').join('\n')).toMatch(/install --yes .* tini /);
  expect(JSON.stringify(environmentOf(image))).not.toMatch(/TOKEN|SECRET|KEY|PASSWORD/i);
});

test('the build sees nothing but what it is built from', () => {
  const lines = readFileSync('.dockerignore', 'utf8')
    .split('\n')
    .filter((line) => /^[^#]/.test(line));
  expect(lines[0]).toBe('*');
  for (const line of lines.slice(1)) expect(existsSync(line.replace(/^!/, '')), line).toBe(true);
});

const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;
const whyNot = 'only root can become another user; run the tests as root to see this';

/** The image's folders, and nothing else that a test may lean on. */
interface Layout {
  readonly app: string;
  readonly node: string;
  /** `/var/lib/portolan`: the one place that may be written. */
  readonly state: string;
}

let root = '';
let layout: Layout;

beforeAll(() => {
  if (!isRoot) return;
  root = mkdtempSync(join(tmpdir(), 'portolan-image-'));
  chmodSync(root, 0o755);
  const app = join(root, 'app');
  mkdirSync(app);
  cpSync(join(builtPackage(), 'dist'), join(app, 'dist'), { recursive: true });
  for (const text of textsOf(image, 'COPY')) {
    const names = text.split(' ').slice(1, -1);
    for (const name of names.map((path) => path.replace('/app/', ''))) {
      if (name !== 'dist') cpSync(name, join(app, name), { recursive: true });
    }
  }
  execFileSync('chmod', ['--recursive', 'a-w,a+rX', app]);
  const state = join(root, 'state');
  mkdirSync(state);
  chownSync(state, NOBODY, NOBODY);
  layout = { app, node: nodeFor(root), state };
});

afterAll(() => {
  if (root !== '') rmSync(root, { recursive: true, force: true });
});

/** The one that runs this test may lie where nobody else may look. */
function nodeFor(folder: string): string {
  try {
    execFileSync(process.execPath, ['--version'], { uid: NOBODY, gid: NOBODY, cwd: '/' });
    return process.execPath;
  } catch {
    const copy = join(folder, 'node');
    copyFileSync(process.execPath, copy);
    chmodSync(copy, 0o755);
    return copy;
  }
}

/** The image's process 1. A machine that runs tests need not have it. */
const INIT = ['tini', '--'];

/** Starts what the image would, as nobody. @param words after the entry point, or a whole command. */
function start(words: readonly string[], env: Readonly<Record<string, string>> = {}, isCommand = false) {
  const { app, node, state } = layout;
  const inPlace = (text: string): string => text.replace(/^\/var\/lib\/portolan/, state).replace(/^\/app\//, `${app}/`);
  const [program = '', ...fixed] = isCommand ? words : [...execForm(one('ENTRYPOINT')).slice(INIT.length), ...words];
  expect(program).toBe('node');
  const own = Object.fromEntries(Object.entries(environmentOf(image)).map(([key, value]) => [key, inPlace(value)]));
  const child = spawn(node, fixed.map(inPlace), {
    cwd: inPlace(textsOf(image, 'WORKDIR').at(-1) ?? ''),
    env: { PATH: process.env['PATH'] ?? '', ...own, ...env },
    uid: NOBODY,
    gid: NOBODY,
    stdio: 'pipe',
  });
  let text = '';
  const heard: (() => void)[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      for (const listener of heard) listener();
    });
  const ended = new Promise<number>((resolve) => child.on('close', (code) => resolve(code ?? -1)));
  onTestFinished(() => void child.kill('SIGKILL'));
  return {
    child,
    ended,
    said: () => text,
    /** Resolves with the match when the program has said this; rejects when it ends before. */
    until: (pattern: RegExp): Promise<RegExpExecArray> =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const match = pattern.exec(text);
          if (match !== null) resolve(match);
        };
        heard.push(look);
        look();
        setTimeout(() => reject(new Error(`it has not said ${pattern}: ${text}`)), HANG_MS).unref();
        void ended.then((code) => reject(new Error(`ended with ${code} before it said ${pattern}: ${text}`)));
      }),
  };
}

/** Every file below, with its size, times and mode. */
function fingerprint(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((name) => {
      const { size, mtimeMs, mode } = statSync(join(folder, name));
      return `${name} ${size} ${mtimeMs} ${mode}`;
    });
}

test('what needs no state runs over the read-only layout, as nobody', async (context) => {
  if (!isRoot) return context.skip(whyNot);
  const before = fingerprint(layout.app);
  const touch = start(
    ['node', '-e', "require('node:fs').writeFileSync(process.argv[1], '')", join(layout.app, 'x')],
    {},
    true,
  );
  expect(await touch.ended, 'this user could write to the image').not.toBe(0);
  const version = start(['version']);
  expect(await version.ended, version.said()).toBe(0);
  const examples = join(layout.app, 'examples');
  const valid = start(['validate', '-c', join(examples, 'portolan.yaml'), '-f', join(examples, 'shop')]);
  expect(await valid.ended, valid.said()).toBe(0);
  expect(fingerprint(layout.app)).toEqual(before);
  expect(readdirSync(layout.state)).toContain('cache');
});

test('as compose has it: the sandbox, and `run` beside it until it is told to end', async (context) => {
  if (!isRoot) return context.skip(whyNot);
  const before = fingerprint(layout.app);
  const sandbox = start(['sandbox', '--port', '0', '--data', join(layout.state, 'sandbox')]);
  const [, url = ''] = await sandbox.until(/on (http:\/\/127\.0\.0\.1:\d+)/);
  const port = await freePort();
  const configuration = readFileSync('examples/deploy/compose/portolan.yaml', 'utf8')
    .replace('http://127.0.0.1:7070', url)
    .replace('0.0.0.0:7780', `127.0.0.1:${port}`);
  const ops = await startReceiver();
  const config = join(root, 'portolan.yaml');
  writeFileSync(
    config,
    `${configuration}  notifications:
    receivers: [{ name: ops, type: webhook, url: "${ops.url}/in" }]
    rules: [{ receivers: [ops], events: ["source.*", "action.*"] }]
`,
  );
  const health = { PORTOLAN_HEALTH_URL: `http://127.0.0.1:${port}/healthz` };
  const [, healthcheck = ''] = /CMD (\[.*\])/.exec(one('HEALTHCHECK')) ?? [];
  expect(await start(execForm(healthcheck), health, true).ended, 'nothing listens yet').toBe(1);
  // Of the sandbox, as compose sets it.
  const { services } = parse(readFileSync('examples/deploy/compose.yaml', 'utf8')) as Part;
  const [, path = ''] =
    /^http:\/\/127\.0\.0\.1:7070(\/.*)$/.exec(services.sandbox.environment.PORTOLAN_HEALTH_URL) ?? [];
  expect(await start(execForm(healthcheck), { PORTOLAN_HEALTH_URL: `${url}${path}` }, true).ended).toBe(0);

  const daemon = start(execForm(one('CMD')), {
    PORTOLAN_CONFIG: config,
    PORTOLAN_FILENAME: join(layout.app, 'examples', 'shop'),
    PORTOLAN_TOKEN: SANDBOX_TOKEN,
    STORE_ACCESS_KEY: 'a-key-of-the-store',
    PORTOLAN_API_TOKEN: 'a-token-of-this-test',
  });
  await daemon.until(/listening/);
  for (let code = 1; code !== 0; ) {
    expect(daemon.child.exitCode, daemon.said()).toBeNull();
    code = await start(execForm(healthcheck), health, true).ended;
  }
  expect(existsSync(join(layout.state, 'portolan.db'))).toBe(true);

  // What it tells is told by a real one, too: events to a receiver, and metrics that a strict reader takes.
  await ops.count(2);
  expect(ops.received.map(({ body }) => (JSON.parse(body.toString()) as { type: string }).type)).toEqual(
    expect.arrayContaining(['portolan.source.observed', 'portolan.source.accepted']),
  );
  const scrape = await fetch(`http://127.0.0.1:${port}/metrics`, {
    headers: { authorization: 'Bearer a-token-of-this-test' },
  });
  const metrics = parseExposition(await scrape.text());
  expect(metrics.get('portolan_phase')?.samples.get('portolan_phase{phase="running"}')).toBe(1);
  expect(metrics.get('portolan_drift')?.samples.has('portolan_drift{application="Application/shop"}')).toBe(true);
  daemon.child.kill('SIGTERM');
  expect(await daemon.ended, daemon.said()).toBe(0);
  sandbox.child.kill('SIGTERM');
  expect(await sandbox.ended).toBe(0);
  expect(daemon.said()).not.toMatch(/a-key-of-the-store|a-token-of-this-test/);
  expect(fingerprint(layout.app)).toEqual(before);
});

test.for([
  [200, 0],
  [503, 1],
  [null, 1],
] as const)('the health check of a server that answers %s ends with %i', async ([status, expected], context) => {
  if (!isRoot) return context.skip(whyNot);
  const server = createServer((_, response) => {
    if (status !== null) response.writeHead(status).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const [, healthcheck = ''] = /CMD (\[.*\])/.exec(one('HEALTHCHECK')) ?? [];
  const check = start(execForm(healthcheck), { PORTOLAN_HEALTH_URL: `http://127.0.0.1:${port}/healthz` }, true);
  expect(await check.ended).toBe(expected);
});
