import { portsIn } from '../platform/client-support.ts';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Pool } from 'undici';
import { Secret } from '../../src/model/secret.ts';
import { createRequestBudget } from '../../src/platform/budget.ts';
import { createHttpTransport } from '../../src/platform/http.ts';
import { addressOf } from '../../src/platform/address.ts';
import { createPlatformClient } from '../../src/platform/platform-client.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { silentLog } from '../../src/runtime/log.ts';
import { systemRandom } from '../../src/runtime/random.ts';
import type { Figure } from './figures.ts';
import { fleetApplications, fleetSeed, serviceId } from './fleet.ts';
import { startSandboxProcess, TOKEN } from './processes.ts';

const AT_ONCE = 32;
const REQUESTS = 3_000;
const ROUNDS = 7;
const GOAL = 0.45;
const SIZE = { applications: 1, teams: 1, rulesPerApplication: 0 };

/** Asks for the ports of one component and has them parsed. */
type Ask = (component: string) => Promise<unknown>;

/** What a round came to. */
interface Round {
  readonly perSecond: number;
  readonly processorUs: number;
}

/**
 * How many reads of ports a second one process does: the whole client (turn in the budget, deadline, retry, decoding), its
 * transport alone, and as the floor a bare pool of undici with `JSON.parse`. Same addresses, same body, same number at
 * once, turn by turn in one process that is warm; the server is another process, and cheaper than any of them.
 */
export async function transport(): Promise<readonly Figure[]> {
  const server = fork(fileURLToPath(new URL('bare-server.ts', import.meta.url)));
  try {
    server.send(await portsOfTheSandbox());
    const [port] = (await once(server, 'message')) as [number];
    return await measure(`http://127.0.0.1:${port}`);
  } finally {
    server.disconnect();
  }
}

async function measure(url: string): Promise<readonly Figure[]> {
  const contenders = { pool: barePool(url), http: transportAlone(url), client: wholeClient(url) };
  const rounds: Record<keyof typeof contenders, Round[]> = { pool: [], http: [], client: [] };
  try {
    // The first turn opens the connections, and is what V8 compiles on.
    for (let turn = 0; turn <= ROUNDS; turn += 1) {
      for (const name of ['pool', 'http', 'client'] as const) {
        const round = await roundOf(contenders[name].ask);
        if (turn > 0) rounds[name].push(round);
      }
    }
  } finally {
    for (const { close } of Object.values(contenders)) await close();
  }
  const perSecond = (name: keyof typeof contenders) => rounds[name].map((round) => round.perSecond);
  const processorUs = (name: keyof typeof contenders) => rounds[name].map((round) => round.processorUs);
  const floor = perSecond('pool');
  const cost = processorUs('pool');
  return [
    { name: 'bare undici pool and JSON.parse', unit: 'reads/s', samples: floor },
    { name: 'our transport and JSON.parse', unit: 'reads/s', samples: perSecond('http'), floor },
    {
      name: 'our client: budget, retry, decode, classify',
      unit: 'reads/s',
      samples: perSecond('client'),
      floor,
      goal: {
        text: `≥ ${GOAL} × the bare pool, better 0.60`,
        isMet: ({ ratio }) => ratio !== undefined && ratio >= GOAL,
      },
    },
    { name: 'processor time of a read, bare pool', unit: 'µs', samples: cost },
    { name: 'processor time of a read, our transport', unit: 'µs', samples: processorUs('http'), floor: cost },
    { name: 'processor time of a read, our client', unit: 'µs', samples: processorUs('client'), floor: cost },
  ];
}

/** Each address once, so that no two reads under way are the same one. */
async function roundOf(ask: Ask): Promise<Round> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < REQUESTS) {
      next += 1;
      await ask(serviceId(next, 0));
    }
  };
  const before = process.cpuUsage();
  const began = performance.now();
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  const seconds = (performance.now() - began) / 1000;
  const { user, system } = process.cpuUsage(before);
  return { perSecond: REQUESTS / seconds, processorUs: (user + system) / REQUESTS };
}

interface Contender {
  readonly ask: Ask;
  close(): Promise<void>;
}

const app = { team: 'team-1', region: 'region-1', appId: 1 };

function barePool(url: string): Contender {
  const pool = new Pool(url, { connections: AT_ONCE, pipelining: 1 });
  return {
    ask: async (component) => {
      const { body } = await pool.request({
        path: addressOf(app, undefined, ['services', component, 'ports']),
        method: 'GET',
        headers: { accept: 'application/json', authorization: TOKEN },
      });
      return JSON.parse(await body.text());
    },
    close: () => pool.close(),
  };
}

function transportAlone(url: string): Contender {
  const { send, close } = ourTransport(url);
  return {
    ask: async (component) => {
      const path = addressOf(app, undefined, ['services', component, 'ports']);
      const common = { operation: 'listPorts', method: 'GET', query: {}, isRead: true, timeoutMs: 30_000 } as const;
      return JSON.parse((await send({ ...common, path })).body);
    },
    close,
  };
}

function wholeClient(url: string): Contender {
  const http = ourTransport(url);
  const client = createPlatformClient({
    name: 'bench',
    url,
    transport: http.send,
    clock: systemClock,
    random: systemRandom,
    log: silentLog,
    dialect: 'extended',
    budget: createRequestBudget({ concurrency: AT_ONCE, requestsPerSecond: 1_000_000 }, systemClock),
    limits: { timeoutMs: 30_000 },
    signal: new AbortController().signal,
    onRequest: () => {},
  });
  return {
    ask: async (component) => {
      const ports = await portsIn(client, app, component);
      if (ports?.length !== 4) throw new Error('the component has four ports');
      return ports;
    },
    close: http.close,
  };
}

function ourTransport(url: string) {
  const token = new Secret(TOKEN, 'the bench');
  const auth = { header: 'Authorization', value: () => token };
  return createHttpTransport({ url, auth, connections: AT_ONCE, clock: systemClock });
}

/** The words of a real answer: four ports. */
async function portsOfTheSandbox(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'portolan-bench-'));
  const sandbox = await startSandboxProcess(folder, fleetSeed(SIZE, { withRules: false }));
  try {
    const [application] = fleetApplications(SIZE);
    if (application === undefined) throw new Error('there is an application');
    const path = addressOf({ ...app, appId: application.appId }, undefined, [
      'services',
      application.publicComponent,
      'ports',
    ]);
    const response = await fetch(`${sandbox.url}${path}`, { headers: { authorization: TOKEN } });
    if (!response.ok) throw new Error(`GET ${path}: ${response.status}`);
    return await response.text();
  } finally {
    await sandbox.running.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
