import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, BrowserContext } from 'playwright-core';
import type { ControllerEvent, ControllerStatus } from '../../src/model/status.ts';
import type { Seed } from '../../src/sandbox/seed.ts';
import { openBrowser } from '../support/browser.ts';
import { checkout } from './checkout.ts';
import { API_TOKEN } from './daemon-fleet.ts';
import type { BenchOptions, Figure } from './figures.ts';
import { quantile } from './figures.ts';
import { REGION, serviceId, writeFiles } from './fleet.ts';
import {
  git,
  residentBytes,
  Running,
  type SandboxProcess,
  startSandboxProcess,
  threadsProcessorMs,
} from './processes.ts';

const SIZES = [100, 10_000] as const;
const TEAMS = 20;
/** Where there is no disk to wait for: the first round writes ten thousand records. */
const MEMORY = '/dev/shm';
const DEBOUNCE_MS = 100;
/** Requests for the processor time of one answer. */
const ANSWERS = 60;
const LOADS = 10;
const EVENTS = 10;
const COMMITS = 8;
const STREAMS = 50;
const EVENTS_PER_SECOND = 20;

/** The queries of the page: as it opens, sorted otherwise, searched, and filtered. */
const QUERIES = {
  'by state': 'sort=state',
  'by name, page 2 of the filter': 'sort=name&team=team-1&team=team-2',
  'last change first': 'sort=change',
  search: 'sort=state&search=app-77',
} as const;

interface Served {
  readonly url: string;
  readonly source: string;
  readonly daemon: Running;
  readonly sandbox: SandboxProcess;
  ask(path: string, init?: RequestInit): Promise<Response>;
  end(): Promise<void>;
}

/** One component with one port for each application: the cost of lists depends on applications. */
function manifestsOf(applications: number): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  for (let id = 1; id <= applications; id += 1) files.set(`team-${teamOf(id)}/app-${id}.yaml`, manifestOf(id, 'P0'));
  return files;
}

function manifestOf(id: number, alias: string): string {
  return `apiVersion: portolan/v1
kind: Application
metadata: { name: app-${id}, labels: { owner: team-${teamOf(id)}-people, tier: "${id % 3}" } }
spec: { team: team-${teamOf(id)}, region: ${REGION}, appId: ${id} }
---
apiVersion: portolan/v1
kind: Component
metadata: { name: app-${id}-c0 }
spec:
  application: app-${id}
  serviceId: "${serviceId(id, 0)}"
  ports: [{ port: 8080, protocol: http, alias: ${alias}, inner: true, outer: false }]
`;
}

function teamOf(id: number): number {
  return ((id - 1) % TEAMS) + 1;
}

function seedOf(applications: number): Seed {
  const port = { port: 8080, protocol: 'http', alias: 'P0', inner: true, outer: false } as const;
  return {
    enterprise: { id: 'e'.repeat(32) },
    regions: [{ id: '1'.repeat(32), name: REGION }],
    teams: Array.from({ length: TEAMS }, (_, at) => ({
      id: (at + 1).toString(16).padStart(32, '0'),
      name: `team-${at + 1}`,
    })),
    applications: Array.from({ length: applications }, (_, at) => ({
      id: at + 1,
      team: `team-${teamOf(at + 1)}`,
      region: REGION,
      name: `app-${at + 1}`,
      components: [{ id: serviceId(at + 1, 0), name: `app-${at + 1}-c0`, ports: [port] }],
    })),
  };
}

