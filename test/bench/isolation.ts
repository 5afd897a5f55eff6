import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Figure } from './figures.ts';
import { checkout } from './checkout.ts';
import { applicationManifests, fleetApplications, fleetSeed } from './fleet.ts';
import { Running, startSandboxProcess } from './processes.ts';

const REPEATS = 3;
/** A platform's usual answer: what is measured is waiting, not the processor that all processes here share. */
const LATENCY_MS = 25;
const FAILING = 50;
/** Of them: one that hangs, fifty that fail, and the others. */
const SIZE = { applications: 201, teams: 10, rulesPerApplication: 2 };

/**
 * How long a daemon takes, from its start, to make the rules of 150 applications: by themselves, and beside one whose
 * every request hangs and fifty that always fail.
 */
export async function isolation(): Promise<readonly Figure[]> {
  const alone: number[] = [];
  const beside: number[] = [];
  for (let repeat = 0; repeat < REPEATS; repeat += 1) {
    alone.push(await secondsFor(false));
    beside.push(await secondsFor(true));
  }
  return [
    {
      name: '150 applications beside one that hangs and fifty that fail',
      unit: 's',
      samples: beside,
      floor: alone,
      goal: { text: '≤ 1.2 × their time alone', isMet: ({ ratio }) => ratio !== undefined && ratio <= 1.2 },
    },
  ];
}

async function secondsFor(withSick: boolean): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'portolan-bench-'));
  const [hanging, ...rest] = fleetApplications(SIZE);
  const [failing, others] = [rest.slice(0, FAILING), rest.slice(FAILING)];
  if (hanging === undefined) throw new Error('there are applications');
  const faults = [
    ...pathsOf(hanging.appId).map((path) => ({ path, fault: { type: 'delay', when: 'before', ms: 600_000 } })),
    ...failing.flatMap(({ appId }) =>
      pathsOf(appId).map((path) => ({ path, fault: { type: 'status', when: 'before', status: 500 } })),
    ),
  ];
  const faultsFile = join(folder, 'faults.json');
  writeFileSync(faultsFile, JSON.stringify(faults));
  const sandbox = await startSandboxProcess(folder, fleetSeed(SIZE, { withRules: false }), [
    '--faults',
    faultsFile,
    '--latency',
    String(LATENCY_MS),
  ]);
  const wished = withSick ? [hanging, ...failing, ...others] : others;
  const manifests = new Map(wished.flatMap((application) => [...applicationManifests(application)]));
  const { flags } = checkout(folder, manifests, sandbox.url, '{ server: { listen: "127.0.0.1:0" } }');
  const began = performance.now();
  const daemon = new Running(['run', ...flags, '--log-level', 'error']);
  try {
    const wanted = new Set(others.map(({ appId }) => appId));
    const made = new Map<number, number>();
    for (let done = 0; done < others.length; await sleep(20)) {
      for (const { path, operation, effectApplied } of await sandbox.requests()) {
        const appId = Number(/\/apps\/(\d+)/.exec(path)?.[1]);
        if (operation === 'createRule' && effectApplied && wanted.has(appId))
          made.set(appId, (made.get(appId) ?? 0) + 1);
      }
      done = [...made.values()].filter((rules) => rules >= SIZE.rulesPerApplication).length;
      if (performance.now() - began > 300_000) throw new Error(`only ${done} were done\n${daemon.err.slice(-2000)}`);
    }
    return (performance.now() - began) / 1000;
  } finally {
    daemon.child.kill('SIGKILL');
    await sandbox.running.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function pathsOf(appId: number): readonly string[] {
  return [`**/apps/${appId}`, `**/apps/${appId}/**`];
}
