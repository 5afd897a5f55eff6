import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { faultyFlood, largeFiles, treeBomb } from '../redteam/floods.ts';
import { checkout } from './checkout.ts';
import type { Figure } from './figures.ts';
import {
  applicationManifests,
  fleetApplications,
  fleetManifests,
  fleetSeed,
  manyManifests,
  writeFiles,
} from './fleet.ts';
import { git, Running, startSandboxProcess } from './processes.ts';

const API_TOKEN = 'a-token-of-the-bench-0123456789abcdef';
const SMALL = { applications: 5, teams: 20, rulesPerApplication: 2 };
/** Of the plan that a viewer sends: 1.4 MB of manifests. */
const SENT = { applications: 410, teams: 20, rulesPerApplication: 6 };

/**
 * How long one input keeps the daemon's event loop from turning, how slow `/healthz` is meanwhile, and how much memory the
 * process takes: a tree bomb, a flood of faulty files, documents beyond the heap and beyond their number, and sources of 10,000 documents and of 39,000
 * applications.
 */
export async function blocking(): Promise<readonly Figure[]> {
  return [
    ...(await measured('tree bomb', (scene) => failing(scene, treeBomb(scene.source)))),
    ...(await measured('200 faulty files', (scene) => failing(scene, commitOf(scene.source, faultyFlood())))),
    ...(await measured(
      '40,000 documents, beyond the heap',
      (scene) => failing(scene, commitOf(scene.source, new Map(Object.entries(largeFiles(40))))),
      'heapMib: 32',
    )),
    ...(await measured('41,000 documents, beyond their limit', (scene) =>
      failing(scene, commitOf(scene.source, new Map(Object.entries(largeFiles(41))))),
    )),
    ...(await measured('39,000 applications', async ({ source, daemon, measure }) => {
      const all = commitOf(source, new Map(Object.entries(largeFiles(39))));
      await measure();
      git(source, 'update-ref', 'refs/heads/main', all);
      await daemon.says(/39000 of [0-9]+ applications changed/, 300_000);
      await sleep(1_000);
    })),
    ...(await measured('10,000 documents', async ({ source, daemon, measure }) => {
      const all = commitOf(source, fleetManifests(manyManifests));
      await measure();
      git(source, 'update-ref', 'refs/heads/main', all);
      await daemon.says(/[0-9]+ of 1000 applications changed/, 300_000);
      await sleep(1_000);
    })),
  ];
}

/** The same of plans that a viewer sends. */
export async function blockingPlans(): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const [name, files] of plans()) figures.push(...(await plan(name, files)));
  return figures;
}

/** A commit that the daemon must not take. */
async function failing({ source, daemon, measure }: Scene, commit: string): Promise<void> {
  await measure();
  git(source, 'update-ref', 'refs/heads/main', commit);
  await daemon.says(/source\/(?:too-large|faulty|out-of-memory|too-slow)/, 300_000);
}

function plan(name: string, files: ReadonlyMap<string, string>): Promise<readonly Figure[]> {
  return measured(name, async ({ url, measure }) => {
    const body = JSON.stringify({ files: [...files].map(([path, content]) => ({ path, content })) });
    await measure();
    const response = await fetch(`${url}/api/v1/plan`, {
      method: 'POST',
      headers: { authorization: `Bearer ${API_TOKEN}`, 'content-type': 'application/json' },
      body,
    });
    await response.text();
  });
}

/** One application with so many rules that they take 1.4 MB, and as many faults as fit into as much. */
function plans(): readonly (readonly [name: string, files: ReadonlyMap<string, string>])[] {
  const [application] = fleetApplications({ applications: 1, teams: 1, rulesPerApplication: 5_000 });
  if (application === undefined) throw new Error('there is one');
  return [
    ['plan of 1.4 MB, 410 applications', fleetManifests(SENT)],
    ['plan of 1.4 MB, one application', applicationManifests(application)],
    ['plan of 1.4 MB of faults', faultyFlood(6)],
  ];
}

