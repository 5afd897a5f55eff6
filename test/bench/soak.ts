/**
 * `npm run soak`: the daemon at a resync of one second, over a platform where one request in a hundred fails, for an
 * hour. What must stay flat is sampled; ends with 1 when it does not.
 *
 *   --minutes N        how long (default 60)
 *   --warm-up N        minutes that are not looked at (default a third)
 */
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { checkout } from './checkout.ts';
import { fleetManifests, fleetSeed } from './fleet.ts';
import type { HeapShares } from './heap-probe.ts';
import {
  openHandles,
  processorMs,
  residentParts,
  Running,
  type SandboxProcess,
  startSandboxProcess,
} from './processes.ts';

/** So many that V8 is done with compiling what is hot within the warm-up: with ten it goes on for an hour and a half. */
const SIZE = { applications: 40, teams: 2, rulesPerApplication: 2 };
/** One pass over one application each second. */
export const ROUNDS_PER_HOUR = SIZE.applications * 3_600;
/** Each sample collects the whole heap; more often than this, V8 would drop code that runs and compile it again for ever. */
const SAMPLE_EVERY_MS = 60_000;
/** A run of minutes needs more of them. */
const SAMPLES_MIN = 24;
/** Looks at the resident size for each sample. */
const LOOKS = 12;
const CONVERGED_MS_MAX = 60_000;
const KIBIBYTES_PER_HOUR_MAX = 1024;
const HANDLES_PER_HOUR_MAX = 2;

/** One look at the daemon. */
export interface Sample extends HeapShares {
  readonly atMs: number;
  /** The least since the sample before: what garbage that waits for its collection adds comes and goes. */
  readonly residentBytes: number;
  readonly residentMostBytes: number;
  /** Of the resident size at the sample, pages of files. */
  readonly fileBytes: number;
  readonly handles: number;
  readonly writes: number;
  readonly requests: number;
  readonly processorMs: number;
}

export interface SoakReport {
  readonly samples: readonly Sample[];
  /** All slopes are of what was sampled after the warm-up, by the line of least squares. */
  readonly residentSlopeKiBPerHour: number;
  readonly residentMostSlopeKiBPerHour: number;
  readonly objectSlopeKiBPerHour: number;
  readonly codeSlopeKiBPerHour: number;
  /** Fewest and most: the sockets of a pool come and go. */
  readonly handles: readonly [number, number];
  readonly handlesPerHour: number;
  /** Everything is as wished from the start. */
  readonly writes: number;
  readonly requests: number;
  readonly faults: number;
}

