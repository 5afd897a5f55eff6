import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Figure } from './figures.ts';
import { checkout } from './checkout.ts';
import { applicationManifests, fleetApplications, fleetManifests, fleetSeed, writeFiles } from './fleet.ts';
import { git, portolan, Running, startSandboxProcess } from './processes.ts';

const COMMITS = 200;
const DEBOUNCE_MS = 100;
const SIZE = { applications: 20, teams: 2, rulesPerApplication: 2 };

/**
 * How long after a commit its first write reaches the platform, beyond the debounce: one rule's weight changes with each
 * commit, in a checkout that `portolan run` watches; the sandbox, in a process of its own, says when the write came.
 */
export async function daemonLatency(commits = COMMITS): Promise<readonly Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'portolan-bench-'));
  const sandbox = await startSandboxProcess(folder, fleetSeed(SIZE, { withRules: false }));
  const settings = `{ source: { debounce: ${DEBOUNCE_MS}ms } }`;
  const { source, flags } = checkout(folder, fleetManifests(SIZE), sandbox.url, settings);
  await portolan(['apply', ...flags, '--yes']);
  const daemon = new Running(['run', ...flags, '--log-level', 'warn']);
  try {
    const applications = fleetApplications(SIZE);
    const samples: number[] = [];
    await sandbox.requests();
    // The first one waits for the daemon's start and is not counted.
    for (let commit = 0; commit <= commits; commit += 1) {
      const application = applications[commit % applications.length];
      if (application === undefined) throw new Error('there are applications');
      writeFiles(source, applicationManifests(application, 1 + (commit % 99)));
      git(source, 'add', '-A');
      git(source, 'commit', '-q', '-m', `commit ${commit}`);
      const committedMs = Date.now();
      const wroteMs = await firstWrite(sandbox, committedMs);
      if (commit > 0) samples.push(wroteMs - committedMs - DEBOUNCE_MS);
    }
    return [
      {
        name: `commit → first write, beyond the debounce of ${DEBOUNCE_MS} ms`,
        unit: 'ms',
        samples,
        goal: { text: 'p50 ≤ 150 ms, p99 ≤ 500 ms', isMet: ({ median, p99 }) => median <= 150 && p99 <= 500 },
      },
    ];
  } finally {
    await daemon.stop();
    await sandbox.running.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function firstWrite(sandbox: Awaited<ReturnType<typeof startSandboxProcess>>, sinceMs: number): Promise<number> {
  for (const untilMs = sinceMs + 60_000; Date.now() < untilMs; await sleep(20)) {
    const write = (await sandbox.requests()).find((request) => request.isWrite);
    if (write !== undefined) return write.atMs;
  }
  throw new Error('no write came within a minute of the commit');
}
