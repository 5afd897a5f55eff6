import { setTimeout as sleep } from 'node:timers/promises';
import { startClients } from './clients.ts';
import { API_TOKEN, startDaemon } from './daemon-fleet.ts';
import type { BenchOptions, Figure } from './figures.ts';
import { quantile } from './figures.ts';
import { applicationManifests, type FleetApplication, fleetApplications, reference, writeFiles } from './fleet.ts';
import { git, type SandboxProcess } from './processes.ts';

const CLIENTS = 10;
const DEBOUNCE_MS = 100;
const WARM_UP = 3;
const COMMITS = 10;
const COMMITS_FULL = 40;
/** For reading the write back, so that the next commit finds a daemon at rest. */
const AFTER_MS = 300;

/** The answers that grow with the number of applications, as one page of the most that a page can have. */
const PATHS = [
  '/metrics',
  '/api/v1/applications?limit=1000',
  '/api/v1/resources?limit=1000',
  '/api/v1/events?limit=1000',
  '/api/v1/history?limit=1000',
  '/api/v1/status',
] as const;

/**
 * What ten clients that ask for the same answer all the time cost a commit's first write, over 1,000 applications: turn by turn, one
 * commit without clients and one with them.
 */
export async function busyApi({ full }: BenchOptions): Promise<readonly Figure[]> {
  const daemon = await startDaemon(reference, `, source: { debounce: ${DEBOUNCE_MS}ms }`);
  try {
    await daemon.rests();
    const applications = fleetApplications(reference);
    let commits = 0;
    const commit = async (): Promise<number> => {
      const application = applications[commits % applications.length];
      if (application === undefined) throw new Error('there are applications');
      commits += 1;
      await daemon.sandbox.requests();
      writeFiles(daemon.source, otherAlias(application));
      git(daemon.source, 'commit', '-qam', `commit ${commits}`);
      const committedMs = Date.now();
      const wroteMs = await firstWrite(daemon.sandbox, committedMs);
      await sleep(AFTER_MS);
      return wroteMs - committedMs - DEBOUNCE_MS;
    };
    for (let count = 0; count < WARM_UP; count += 1) await commit();
    const figures: Figure[] = [];
    for (const path of PATHS) {
      const alone: number[] = [];
      const busy: number[] = [];
      let answers = 0;
      let slowestMs = 0;
      for (let count = 0; count < (full ? COMMITS_FULL : COMMITS); count += 1) {
        alone.push(await commit());
        const clients = startClients({ url: daemon.url + path, token: API_TOKEN, clients: CLIENTS });
        await clients.firstAnswer;
        busy.push(await commit());
        const report = await clients.end();
        answers += report.answers;
        slowestMs = Math.max(slowestMs, report.slowestMs);
      }
      const least = quantile(alone, 0.5);
      figures.push({
        name: `${path}: commit → first write, later by`,
        unit: 'ms',
        samples: busy.map((ms) => ms - least),
        goal: { text: 'median ≤ 100 ms', isMet: ({ median }) => median <= 100 },
      });
      figures.push({ name: `${path}: with and without clients`, unit: 'ms', samples: busy, floor: alone });
      figures.push({ name: `${path}: answers meanwhile`, unit: '', samples: [answers] });
      figures.push({ name: `${path}: the slowest of them`, unit: 'ms', samples: [slowestMs] });
    }
    return figures;
  } finally {
    await daemon.end();
  }
}

/** The file of one component, with another alias for its first port. */
function otherAlias(application: FleetApplication): ReadonlyMap<string, string> {
  const files = [...applicationManifests(application)].filter(([path]) => path.endsWith('-c2.yaml'));
  return new Map(files.map(([path, text]) => [path, text.replaceAll('"P20"', '"Q20"')]));
}

async function firstWrite(sandbox: SandboxProcess, sinceMs: number): Promise<number> {
  for (const untilMs = sinceMs + 60_000; Date.now() < untilMs; await sleep(20)) {
    const write = (await sandbox.requests()).find((request) => request.isWrite);
    if (write !== undefined) return write.atMs;
  }
  throw new Error('no write came within a minute of the commit');
}
