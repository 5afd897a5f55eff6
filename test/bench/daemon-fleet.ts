import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ControllerStatus } from '../../src/model/status.ts';
import { requestFloor } from '../support/request-floor.ts';
import type { BenchOptions, Figure } from './figures.ts';
import { checkout } from './checkout.ts';
import {
  COMPONENTS_PER_APPLICATION,
  fleetManifests,
  type FleetSize,
  fleetSeed,
  large,
  manyManifests,
  reference,
  writeFiles,
} from './fleet.ts';
import {
  git,
  portolan,
  processorMs,
  residentBytes,
  Running,
  type SandboxProcess,
  startSandboxProcess,
} from './processes.ts';

export const API_TOKEN = 'bench-api-token-of-32-characters';
const IDLE_MS = 60_000;
/** The longest time that a fleet may need to be in sync. */
const REST_MS = 600_000;

/** A daemon that has found a fleet in sync, with its platform and its API. */
interface Daemon {
  readonly folder: string;
  readonly source: string;
  readonly sandbox: SandboxProcess;
  readonly running: Running;
  /** Of its API, without a slash at the end. */
  readonly url: string;
  status(): Promise<ControllerStatus>;
  syncAll(): Promise<void>;
  /** Until all are ready and nothing is under way. */
  rests(): Promise<void>;
  end(): Promise<void>;
}

/** Calls the API of a daemon that knows `API_TOKEN`. @throws Error when it does not answer with success. */
export async function callApi(url: string, method: string, path: string): Promise<Response> {
  // A connection of its own: the server may end an idle one just when it would be used again.
  const headers = { authorization: `Bearer ${API_TOKEN}`, connection: 'close' };
  const response = await fetch(`${url}/api/v1/${path}`, { method, headers });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return response;
}

/** @param more settings beside those of controller and server, as YAML in flow style. */
export async function startDaemon(size: FleetSize, more = ''): Promise<Daemon> {
  const folder = mkdtempSync(join(tmpdir(), 'portolan-bench-'));
  const sandbox = await startSandboxProcess(folder, fleetSeed(size, { withRules: true }));
  const server = '{ listen: "127.0.0.1:0", tokens: [{ name: bench, role: admin, value: { env: BENCH_API_TOKEN } }] }';
  const settings = `{ controller: { concurrency: 32 }, server: ${server}${more} }`;
  const { source, flags } = checkout(folder, fleetManifests(size), sandbox.url, settings);
  await portolan(['apply', ...flags, '--yes', '--adopt', '--parallelism', '32']);
  const running = new Running(['run', ...flags, '--log-format', 'json'], { BENCH_API_TOKEN: API_TOKEN });
  const [, url = ''] = await running.says(/(http:\/\/127\.0\.0\.1:\d+)/);
  const call = (method: string, path: string): Promise<Response> => callApi(url, method, path);
  const status = async (): Promise<ControllerStatus> =>
    (await (await call('GET', 'status')).json()) as ControllerStatus;
  return {
    folder,
    source,
    sandbox,
    running,
    url,
    status,
    syncAll: async () => void (await call('POST', 'sync')),
    rests: async () => {
      for (const untilMs = performance.now() + REST_MS; performance.now() < untilMs; await sleep(50)) {
        const { counts, phase } = await status();
        const isIdle = counts.queued === 0 && counts.running === 0;
        if (
          phase === 'running' &&
          isIdle &&
          counts.applications === size.applications &&
          counts.ready === size.applications
        )
          return;
      }
      throw new Error(
        `the daemon never came to rest: ${JSON.stringify((await status()).counts)}\n${running.err.slice(-2000)}`,
      );
    },
    end: async () => {
      await running.stop();
      await sandbox.running.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/**
 * A round over 1,000 applications in sync: requests against the floor, memory, and what it costs to do nothing. With
 * `--full`, the same over 10,000.
 */
export async function daemonFleet({ full }: BenchOptions): Promise<readonly Figure[]> {
  const usual = await roundOver(reference, '', { residentMib: 200, idlePercent: 1 });
  if (!full) return usual;
  // More documents than a daemon takes by default.
  const limits = ', source: { limits: { documents: 100000, heapMib: 1024, timeout: 10m } }';
  return [...usual, ...(await roundOver(large, limits, { residentMib: 400, idlePercent: 1 }))];
}

async function roundOver(
  size: FleetSize,
  settings: string,
  goals: { readonly residentMib: number; readonly idlePercent: number },
): Promise<readonly Figure[]> {
  const daemon = await startDaemon(size, settings);
  const count = size.applications.toLocaleString('en');
  try {
    await daemon.rests();
    await daemon.sandbox.requests();
    const began = performance.now();
    await daemon.syncAll();
    await sleep(500);
    await daemon.rests();
    const tookMs = performance.now() - began;
    const requests = await daemon.sandbox.requests();
    const floor = Object.values(
      requestFloor('extended', {
        platform: 1,
        'team and region': size.teams,
        application: size.applications,
        component: size.applications * COMPONENTS_PER_APPLICATION,
      }),
    ).reduce((sum, expected) => sum + expected, 0);
    const resident = residentBytes(daemon.running.pid) / 2 ** 20;
    const beforeMs = processorMs(daemon.running.pid);
    await sleep(IDLE_MS);
    const idleShare = (100 * (processorMs(daemon.running.pid) - beforeMs)) / IDLE_MS;
    const { residentMib, idlePercent } = goals;
    return [
      {
        name: `requests of a round over ${count} applications in sync`,
        unit: '',
        samples: [requests.length],
        floor: [floor],
        goal: { text: '1.00 × the floor', isMet: ({ ratio }) => ratio === 1 },
      },
      { name: `${count} applications: its time`, unit: 's', samples: [tookMs / 1000] },
      {
        name: `${count} applications: resident memory after it`,
        unit: 'MiB',
        samples: [resident],
        goal: { text: `< ${residentMib} MiB`, isMet: ({ max }) => max < residentMib },
      },
      {
        name: `${count} applications: processor while idle, over ${IDLE_MS / 1000} s`,
        unit: '% of a core',
        samples: [idleShare],
        goal: { text: `< ${idlePercent} %`, isMet: ({ max }) => max < idlePercent },
      },
    ];
  } finally {
    await daemon.end();
  }
}

/** One file of 10,000 changes: which applications are asked for, and what is read of the source. */
export async function oneFileOfMany(): Promise<readonly Figure[]> {
  const daemon = await startDaemon(manyManifests);
  try {
    await daemon.rests();
    await daemon.sandbox.requests();
    const file = 'team-1/app-1/component-app-1-c2.yaml';
    const text = fleetManifests(manyManifests).get(file);
    if (text === undefined) throw new Error(`the fleet has no ${file}`);
    writeFiles(daemon.source, new Map([[file, text.replaceAll('"P20"', '"Q20"')]]));
    git(daemon.source, 'commit', '-qam', 'one file');
    await sleep(3_000);
    await daemon.rests();
    const requests = await daemon.sandbox.requests();
    const others = requests.filter(({ path }) => /\/apps\/\d+/.test(path) && !/\/apps\/1(?:\/|$)/.test(path));
    return [
      {
        name: 'requests for other applications after one file of 10,000 changed',
        unit: '',
        samples: [others.length],
        goal: { text: '0', isMet: ({ max }) => max === 0 },
      },
      {
        name: 'writes after it',
        unit: '',
        samples: [requests.filter((request) => request.isWrite).length],
        goal: { text: '1', isMet: ({ max }) => max === 1 },
      },
    ];
  } finally {
    await daemon.end();
  }
}
