import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Surroundings } from '../../src/cli/session/command.ts';
import { defaultTiming } from '../../src/reconcile/apply/world.ts';
import { type BootTime, type Clock, systemClock } from '../../src/runtime/clock.ts';
import { systemRandom } from '../../src/runtime/random.ts';
import { demo } from '../../src/sandbox/seeds/demo.ts';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/server.ts';
import type { PortRow } from '../../src/sandbox/state.ts';
import { HANG_MS } from '../support/hang.ts';
import { projectRoot, type Run, runHere } from './running.ts';

/** A small part of the time within which a write must leave. */
const STEP_MS = defaultTiming.sendWithinMs / 20;

/** Real time that can be pushed forward, so that a settle window of minutes is over at once. */
export class PushedClock implements Clock {
  #aheadMs = 0;

  now(): number {
    return systemClock.now() + this.#aheadMs;
  }

  monotonic(): number {
    return systemClock.monotonic() + this.#aheadMs;
  }

  sinceBoot(): BootTime {
    const { boot, uptimeMs } = systemClock.sinceBoot();
    return { boot, uptimeMs: uptimeMs + this.#aheadMs };
  }

  push(ms: number): void {
    this.#aheadMs += ms;
  }

  /**
   * What is waited for passes quickly; limits, which are longer and always ended, take their time. It passes step by
   * step: time that leapt would overtake a write of another application between its intent and its sending.
   */
  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (ms >= 10_000) return systemClock.sleep(ms, signal);
    const untilMs = this.monotonic() + ms;
    do {
      await systemClock.sleep(1, signal);
      this.push(Math.max(0, Math.min(STEP_MS, Math.ceil(untilMs - this.monotonic()))));
    } while (this.monotonic() < untilMs);
  }

  /** The same time, for a platform: its latencies are real. */
  unhurried(): Clock {
    return {
      now: () => this.now(),
      monotonic: () => this.monotonic(),
      sinceBoot: () => this.sinceBoot(),
      sleep: (ms, signal) => systemClock.sleep(ms, signal),
    };
  }
}

export interface SceneSettings {
  readonly dialect?: 'documented' | 'extended';
  /** What the configuration says; by default what the sandbox speaks. */
  readonly configuredDialect?: 'auto' | 'documented' | 'extended';
  /** YAML of `spec` of the Settings document. */
  readonly settings?: string;
  readonly sandbox?: Partial<SandboxOptions>;
  /** File name → YAML; by default a copy of `examples/`. */
  readonly manifests?: Readonly<Record<string, string>>;
  readonly token?: string;
  readonly storeKey?: string;
  /** false: `plan` and `apply` do not confirm the first install into the applications of the demo. */
  readonly confirmsInstalls?: boolean;
}

/** A sandbox, a folder with configuration, manifests and ledger, and command lines run on them. */
export interface Scene {
  readonly folder: string;
  readonly sandbox: Sandbox;
  readonly clock: PushedClock;
  readonly env: Readonly<Record<string, string>>;
  /** Options that every command of the scene has: manifests, configuration, ledger. */
  readonly options: readonly string[];
  readonly ledgerFile: string;
  /** Runs a command in this process; `apply` goes on without a question. */
  run(command: 'plan' | 'apply' | 'status', args?: readonly string[], changes?: Partial<Surroundings>): Promise<Run>;
  /** Runs any other command on the scene's ledger. */
  portolan(args: readonly string[]): Promise<Run>;
  /** Writes a manifest, or takes it away. */
  write(name: string, yaml: string | undefined): void;
  configure(changes: Pick<SceneSettings, 'settings' | 'configuredDialect'> & { readonly url?: string }): void;
  /** Requests since the last call, as `write createRule` and `read listPorts`, and forgets them. */
  traffic(): Traffic;
  port(serviceId: string, port: number): PortRow | undefined;
  /** Changes a port as a stranger would. */
  alterPort(serviceId: string, port: number, changes: Partial<PortRow>): void;
}

export interface Traffic {
  readonly writes: readonly string[];
  readonly reads: readonly string[];
}

