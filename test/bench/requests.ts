import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { requestFloor, type RoundSize } from '../support/request-floor.ts';
import type { BenchOptions, Figure } from './figures.ts';
import {
  COMPONENTS_PER_APPLICATION,
  configurationFor,
  fleetManifests,
  fleetSeed,
  type FleetSize,
  reference,
  writeFiles,
} from './fleet.ts';
import { portolan, startSandboxProcess } from './processes.ts';

const CHANGES = 100;

/**
 * What a plan of 200 applications in sync asks for (`--full`: of 1,000), against the least that can answer it, in both
 * dialects; and what an apply of 100 changes among them writes. Numbers, not times: any machine gives the same.
 */
export async function requests({ full }: BenchOptions): Promise<readonly Figure[]> {
  const size = full ? reference : { ...reference, applications: 200 };
  return [...(await inDialect('extended', size)), ...(await inDialect('documented', size))];
}

async function inDialect(dialect: 'documented' | 'extended', size: FleetSize): Promise<readonly Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'portolan-bench-'));
  // Rules that nobody can list cannot be adopted: in the documented dialect they are made.
  const seed = fleetSeed(size, { withRules: dialect === 'extended' });
  const sandbox = await startSandboxProcess(folder, seed, ['--dialect', dialect]);
  try {
    const source = join(folder, 'source');
    const files = fleetManifests(size);
    writeFiles(source, files);
    const config = join(folder, 'portolan.yaml');
    writeFileSync(config, configurationFor(sandbox.url).replace('dialect: extended', `dialect: ${dialect}`));
    const flags = ['-f', source, '--config', config, '--ledger', join(folder, 'portolan.db')];
    await portolan(['apply', ...flags, '--yes', '--adopt', '--parallelism', '32']);
    await sandbox.requests();
    await portolan(['plan', ...flags, '--detailed-exitcode']);
    const asked = await sandbox.requests();
    writeFiles(source, changed(files));
    await portolan(['apply', ...flags, '--yes', '--parallelism', '32']);
    const writes = (await sandbox.requests()).filter(({ isWrite }) => isWrite);
    const floor = Object.values(requestFloor(dialect, roundSize(size))).reduce((sum, count) => sum + count, 0);
    const goal = { text: '1.00 ×', isMet: ({ ratio }: { readonly ratio: number | undefined }) => ratio === 1 };
    return [
      {
        name: `requests of a plan of ${size.applications} applications in sync, ${dialect}`,
        unit: '',
        samples: [asked.length],
        floor: [floor],
        goal,
      },
      {
        name: `writes of an apply of ${CHANGES} changes, ${dialect}`,
        unit: '',
        samples: [writes.length],
        floor: [CHANGES],
        goal,
      },
    ];
  } finally {
    await sandbox.running.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function roundSize({ applications, teams }: FleetSize): RoundSize {
  return {
    platform: 1,
    'team and region': teams,
    application: applications,
    component: applications * COMPONENTS_PER_APPLICATION,
  };
}

/** Another alias for one port of each of the first applications. */
function changed(files: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const picked = [...files].filter(([path]) => path.endsWith('-c2.yaml')).slice(0, CHANGES);
  return new Map(picked.map(([path, text]) => [path, text.replaceAll('"P20"', '"Q20"')]));
}
