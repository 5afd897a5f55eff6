import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import type { ControllerStatus } from '../../src/model/status.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { systemRandom } from '../../src/runtime/random.ts';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/server.ts';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import { collectingTerminal, projectRoot, type Run, runHere } from '../cli/running.ts';

/** Tokens of the world, by the name of their owner. */
export const TOKENS = {
  viewer: 'viewer-viewer-viewer-1',
  operator: 'operator-operator-oper-1',
  admin: 'admin-admin-admin-admin-1',
  /** Without a role, unless a test binds one. */
  guest: 'guest-guest-guest-guest-1',
} as const;

export type User = keyof typeof TOKENS;

export interface WorldOptions {
  /** Manifests by file name; by default a copy of `examples/shop` and `examples/blog`. */
  readonly manifests?: Readonly<Record<string, string>>;
  readonly sandbox?: Partial<SandboxOptions>;
  /** Lines of `spec` of Settings beside `server`, each with two spaces at its beginning. */
  readonly settings?: string;
  /** Variables of the controller. */
  readonly env?: Readonly<Record<string, string>>;
  /** Address of the controller; by default a free port. */
  readonly listen?: string;
  /** Lines of `spec.server` beside `listen` and `tokens`, each with four spaces at its beginning. */
  readonly server?: string;
}

export interface ApiRequest {
  readonly user?: User;
  readonly method?: 'GET' | 'POST';
  readonly body?: string;
}

/** A sandbox, a git checkout and a controller that follows it, all real. */
export interface World {
  readonly url: string;
  readonly folder: string;
  readonly sandbox: Sandbox;
  /** What the controller logged. */
  log(): string;
  /** Writes files (undefined removes one) and commits them. @returns the id of the commit. */
  commit(files: Readonly<Record<string, string | undefined>>, message?: string): string;
  /** Runs a command against the controller. */
  portolan(args: readonly string[], user?: User): Promise<Run>;
  /** Reads from the API. */
  api<T>(path: string, request?: ApiRequest): Promise<T>;
  /** Waits until the controller has accepted the last commit, and has no work left that it can do now. */
  settled(): Promise<void>;
  /** As SIGTERM does. */
  stop(): Promise<void>;
  /** Starts the controller again on the same address. */
  start(): Promise<void>;
  close(): Promise<void>;
}

