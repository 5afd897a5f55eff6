import { setTimeout as sleep } from 'node:timers/promises';
import { startDaemon } from './daemon-fleet.ts';
import type { BenchOptions, Figure } from './figures.ts';
import { applicationManifests, type FleetApplication, fleetApplications, reference, writeFiles } from './fleet.ts';
import { git, type SandboxProcess, threadsProcessorMs } from './processes.ts';

const WARM_UP = 5;
const CHANGES = 10;
/** After the write: reading it back, and what is told of it. */
const AFTER_MS = 700;

/**
 * Processor time of a daemon for one changed file among many: reading it, planning its application, writing one port and
 * looking again, whatever else the process does meanwhile with it. The same for a small fleet and a large one.
 */
export async function oneChange({ full }: BenchOptions): Promise<readonly Figure[]> {
  const [small, large] = full ? [100, reference.applications] : [50, 200];
  const few = await changes(small);
  const many = await changes(large);
  const goal = { text: '≤ 50 ms', isMet: ({ median }: { readonly median: number }) => median <= 50 };
  return [
    { name: `processor time of one change among ${small} applications`, unit: 'ms', samples: few, goal },
    { name: `processor time of one change among ${large} applications`, unit: 'ms', samples: many, floor: few, goal },
  ];
}

async function changes(count: number): Promise<readonly number[]> {
  const size = { ...reference, applications: count };
  const daemon = await startDaemon(size);
  try {
    await daemon.rests();
    const { pid } = daemon.running;
    const samples: number[] = [];
    for (let change = 0; change < WARM_UP + CHANGES; change += 1) {
      const application = fleetApplications(size)[change];
      if (application === undefined) throw new Error('there are applications');
      await daemon.sandbox.requests();
      writeFiles(daemon.source, otherAlias(application));
      const before = threadsProcessorMs(pid);
      git(daemon.source, 'commit', '-qam', `change ${change}`);
      await written(daemon.sandbox);
      await sleep(AFTER_MS);
      if (change >= WARM_UP) samples.push(threadsProcessorMs(pid) - before);
    }
    return samples;
  } finally {
    await daemon.end();
  }
}

/** The file of one component, with another alias for its first port. */
function otherAlias(application: FleetApplication): ReadonlyMap<string, string> {
  const files = [...applicationManifests(application)].filter(([path]) => path.endsWith('-c2.yaml'));
  return new Map(files.map(([path, text]) => [path, text.replaceAll('"P20"', '"Q20"')]));
}

async function written(sandbox: SandboxProcess): Promise<void> {
  for (const untilMs = performance.now() + 60_000; performance.now() < untilMs; await sleep(20))
    if ((await sandbox.requests()).some(({ isWrite }) => isWrite)) return;
  throw new Error('no write came within a minute of the commit');
}
