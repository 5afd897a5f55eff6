import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { systemClock } from '../../src/runtime/clock.ts';
import { systemRandom } from '../../src/runtime/random.ts';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import { type Sandbox, SANDBOX_TOKEN, type SandboxOptions, startSandbox } from '../../src/sandbox/server.ts';
import { startProgram } from '../cli/running.ts';
import { repository, temporaryFolder } from '../source/repositories.ts';
import { HANG_MS } from '../support/hang.ts';

/** The real program over a real checkout, against a real sandbox: one daemon at a time, all of it gone with the test. */
export const API_TOKEN = 'a-token-that-only-this-test-knows-0123456789';
export const ENV = { PORTOLAN_TOKEN: SANDBOX_TOKEN, API_TOKEN };

export const APPLICATION = `apiVersion: portolan/v1
kind: Application
metadata: { name: shop }
spec: { team: ${demo.team}, region: ${demo.region}, appId: ${demo.appId} }
`;

export const web = (alias: string, annotations = '') => `apiVersion: portolan/v1
kind: Component
metadata: { name: shop-web${annotations === '' ? '' : `, annotations: { ${annotations} }`} }
spec:
  application: shop
  serviceId: ${demo.webServiceId}
  ports: [ { port: 8080, protocol: http, alias: ${alias}, inner: true, outer: true } ]
`;

export const rules = (count: number): string =>
  Array.from(
    { length: count },
    (_, index) => `apiVersion: portolan/v1
kind: HttpGatewayRule
metadata: { name: rule-${index} }
spec: { application: shop, component: shop-web, port: 8080, domain: r${index}.example.com }
`,
  ).join('---\n');

export const FILES = { 'app.yaml': APPLICATION, 'web.yaml': web('WEB'), 'rules.yaml': rules(2) };

export class Place {
  readonly folder = temporaryFolder();
  readonly checkout = repository(FILES);
  /** A file, or the URL of a database. */
  ledger = join(this.folder, 'portolan.db');
  readonly config = join(this.folder, 'portolan.yaml');
  readonly sandbox: Sandbox;

  constructor(sandbox: Sandbox) {
    this.sandbox = sandbox;
    this.configure(sandbox.url);
  }

  /** Writes the configuration, for a platform at this address. */
  configure(platformUrl: string): void {
    writeFileSync(
      this.config,
      `apiVersion: portolan/v1
kind: Platform
metadata: { name: default }
spec: { url: "${platformUrl}", auth: { header: Authorization, value: { env: PORTOLAN_TOKEN } }, dialect: extended, limits: { requestsPerSecond: 1000 } }
---
apiVersion: portolan/v1
kind: Settings
spec:
  settle: { targetState: 2s, creation: 2s, install: 2s }
  controller: { resyncInterval: 1s, pruneAfter: 1s, drainTimeout: 20s }
  server: { listen: "127.0.0.1:0", tokens: [ { name: test, role: admin, value: { env: API_TOKEN } } ] }
`,
    );
  }

  /** @param program by default the program as it is shipped */
  async daemon(program?: string, env: Readonly<Record<string, string>> = ENV) {
    const run = startProgram(
      ['run', '--config', this.config, '-f', this.checkout, '--ledger', this.ledger, '--log-format', 'json'],
      { env, ...(program === undefined ? {} : { program }) },
    );
    onTestFinished(() => void run.child.kill('SIGKILL'));
    const url = (): string | undefined => /API at (http:\S+);/.exec(run.outputSoFar().err)?.[1];
    await until(
      () => url() !== undefined,
      () => run.outputSoFar().err,
    );
    return { ...run, url: url() ?? '' };
  }

  port() {
    const row = [...this.sandbox.state.ports.all()].find(
      ({ serviceId, port }) => serviceId === demo.webServiceId && port === 8080,
    );
    if (row === undefined) throw new Error('the sandbox has no such port');
    return row;
  }

  alterPort(alias: string): void {
    const row = this.port();
    this.sandbox.alter((state) => state.ports.put({ ...row, alias }));
  }

  domains(): readonly string[] {
    return [...this.sandbox.state.rules.all()]
      .filter(({ type }) => type === 1)
      .map(({ domain }) => domain)
      .sort();
  }

  writes(): number {
    return this.sandbox.requests().filter(({ isWrite }) => isWrite).length;
  }
}

export async function placed(options: Partial<SandboxOptions> = {}): Promise<Place> {
  const sandbox = await startSandbox({ clock: systemClock, random: systemRandom, ...options });
  onTestFinished(() => sandbox.close());
  return new Place(sandbox);
}

export async function until(isSo: () => boolean | Promise<boolean>, otherwise: () => string = () => ''): Promise<void> {
  const deadlineMs = systemClock.monotonic() + HANG_MS;
  while (!(await isSo())) {
    if (systemClock.monotonic() > deadlineMs) throw new Error(`it hangs\n${otherwise()}`);
    // Each question costs the daemon processor time: more often would be slower.
    await sleep(50);
  }
}

export async function ask<T>(url: string, path: string): Promise<T> {
  const response = await fetch(`${url}/api/v1${path}`, { headers: { authorization: `Bearer ${API_TOKEN}` } });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}

export async function readiness(url: string): Promise<string> {
  // Nothing is known of an application before the source was read once.
  const { phase } = await ask<{ phase: string }>(url, '/status');
  if (phase === 'starting') return phase;
  const { conditions } = await ask<{ conditions: { type: string; status: string; reason: string }[] }>(
    url,
    '/applications/shop',
  );
  const ready = conditions.find(({ type }) => type === 'Ready');
  return `${ready?.status} ${ready?.reason}`;
}