export async function soak(minutes: number, warmUpMinutes: number, say: (text: string) => void): Promise<SoakReport> {
  const folder = mkdtempSync(join(tmpdir(), 'portolan-soak-'));
  const sandbox = await startSandboxProcess(folder, fleetSeed(SIZE, { withRules: false }));
  const settings = '{ controller: { resyncInterval: 1s }, prune: { maxShare: 1 }, server: { listen: "127.0.0.1:0" } }';
  const { flags } = checkout(folder, fleetManifests(SIZE), sandbox.url, settings);
  const probe = pathToFileURL(join(import.meta.dirname, 'heap-probe.ts')).href;
  const daemon = new Running(['run', ...flags, '--log-level', 'error'], allocatorOfImage(), [
    '--expose-gc',
    `--import=${probe}`,
  ]);
  const sampleEveryMs = Math.min(SAMPLE_EVERY_MS, (minutes * 60_000) / SAMPLES_MIN);
  const samples: Sample[] = [];
  let faulty = 0;
  try {
    await converged(sandbox);
    await orderFaults(sandbox);
    const beganMs = performance.now();
    for (let atMs = 0; atMs < minutes * 60_000; atMs = performance.now() - beganMs) {
      const residents: number[] = [];
      for (let nth = 0; nth < LOOKS; nth += 1) {
        await sleep(sampleEveryMs / LOOKS);
        residents.push(residentParts(daemon.pid).bytes);
      }
      const requests = await sandbox.requests();
      faulty += requests.filter(({ fault }) => fault !== null).length;
      const sample: Sample = {
        ...(await look(daemon)),
        atMs,
        residentBytes: Math.min(...residents),
        residentMostBytes: Math.max(...residents),
        writes: requests.filter(({ isWrite }) => isWrite).length,
        requests: requests.length,
      };
      samples.push(sample);
      say(`${((performance.now() - beganMs) / 60_000).toFixed(1)} min: ${inWords(sample)}\n`);
    }
    return reportOf(samples, warmUpMinutes, faulty);
  } finally {
    await daemon.stop();
    await sandbox.running.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Every rule is made once. Requests fail only after that: a creation whose answer is lost is looked at for minutes before it
 * is sent again, and a write then would be none too many.
 */
async function converged(sandbox: SandboxProcess): Promise<void> {
  let left = SIZE.applications * SIZE.rulesPerApplication;
  for (const untilMs = performance.now() + CONVERGED_MS_MAX; left > 0; await sleep(100)) {
    if (performance.now() > untilMs) throw new Error(`${left} rules were not made`);
    left -= (await sandbox.requests()).filter(({ isWrite }) => isWrite).length;
  }
}

async function orderFaults({ url }: SandboxProcess): Promise<void> {
  const { ok, status } = await fetch(`${url}/_sandbox/faults`, { method: 'POST', body: JSON.stringify(FAULTS) });
  if (!ok) throw new Error(`the sandbox takes no faults: ${status}`);
}

/** What the container image says of the memory allocator: the daemon is looked at as it is deployed. */
function allocatorOfImage(): Readonly<Record<string, string>> {
  const dockerfile = readFileSync(join(import.meta.dirname, '..', '..', 'Dockerfile'), 'utf8');
  const arenas = /\bMALLOC_ARENA_MAX=(\d+)/.exec(dockerfile)?.[1];
  if (arenas === undefined) throw new Error('the Dockerfile no longer sets MALLOC_ARENA_MAX');
  return { MALLOC_ARENA_MAX: arenas };
}

type Look = Omit<Sample, 'atMs' | 'residentBytes' | 'residentMostBytes' | 'writes' | 'requests'>;

async function look(daemon: Running): Promise<Look> {
  daemon.err = '';
  process.kill(daemon.pid, 'SIGUSR2');
  const [, shares = ''] = await daemon.says(/heap-probe (.*) end/);
  return {
    ...(JSON.parse(shares) as HeapShares),
    fileBytes: residentParts(daemon.pid).fileBytes,
    handles: openHandles(daemon.pid),
    processorMs: processorMs(daemon.pid),
  };
}

function reportOf(samples: readonly Sample[], warmUpMinutes: number, faults: number): SoakReport {
  const settled = samples.filter(({ atMs }) => atMs >= warmUpMinutes * 60_000);
  const handles = settled.map((sample) => sample.handles);
  return {
    samples,
    residentSlopeKiBPerHour: slope(settled, (sample) => sample.residentBytes),
    residentMostSlopeKiBPerHour: slope(settled, (sample) => sample.residentMostBytes),
    objectSlopeKiBPerHour: slope(settled, (sample) => sample.objectBytes),
    codeSlopeKiBPerHour: slope(settled, (sample) => sample.codeBytes),
    handles: [Math.min(...handles), Math.max(...handles)],
    handlesPerHour: slope(settled, (sample) => sample.handles * 1024),
    writes: settled.reduce((sum, { writes }) => sum + writes, 0),
    requests: settled.reduce((sum, { requests }) => sum + requests, 0),
    faults,
  };
}

/** In KiB an hour. */
function slope(samples: readonly Sample[], valueOf: (sample: Sample) => number): number {
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const hours = samples.map(({ atMs }) => atMs / 3_600_000);
  const values = samples.map((sample) => valueOf(sample) / 1024);
  const [middle, level] = [mean(hours), mean(values)];
  const rise = hours.reduce((sum, hour, index) => sum + (hour - middle) * ((values[index] ?? level) - level), 0);
  return rise / hours.reduce((sum, hour) => sum + (hour - middle) ** 2, 0);
}

function inWords(sample: Sample): string {
  const mebibytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MiB`;
  const resident = `resident ${mebibytes(sample.residentBytes)} to ${mebibytes(sample.residentMostBytes)} (files ${mebibytes(sample.fileBytes)}, heap ${mebibytes(sample.heapBytes)})`;
  const heap = `objects ${mebibytes(sample.objectBytes)}, code ${mebibytes(sample.codeBytes)}, external ${mebibytes(sample.externalBytes)}, V8's own ${mebibytes(sample.mallocedBytes)}`;
  return `${resident}, ${heap}, ${sample.handles} handles, ${sample.requests} requests and ${sample.writes} writes`;
}

/** Of a hundred requests one. */
const FAULTS = [
  { probability: 0.004, fault: { type: 'status', when: 'before', status: 503 } },
  { probability: 0.003, fault: { type: 'drop', when: 'before' } },
  { probability: 0.003, fault: { type: 'status', when: 'before', status: 500, body: { msg: 'internal error' } } },
];

if (process.argv[1] === import.meta.filename) {
  const { values } = parseArgs({
    options: { minutes: { type: 'string', default: '60' }, 'warm-up': { type: 'string' }, log: { type: 'string' } },
  });
  const minutes = Number(values.minutes);
  const report = await soak(minutes, Number(values['warm-up'] ?? minutes / 3), (text) => {
    process.stdout.write(text);
    if (values.log !== undefined) appendFileSync(values.log, text);
  });
  const isFlat =
    report.residentSlopeKiBPerHour < KIBIBYTES_PER_HOUR_MAX && report.handlesPerHour < HANDLES_PER_HOUR_MAX;
  process.stdout.write(
    `resident ${report.residentSlopeKiBPerHour.toFixed(0)} KiB/h (the most of each minute ${report.residentMostSlopeKiBPerHour.toFixed(0)}), objects ${report.objectSlopeKiBPerHour.toFixed(0)} KiB/h, code ${report.codeSlopeKiBPerHour.toFixed(0)} KiB/h, ` +
      `handles ${report.handles.join(' to ')} (${report.handlesPerHour.toFixed(1)}/h), ${report.requests} requests (${report.faults} failed on purpose), ${report.writes} writes once converged\n`,
  );
  process.exitCode = isFlat && report.writes === 0 ? 0 : 1;
}