/** Opens a world. The caller closes it: `afterAll(() => world.close())`. */
export async function openWorld(options: WorldOptions = {}): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'portolan-world-'));
  const checkout = join(folder, 'checkout');
  const sandbox = await startSandbox({ clock: systemClock, random: systemRandom, ...options.sandbox });
  const commit = createCheckout(checkout, options.manifests);
  const config = join(folder, 'portolan.yaml');
  const configure = (listen: string): void => writeFileSync(config, configuration(sandbox.url, listen, options));
  configure(options.listen ?? '127.0.0.1:0');
  let newest = commit({}, 'Add manifests');
  let running: Running | undefined = await startController(folder, config, options.env);
  const { url } = running;
  const stop = async (): Promise<void> => {
    await running?.stop();
    running = undefined;
  };
  const api: World['api'] = async <T>(path: string, { user = 'admin', ...init }: ApiRequest = {}) => {
    const headers = { authorization: `Bearer ${TOKENS[user]}`, 'content-type': 'application/json' };
    const response = await fetch(url + path, { ...init, headers });
    const text = await response.text();
    expect(response.ok, `${path}: ${response.status} ${text}`).toBe(true);
    return (text === '' ? undefined : JSON.parse(text)) as T;
  };
  const settled = async (): Promise<void> => {
    const isSettled = async (): Promise<boolean> => {
      const { source, counts } = await api<ControllerStatus>('/api/v1/status');
      return source.acceptedRevision?.endsWith(newest) === true && counts.running + counts.queued === 0;
    };
    while (!(await isSettled())) await systemClock.sleep(20);
  };
  await settled();
  return {
    url,
    folder,
    sandbox,
    log: () => running?.log() ?? '',
    commit: (files, message) => (newest = commit(files, message)),
    portolan: (args, user = 'admin') =>
      runHere([...args, '--server', url], { env: { PORTOLAN_SERVER_TOKEN: TOKENS[user] } }),
    api,
    settled,
    stop,
    start: async () => {
      configure(new URL(url).host);
      running = await startController(folder, config, options.env);
      await settled();
    },
    close: async () => {
      await stop();
      await sandbox.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function createCheckout(checkout: string, manifests: WorldOptions['manifests']): World['commit'] {
  mkdirSync(checkout);
  const git = (...args: readonly string[]): string =>
    execFileSync('git', ['-C', checkout, '-c', 'user.name=Ann', '-c', 'user.email=ann@example.com', ...args], {
      encoding: 'utf8',
      env: { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' },
    }).trim();
  const write = (name: string, text: string | undefined): void => {
    const file = join(checkout, name);
    mkdirSync(dirname(file), { recursive: true });
    if (text === undefined) rmSync(file);
    else writeFileSync(file, text);
  };
  git('init', '--quiet', '--initial-branch', 'main');
  if (manifests === undefined) {
    for (const name of ['shop', 'blog'])
      cpSync(join(projectRoot, 'examples', name), join(checkout, name), { recursive: true });
  } else for (const [name, text] of Object.entries(manifests)) write(name, text);
  const commit: World['commit'] = (files, message = 'Change manifests') => {
    for (const [name, text] of Object.entries(files)) write(name, text);
    git('add', '--all');
    git('commit', '--quiet', '--allow-empty', '--message', message);
    return git('rev-parse', 'HEAD');
  };
  return commit;
}

interface Running {
  readonly url: string;
  log(): string;
  stop(): Promise<void>;
}

/** `portolan run` in this process, when it listens. */
async function startController(folder: string, config: string, env: WorldOptions['env']): Promise<Running> {
  const stop = new AbortController();
  const { terminal, text } = collectingTerminal();
  const source = ['--config', config, '-f', join(folder, 'checkout'), '--ledger', join(folder, 'portolan.db')];
  const ended = runHere(['run', ...source, '--log-level', 'debug'], {
    terminal,
    env: {
      PORTOLAN_TOKEN: 'sandbox-token',
      STORE_ACCESS_KEY: 'demo-store-key',
      ...Object.fromEntries(Object.entries(TOKENS).map(([name, token]) => [name.toUpperCase(), token])),
      ...env,
    },
    clock: systemClock,
    signal: stop.signal,
  });
  let code: number | undefined;
  void ended.then((run) => {
    code = run.code;
  });
  const address = (): string | undefined => /listening +url=(\S+)/.exec(text.err)?.[1];
  while (address() === undefined) {
    if (code !== undefined) throw new Error(`the controller ended with ${code}: ${text.err}`);
    await systemClock.sleep(20);
  }
  return {
    url: address() ?? '',
    log: () => text.err,
    stop: async () => {
      stop.abort();
      await ended;
    },
  };
}

function configuration(url: string, listen: string, { settings = '', server = '' }: WorldOptions): string {
  const tokens = (Object.keys(TOKENS) as User[]).map(
    (name) =>
      `      - { name: ${name},${name === 'guest' ? '' : ` role: ${name},`} value: { env: ${name.toUpperCase()} } }`,
  );
  return `apiVersion: portolan/v1
kind: Platform
metadata: { name: default }
spec:
  url: ${url}
  auth: { header: Authorization, value: { env: PORTOLAN_TOKEN } }
  limits: { requestsPerSecond: 1000 }
---
apiVersion: portolan/v1
kind: Store
metadata: { name: main }
spec: { url: "${demo.storeUrl}", domain: ${demo.storeDomain}, type: ${demo.storeType}, accessKey: { env: STORE_ACCESS_KEY } }
---
apiVersion: portolan/v1
kind: Settings
spec:
${settings}
  server:
    listen: ${listen}
    tokens:
${tokens.join('\n')}
${server}
`;
}

/** Resolves when it is so. The time limit of the test ends a wait in vain. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await systemClock.sleep(50);
}