/** A scene for one test; everything of it is gone when the test ends. */
export async function setScene(settings: SceneSettings = {}): Promise<Scene> {
  const folder = mkdtempSync(join(tmpdir(), 'portolan-scene-'));
  const clock = new PushedClock();
  const { dialect = 'extended', token = 'sandbox-token', storeKey = 'demo-store-key' } = settings;
  const sandbox = await startSandbox({
    clock: clock.unhurried(),
    random: systemRandom,
    dialect,
    token,
    ...settings.sandbox,
  });
  onTestFinished(async () => {
    await sandbox.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const manifests = join(folder, 'manifests');
  const write = (name: string, yaml: string | undefined): void => {
    const file = join(manifests, name);
    mkdirSync(dirname(file), { recursive: true });
    if (yaml === undefined) rmSync(file);
    else writeFileSync(file, yaml);
  };
  mkdirSync(manifests);
  if (settings.manifests === undefined) {
    for (const name of ['shop', 'blog'])
      cpSync(join(projectRoot, 'examples', name), join(manifests, name), { recursive: true });
  } else for (const [name, yaml] of Object.entries(settings.manifests)) write(name, yaml);

  const config = join(folder, 'portolan.yaml');
  const configure: Scene['configure'] = (changes) =>
    writeFileSync(
      config,
      configuration(
        changes.url ?? sandbox.url,
        changes.configuredDialect ?? settings.configuredDialect ?? dialect,
        changes.settings ?? settings.settings ?? '{}',
      ),
    );
  configure({});
  const ledgerFile = join(folder, 'portolan.db');
  const env = { PORTOLAN_TOKEN: token, STORE_ACCESS_KEY: storeKey, USER: 'tester' };
  const options = ['-f', manifests, '--config', config];
  const ports = (serviceId: string, port: number): PortRow | undefined =>
    [...sandbox.state.ports.all()].find((row) => row.serviceId === serviceId && row.port === port);
  return {
    folder,
    sandbox,
    clock,
    env,
    options,
    ledgerFile,
    write,
    configure,
    port: ports,
    run: (command, args = [], changes = {}) => {
      const ledger = args.includes('--ledger') ? [] : ['--ledger', ledgerFile];
      const yes = command === 'apply' && !args.includes('--dry-run') ? ['--yes'] : [];
      const confirmed = settings.confirmsInstalls === false || command === 'status' ? [] : FIRST_INSTALLS;
      const named = args.includes('-f') ? ['--config', config] : options;
      return runHere([command, ...named, ...ledger, ...yes, ...confirmed, ...args], { env, clock, ...changes });
    },
    portolan: (args) => runHere([...args, '--ledger', ledgerFile], { env, clock }),
    traffic: () => {
      const entries = sandbox.requests();
      const label = (entry: (typeof entries)[number]): string =>
        entry.operation === 'unknown' ? `${entry.method} ${entry.path}` : entry.operation;
      const traffic = {
        writes: entries.filter((entry) => entry.isWrite).map(label),
        reads: entries.filter((entry) => !entry.isWrite).map(label),
      };
      sandbox.clearRequests();
      return traffic;
    },
    alterPort: (serviceId, port, changes) => {
      const row = ports(serviceId, port);
      if (row === undefined) throw new Error(`the sandbox has no port ${port} of ${serviceId}`);
      sandbox.alter((state) => state.ports.put({ ...row, ...changes }));
    },
  };
}

const FIRST_INSTALLS = [demo.appId, demo.appId + 1].flatMap((appId) => [
  '--first-install',
  `default/${demo.team}/${demo.region}/${appId}`,
]);

function configuration(url: string, dialect: string, settings: string): string {
  return `apiVersion: portolan/v1
kind: Platform
metadata: { name: default }
spec:
  url: ${url}
  auth: { header: Authorization, value: { env: PORTOLAN_TOKEN } }
  dialect: ${dialect}
  limits: { requestsPerSecond: 1000 }
---
apiVersion: portolan/v1
kind: Store
metadata: { name: main }
spec: { url: "${demo.storeUrl}", domain: ${demo.storeDomain}, type: ${demo.storeType}, accessKey: { env: STORE_ACCESS_KEY } }
---
apiVersion: portolan/v1
kind: Settings
spec: ${settings}
`;
}

/** Longer than the settle window of every write to a port or rule. */
export const SETTLED_MS = 600_000;

/** The platform does a write, and its answer never arrives: the next of the operation, or the one after so many others. */
export function loseAnswer({ sandbox }: Scene, operation: string, skip = 0): void {
  sandbox.setFaults([{ operation, skip, times: 1, fault: { type: 'drop', when: 'after' } }]);
}

/** The application `shop` of the demo with nothing but the given documents. */
export function shop(...documents: readonly string[]): string {
  return [SHOP, ...documents].join('---\n');
}

export const SHOP = `apiVersion: portolan/v1
kind: Application
metadata: { name: shop }
spec: { team: ${demo.team}, region: ${demo.region}, appId: ${demo.appId} }
`;

/** The component `shop-web` with the given lines of its spec. */
export function web(spec: string, metadata = ''): string {
  return `apiVersion: portolan/v1
kind: Component
metadata: { name: shop-web${metadata === '' ? '' : `, ${metadata}`} }
spec:
  application: shop
  serviceId: ${demo.webServiceId}
${spec.replace(/^/gm, '  ')}
`;
}

/** Ports of `shop-web`: one that is there and published, one to be added. */
export const PORTS = `ports:
  - { port: 8080, protocol: http, alias: WEB, inner: true, outer: true }
  - { port: 9000, protocol: grpc, alias: RPC, inner: true, outer: false }`;

/** A rule of port 8080 of `shop-web`. */
export function rule(name: string, domain: string, extra = '', metadata = ''): string {
  return `apiVersion: portolan/v1
kind: HttpGatewayRule
metadata: { name: ${name}${metadata === '' ? '' : `, ${metadata}`} }
spec:
  application: shop
  component: shop-web
  port: 8080
  domain: ${domain}
${extra.replace(/^(?=.)/gm, '  ')}
`;
}

/** An install of the demo's database. */
export function install(name: string, extra = '', metadata = ''): string {
  return `apiVersion: portolan/v1
kind: StoreInstall
metadata: { name: ${name}${metadata === '' ? '' : `, ${metadata}`} }
spec: { application: shop, store: main, model: { id: "${demo.mysqlModelId}", version: "8.0.36" }, build: true${extra} }
`;
}

/** Waits for something that is sure to come. */
export async function until(condition: () => boolean): Promise<void> {
  const deadlineMs = systemClock.monotonic() + HANG_MS;
  while (!condition()) {
    if (systemClock.monotonic() > deadlineMs) throw new Error('it hangs');
    await systemClock.sleep(2);
  }
}
