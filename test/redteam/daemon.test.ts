import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/runtime/clock.ts';
import { systemRandom } from '../../src/runtime/random.ts';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import { type Sandbox, SANDBOX_TOKEN, startSandbox } from '../../src/sandbox/server.ts';
import { startProgram } from '../cli/running.ts';
import { commit, git, repository, temporaryFolder } from '../source/repositories.ts';
import { HANG_MS } from '../support/hang.ts';
import { faultyFlood, LENIENT, memoryBomb, treeBomb } from './floods.ts';

/** The real daemon, whose thread for the source has a small heap, and commits that are meant to end it. */
const API_TOKEN = 'a-token-that-only-this-test-knows-0123456789';

const SHOP = {
  'app.yaml': `apiVersion: portolan/v1
kind: Application
metadata: { name: shop }
spec: { team: ${demo.team}, region: ${demo.region}, appId: ${demo.appId} }
`,
  'web.yaml': `apiVersion: portolan/v1
kind: Component
metadata: { name: shop-web }
spec:
  application: shop
  serviceId: ${demo.webServiceId}
  ports: [ { port: 8080, protocol: http, alias: WEB, inner: true, outer: true } ]
`,
};

class Daemon {
  readonly folder = temporaryFolder();
  readonly checkout = repository(SHOP);
  readonly sandbox: Sandbox;
  url = '';
  #run: ReturnType<typeof startProgram> | undefined;

  constructor(sandbox: Sandbox) {
    this.sandbox = sandbox;
    writeFileSync(
      join(this.folder, 'portolan.yaml'),
      `apiVersion: portolan/v1
kind: Platform
metadata: { name: default }
spec: { url: "${sandbox.url}", auth: { header: Authorization, value: { env: PORTOLAN_TOKEN } }, dialect: extended }
---
apiVersion: portolan/v1
kind: Settings
spec:
  source: { limits: { heapMib: 64, folders: ${LENIENT.folders}, entries: ${LENIENT.entries} }, interval: 2s }
  controller: { resyncInterval: 1s, pruneAfter: 1s }
  server: { listen: "127.0.0.1:0", tokens: [ { name: test, role: operator, value: { env: API_TOKEN } } ] }
`,
    );
  }

  async start(): Promise<void> {
    const files = ['--config', join(this.folder, 'portolan.yaml'), '--ledger', join(this.folder, 'portolan.db')];
    const run = startProgram(['run', ...files, '-f', this.checkout, '--log-format', 'json'], {
      env: { PORTOLAN_TOKEN: SANDBOX_TOKEN, API_TOKEN },
    });
    this.#run = run;
    onTestFinished(() => void run.child.kill('SIGKILL'));
    await this.until(() => this.log().includes('API at http'));
    this.url = /API at (http:\S+);/.exec(this.log())?.[1] ?? '';
  }

  async kill(): Promise<void> {
    this.#run?.child.kill('SIGKILL');
    await this.#run?.ended;
  }

  log(): string {
    return this.#run?.outputSoFar().err ?? '';
  }

  /** How often the log names an error. */
  times(code: string): number {
    return this.log().split(`"code":"${code}"`).length - 1;
  }

  async ask<T>(path: string, method = 'GET'): Promise<T> {
    const response = await fetch(`${this.url}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${API_TOKEN}` },
    });
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  }

  source() {
    return this.ask<{ source: Source }>('/status').then(({ source }) => source);
  }

  alias(): string | undefined {
    return this.#port()?.alias;
  }

  drift(): void {
    const row = this.#port();
    if (row !== undefined) this.sandbox.alter((state) => state.ports.put({ ...row, alias: 'BY_HAND' }));
  }

  /** Waits, and asks for `/healthz` all the time: each answer must be good. */
  async until(isSo: () => boolean | Promise<boolean>): Promise<void> {
    const deadlineMs = systemClock.monotonic() + HANG_MS;
    while (!(await isSo())) {
      if (systemClock.monotonic() > deadlineMs) throw new Error(`it hangs\n${this.log()}`);
      if (this.url !== '' && !(await fetch(`${this.url}/healthz`)).ok) throw new Error('it does not live');
      await sleep(25);
    }
  }

  #port() {
    return [...this.sandbox.state.ports.all()].find(
      ({ serviceId, port }) => serviceId === demo.webServiceId && port === 8080,
    );
  }
}

interface Source {
  readonly acceptedRevision: string;
  readonly observedRevision: string;
  readonly error: { readonly code: string; readonly message: string; readonly remedy: string } | null;
}

test('hostile commits neither stop the daemon nor what it does, over restarts too', async () => {
  const sandbox = await startSandbox({ clock: systemClock, random: systemRandom });
  onTestFinished(() => sandbox.close());
  const daemon = new Daemon(sandbox);
  const { checkout } = daemon;
  await daemon.start();
  await daemon.until(() => daemon.alias() === 'WEB');
  const accepted = (await daemon.source()).acceptedRevision;
  const sound = git(checkout, 'rev-parse', 'HEAD');

  git(checkout, 'update-ref', 'HEAD', treeBomb(checkout));
  await daemon.until(() => daemon.times('source/too-large') > 0);
  git(checkout, 'update-ref', 'HEAD', sound);
  commit(checkout, Object.fromEntries(faultyFlood(4)));
  await daemon.until(() => daemon.times('source/faulty') > 0);

  git(checkout, 'reset', '--quiet', '--hard', sound);
  const large = memoryBomb(checkout);
  git(checkout, 'update-ref', 'HEAD', large);
  await daemon.until(() => daemon.times('source/out-of-memory') > 0);
  const { error, acceptedRevision } = await daemon.source();
  expect(acceptedRevision).toBe(accepted);
  expect(error?.message).toContain(`Reading HEAD@sha1:${large} took more than 64 MiB of memory.`);
  expect(error?.remedy).toContain('portolan sync');
  // What was accepted before stays in force.
  daemon.drift();
  await daemon.until(() => daemon.alias() === 'WEB');

  await daemon.kill();
  daemon.url = '';
  await daemon.start();
  await daemon.until(
    () => daemon.times('source/out-of-memory') > 0 && daemon.log().includes('1 of 1 application changed'),
  );
  daemon.drift();
  await daemon.until(() => daemon.alias() === 'WEB');
  expect(daemon.times('source/out-of-memory'), 'looked at every 2 s, told once').toBe(1);

  await daemon.ask('/sync', 'POST');
  await daemon.until(() => daemon.times('source/out-of-memory') > 1);

  git(checkout, 'reset', '--quiet', '--hard', sound);
  const next = commit(checkout, { 'web.yaml': SHOP['web.yaml'].replace('alias: WEB', 'alias: SITE') });
  await daemon.until(() => daemon.alias() === 'SITE');
  expect(await daemon.source()).toMatchObject({ acceptedRevision: `HEAD@sha1:${next}`, error: null });
});