async function startServed(applications: number): Promise<Served> {
  const folder = mkdtempSync(join(existsSync(MEMORY) ? MEMORY : tmpdir(), 'portolan-bench-'));
  const sandbox = await startSandboxProcess(folder, seedOf(applications));
  const tokens = '[{ name: bench, role: admin, value: { env: BENCH_API_TOKEN } }]';
  const server = `{ listen: "127.0.0.1:0", maxStreams: 100, tokens: ${tokens} }`;
  const limits = `{ debounce: ${DEBOUNCE_MS}ms, limits: { documents: 50000 } }`;
  const settings = `{ controller: { concurrency: 32 }, server: ${server}, source: ${limits} }`;
  const { flags, source } = checkout(folder, manifestsOf(applications), sandbox.url, settings);
  const daemon = new Running(['run', ...flags, '--log-format', 'json'], { BENCH_API_TOKEN: API_TOKEN });
  const [, url = ''] = await daemon.says(/(http:\/\/127\.0\.0\.1:\d+)/);
  const ask: Served['ask'] = async (path, init = {}) => {
    const type = init.body === undefined ? {} : { 'content-type': 'application/json' };
    const headers = { authorization: `Bearer ${API_TOKEN}`, ...type };
    const response = await fetch(url + path, { ...init, headers });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response;
  };
  await rests(ask, applications);
  return {
    url,
    source,
    daemon,
    sandbox,
    ask,
    end: async () => {
      await daemon.stop();
      await sandbox.running.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/**
 * What the dashboard costs with 100 and with 10,000 applications: the list of applications for the server, a cold load and an
 * event in Chromium, and what open streams cost the reconciliation.
 */
export async function dashboard({ full }: BenchOptions): Promise<readonly Figure[]> {
  const browser = await openBrowser();
  const figures: Figure[] = [];
  let few: ReadonlyMap<string, readonly number[]> | undefined;
  try {
    for (const size of SIZES) {
      const served = await startServed(size);
      try {
        const lists = await listFigures(served, size, few);
        few ??= new Map(lists.map(({ name, samples }) => [name, samples]));
        figures.push(...lists.map((figure) => ({ ...figure, name: `${size} applications: ${figure.name}` })));
        figures.push(...(await browserFigures(served, size, browser)));
        if (size === SIZES.at(-1)) figures.push(...(await streamFigures(served, full ? 4 * COMMITS : COMMITS)));
      } finally {
        await served.end();
      }
    }
  } finally {
    await browser.close();
  }
  return [...figures, ...ARGO];
}

/** What users of Argo CD report. Nothing of it was measured here. */
const ARGO: readonly Figure[] = [
  { name: 'Argo CD, 8,000 applications: load of the list (argo-cd#9575)', unit: 'ms', samples: [35_000] },
  { name: 'Argo CD, 6,000 applications: the list (argo-cd#28090)', unit: 'KiB', samples: [187_000_000 / 1024] },
];

/** Processor time of the whole process for one answer, in groups of ten: the kernel counts time in slices. */
async function listFigures(
  served: Served,
  size: number,
  few: ReadonlyMap<string, readonly number[]> | undefined,
): Promise<readonly Figure[]> {
  const { ask, daemon } = served;
  const figures: Figure[] = [];
  for (const [name, query] of Object.entries(QUERIES)) {
    const path = `/api/v1/applications?view=row&facets=true&limit=50&${query}`;
    const bytes = (await (await ask(path)).arrayBuffer()).byteLength;
    const samples: number[] = [];
    for (let group = 0; group < ANSWERS / 10; group += 1) {
      const beforeMs = threadsProcessorMs(daemon.pid);
      for (let answer = 0; answer < 10; answer += 1) await (await ask(path)).arrayBuffer();
      samples.push((threadsProcessorMs(daemon.pid) - beforeMs) / 10);
    }
    const cpu = `list ${name}, processor time`;
    const floor = few?.get(cpu);
    figures.push({
      name: cpu,
      unit: 'ms',
      samples,
      ...(floor === undefined ? {} : { floor }),
      goal: { text: '≤ 20 ms', isMet: ({ median }) => median <= 20 },
    });
    figures.push({
      name: `list ${name}, bytes`,
      unit: 'KiB',
      samples: [bytes / 1024],
      goal: { text: '≤ 30 KiB', isMet: ({ max }) => max <= 30 },
    });
  }
  return [...figures, await firstList(served, size)];
}

/** The first list after a sync of all: each application has a new status, so every row is derived again. */
async function firstList({ ask, daemon }: Served, size: number): Promise<Figure> {
  const samples: number[] = [];
  for (let time = 0; time < 3; time += 1) {
    await ask('/api/v1/sync', { method: 'POST' });
    await sleep(500);
    await rests(ask, size);
    const beforeMs = threadsProcessorMs(daemon.pid);
    await (await ask('/api/v1/applications?view=row&facets=true&limit=50&sort=state')).arrayBuffer();
    samples.push(threadsProcessorMs(daemon.pid) - beforeMs);
  }
  return { name: 'the first list after a sync of all, processor time', unit: 'ms', samples };
}

async function rests(ask: Served['ask'], applications: number): Promise<void> {
  for (;;) {
    const { counts } = (await (await ask('/api/v1/status')).json()) as ControllerStatus;
    if (counts.ready === applications && counts.queued + counts.running === 0) return;
    await sleep(200);
  }
}

async function browserFigures({ url, ask }: Served, size: number, browser: Browser): Promise<readonly Figure[]> {
  const loads: number[] = [];
  const sizes: number[] = [];
  for (let load = 0; load < LOADS; load += 1) {
    const context = await signedIn(browser, url);
    const page = await context.newPage();
    const answers: Promise<number>[] = [];
    page.on('response', (response) => {
      if (!/\.(?:js|css)$/.test(new URL(response.url()).pathname)) return;
      answers.push(response.finished().then(async () => (await response.request().sizes()).responseBodySize));
    });
    const beganMs = performance.now();
    await page.goto(`${url}/applications`, { waitUntil: 'commit' });
    await page.locator('tbody tr').nth(49).waitFor();
    loads.push(performance.now() - beganMs);
    sizes.push((await Promise.all(answers)).reduce((sum, bytes) => sum + bytes, 0) / 1024);
    await context.close();
  }
  const context = await signedIn(browser, url);
  const page = await context.newPage();
  await page.goto(`${url}/applications?q=app-77&sort=name`);
  await page.getByText('Live', { exact: true }).waitFor();
  await page.locator('tbody tr').first().waitFor();
  const updates: number[] = [];
  for (let event = 0; event < EVENTS; event += 1) {
    await sleep(1_500);
    const body = JSON.stringify({ reason: 'a bench' });
    await ask('/api/v1/applications/app-77/suspend', { method: 'POST', body });
    await page.locator('tbody tr').first().locator('.badge.paused').waitFor();
    const seenMs = Date.now();
    const { items } = (await (await ask('/api/v1/events?limit=20&application=app-77')).json()) as {
      readonly items: readonly ControllerEvent[];
    };
    const suspended = items.find(({ type }) => type === 'application.suspended');
    updates.push(seenMs - (suspended?.atMs ?? Number.NaN));
    await sleep(1_500);
    await ask('/api/v1/applications/app-77/resume', { method: 'POST' });
  }
  await context.close();
  return [
    {
      name: `${size} applications: cold load to 50 rows in Chromium`,
      unit: 'ms',
      samples: loads,
      goal: { text: '≤ 1,000 ms', isMet: ({ median }) => median <= 1_000 },
    },
    {
      name: `${size} applications: JavaScript and CSS of that load, compressed`,
      unit: 'KiB',
      samples: sizes,
      goal: { text: '≤ 60 KiB', isMet: ({ max }) => max <= 60 },
    },
    {
      name: `${size} applications: event → row on the screen`,
      unit: 'ms',
      samples: updates,
      goal: { text: '≤ 250 ms', isMet: ({ median }) => median <= 250 },
    },
  ];
}

async function signedIn(browser: Browser, url: string): Promise<BrowserContext> {
  const context = await browser.newContext();
  const headers = { origin: url, 'sec-fetch-site': 'same-origin' };
  const response = await context.request.post(`${url}/api/v1/session`, { headers, data: { token: API_TOKEN } });
  if (!response.ok()) throw new Error(`no session: ${response.status()} ${await response.text()}`);
  return context;
}

/** A commit's first write while applications are suspended and resumed all the time: turn by turn with and without readers. */
async function streamFigures(served: Served, commits: number): Promise<readonly Figure[]> {
  const { daemon } = served;
  const alone: number[] = [];
  const read: number[] = [];
  const growth: number[] = [];
  let received = 0;
  let id = 100;
  const stop = startEvents(served);
  try {
    const commit = async (): Promise<number> => {
      id += 1;
      return firstWriteMs(served, id);
    };
    for (let warmUp = 0; warmUp < 3; warmUp += 1) await commit();
    for (let turn = 0; turn < commits; turn += 1) {
      alone.push(await commit());
      const beforeBytes = residentBytes(daemon.pid);
      const streams = openStreams(served);
      await sleep(3_000);
      read.push(await commit());
      growth.push((residentBytes(daemon.pid) - beforeBytes) / 2 ** 20);
      received += await streams.close();
    }
  } finally {
    await stop();
  }
  const base = quantile(alone, 0.5);
  return [
    {
      name: `${STREAMS} streams, ${EVENTS_PER_SECOND} events/s: commit → first write, floor without streams`,
      unit: 'ms',
      samples: read,
      floor: alone,
      goal: { text: 'later by ≤ 50 ms', isMet: ({ median }) => median - base <= 50 },
    },
    {
      name: `${STREAMS} streams: memory of the server, more by`,
      unit: 'MiB',
      samples: growth,
      goal: { text: 'median ≤ 32 MiB', isMet: ({ median }) => median <= 32 },
    },
    { name: `${STREAMS} streams: events received`, unit: '', samples: [received] },
  ];
}

/** Suspends and resumes applications, each an event. @returns a function that ends that. */
function startEvents({ ask }: Served): () => Promise<void> {
  let isOver = false;
  const body = JSON.stringify({ reason: 'a bench' });
  const running = (async () => {
    for (let at = 0; !isOver; at += 1) {
      const path = `/api/v1/applications/app-${1 + (Math.floor(at / 2) % 50)}`;
      const isSuspend = at % 2 === 0;
      void ask(`${path}/${isSuspend ? 'suspend' : 'resume'}`, { method: 'POST', ...(isSuspend ? { body } : {}) });
      await sleep(1_000 / EVENTS_PER_SECOND);
    }
  })();
  return async () => {
    isOver = true;
    await running;
  };
}

/** Opens streams that are read all the time. @returns a function that closes them, and says how many events they received. */
function openStreams({ ask }: Served) {
  const stop = new AbortController();
  let events = 0;
  const readings = Array.from({ length: STREAMS }, async () => {
    try {
      const response = await ask('/api/v1/events/stream', { signal: stop.signal });
      const decoder = new TextDecoder();
      for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>)
        events += decoder.decode(chunk).split('\ndata:').length - 1;
    } catch (error) {
      if (!stop.signal.aborted) throw error;
    }
  });
  return {
    close: async (): Promise<number> => {
      stop.abort();
      await Promise.all(readings);
      return events;
    },
  };
}

/** Time from a commit to its first write, without the debounce. */
async function firstWriteMs({ source, sandbox }: Served, id: number): Promise<number> {
  await sandbox.requests();
  writeFiles(source, new Map([[`team-${teamOf(id)}/app-${id}.yaml`, manifestOf(id, `Q${id}`)]]));
  git(source, 'commit', '-qam', `commit ${id}`);
  const committedMs = Date.now();
  for (const untilMs = committedMs + 60_000; Date.now() < untilMs; await sleep(20)) {
    const write = (await sandbox.requests()).find((request) => request.isWrite);
    if (write !== undefined) return write.atMs - committedMs - DEBOUNCE_MS;
  }
  throw new Error('no write came within a minute of the commit');
}