interface Scene {
  readonly source: string;
  readonly daemon: Running;
  readonly url: string;
  /** Called when everything is prepared: what this process does meanwhile must not be measured. */
  measure(): Promise<void>;
}

/** @param limits members of `spec.source.limits` of Settings. */
async function measured(name: string, input: (scene: Scene) => Promise<void>, limits = ''): Promise<readonly Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'portolan-bench-'));
  const sandbox = await startSandboxProcess(folder, fleetSeed(manyManifests, { withRules: true }));
  const tokens = '{ listen: "127.0.0.1:0", tokens: [ { name: bench, role: viewer, value: { env: API_TOKEN } } ] }';
  const settings = `{ source: { limits: { ${limits} } }, server: ${tokens}, scopes: { allow: [ "*/*/*" ] } }`;
  const { source, flags } = checkout(folder, fleetManifests(SMALL), sandbox.url, settings);
  const probe = pathToFileURL(join(import.meta.dirname, 'delay-probe.ts')).href;
  const daemon = new Running(['run', ...flags, '--log-level', 'info'], { API_TOKEN }, [
    `--import=${probe}`,
    ...(process.env['PROF'] ?? '').split(' ').filter(Boolean),
  ]);
  try {
    const [, url = ''] = await daemon.says(/API at (http:\S+);/);
    await daemon.says(/5 of 5 applications changed/);
    await sleep(1_000);
    const over = new AbortController();
    let slowest = Promise.resolve(0);
    let began = 0;
    const measure = async (): Promise<void> => {
      await maxDelay(daemon);
      slowest = slowestHealth(url, over.signal);
      began = performance.now();
    };
    await input({ source, daemon, url, measure });
    const tookMs = performance.now() - began;
    over.abort();
    const healthMs = await slowest;
    const { delayMs, processorMs } = await maxDelay(daemon);
    return [
      { name: `${name}: longest stall of the event loop`, unit: 'ms', samples: [delayMs] },
      {
        name: `${name}: processor time in the longest stall`,
        unit: 'ms',
        samples: [processorMs],
        goal: { text: '≤ 100 ms', isMet: ({ median }) => median <= 100 },
      },
      {
        name: `${name}: slowest /healthz`,
        unit: 'ms',
        samples: [healthMs],
        goal: { text: '≤ 1000 ms', isMet: ({ median }) => median <= 1_000 },
      },
      { name: `${name}: until the daemon answered or said`, unit: 'ms', samples: [tookMs] },
      { name: `${name}: most resident memory`, unit: 'MiB', samples: [peakMib(daemon.pid)] },
    ];
  } finally {
    await daemon.stop();
    await sandbox.running.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A commit of what is there and of these files, that no ref names yet. @returns its id. */
function commitOf(source: string, files: ReadonlyMap<string, string>): string {
  writeFiles(source, files);
  git(source, 'add', '-A');
  return git(source, 'commit-tree', '-p', 'HEAD', '-m', 'input', git(source, 'write-tree').trim()).trim();
}

async function maxDelay(daemon: Running): Promise<{ readonly delayMs: number; readonly processorMs: number }> {
  daemon.err = '';
  daemon.child.kill('SIGUSR2');
  const [, delayMs, processorMs] = await daemon.says(/delay-probe ([0-9.]+) ([0-9.]+) end/, 120_000);
  return { delayMs: Number(delayMs), processorMs: Number(processorMs) };
}

async function slowestHealth(url: string, over: AbortSignal): Promise<number> {
  let slowestMs = 0;
  while (!over.aborted) {
    const began = performance.now();
    // A connection that is reset was answered by nobody: its time counts all the same.
    await fetch(`${url}/healthz`).then(
      (answer) => answer.text(),
      () => {},
    );
    slowestMs = Math.max(slowestMs, performance.now() - began);
    await sleep(25);
  }
  return slowestMs;
}

function peakMib(pid: number): number {
  const [, kib = '0'] = /VmHWM:\s+([0-9]+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kib) / 1024;
}
