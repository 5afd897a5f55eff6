import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ColdFloor, ColdFloorTask } from './cold-floor.ts';
import type { BenchOptions, Figure } from './figures.ts';
import {
  COMPONENTS_PER_APPLICATION,
  configurationFor,
  fleetManifests,
  fleetSeed,
  type FleetSize,
  manyManifests,
  reference,
  writeFiles,
} from './fleet.ts';
import { startSandboxProcess } from './processes.ts';
import { type Usage, usageOf } from './usage.ts';

const ROUNDS = 3;
const AT_ONCE = 16;

/** A fleet in files and on a platform, all of it in sync. */
interface World {
  readonly url: string;
  readonly files: readonly string[];
  /** Of `portolan plan`; without a ledger, as in CI. */
  readonly plan: readonly string[];
}

/**
 * A plan in a fresh process, everything from the files to the last line included, against what no plan can do without: bare
 * `yaml` over the same files, and the same reads by our own client.
 */
export async function coldPlan({ full }: BenchOptions): Promise<readonly Figure[]> {
  const sizes = full ? [reference, manyManifests] : [{ ...reference, applications: 200 }];
  const figures: Figure[] = [];
  for (const size of sizes) figures.push(...(await inWorld(size, (world) => coldPlanOf(world, size))));
  return figures;
}

async function coldPlanOf(world: World, size: FleetSize): Promise<readonly Figure[]> {
  const plans: Usage[] = [];
  const floors: ColdFloor[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    plans.push(await usageOf(world.plan));
    floors.push(await coldFloor({ url: world.url, files: world.files, size, atOnce: AT_ONCE }));
  }
  const documents = world.files.length.toLocaleString('en');
  const seconds = (values: readonly number[]) => values.map((value) => value / 1000);
  return [
    { name: `bare yaml of ${documents} documents`, unit: 's', samples: seconds(floors.map(({ parseMs }) => parseMs)) },
    { name: 'our client for the same reads', unit: 's', samples: seconds(floors.map(({ readMs }) => readMs)) },
    {
      name: `cold plan of ${documents} documents`,
      unit: 's',
      samples: seconds(plans.map(({ wallMs }) => wallMs)),
      floor: seconds(floors.map(({ parseMs, readMs }) => parseMs + readMs)),
      goal: {
        text: '≤ 1.3 × both; 10,000 in ≤ 6 s',
        isMet: ({ ratio, median }) => ratio !== undefined && ratio <= 1.3 && median <= 6,
      },
    },
    { name: 'its processor time', unit: 's', samples: seconds(plans.map(({ processorMs }) => processorMs)) },
  ];
}

async function coldFloor(task: ColdFloorTask): Promise<ColdFloor> {
  const child = fork(fileURLToPath(new URL('cold-floor.ts', import.meta.url)));
  try {
    child.send(task);
    const [floor] = (await once(child, 'message')) as [ColdFloor];
    return floor;
  } finally {
    child.disconnect();
  }
}

/**
 * How time and memory of a plan grow with the fleet: processor time, because that is what the machine's other work changes
 * least, and the largest resident memory.
 */
export async function growth({ full }: BenchOptions): Promise<readonly Figure[]> {
  const sizes = full ? [1_000, 2_000, 4_000, 8_000] : [1_000, 2_000, 4_000];
  const usages = new Map<number, Usage>();
  for (const applications of sizes) {
    const size = { ...reference, applications };
    usages.set(applications, await inWorld(size, ({ plan }) => usageOf(plan)));
  }
  const figures: Figure[] = [];
  for (const [applications, { wallMs, processorMs, peakMiB }] of usages) {
    const name = `plan of ${applications.toLocaleString('en')} applications`;
    const half = usages.get(applications / 2);
    figures.push({
      name: `${name}, processor time`,
      unit: 's',
      samples: [processorMs / 1000],
      ...(half && {
        floor: [half.processorMs / 1000],
        goal: {
          text: '≤ 2.1 × that of half as many',
          isMet: ({ ratio }: { readonly ratio: number | undefined }) => ratio !== undefined && ratio <= 2.1,
        },
      }),
    });
    figures.push({ name: `${name}, wall`, unit: 's', samples: [wallMs / 1000] });
    figures.push({ name: `${name}, most memory`, unit: 'MiB', samples: [peakMiB] });
  }
  return [...figures, slopeOf(usages)];
}

/** Between the smallest fleet and the largest. */
function slopeOf(usages: ReadonlyMap<number, Usage>): Figure {
  const all = [...usages];
  const [[fewest, small], [most, large]] = [all[0], all.at(-1)] as [[number, Usage], [number, Usage]];
  return {
    name: `memory of one application more, ${fewest} … ${most}`,
    unit: 'KiB',
    samples: [((large.peakMiB - small.peakMiB) * 1024) / (most - fewest)],
    goal: { text: '≤ 60 KiB', isMet: ({ median }) => median <= 60 },
  };
}

async function inWorld<T>(size: FleetSize, work: (world: World) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'portolan-bench-'));
  const sandbox = await startSandboxProcess(folder, fleetSeed(size, { withRules: true }));
  try {
    const source = join(folder, 'source');
    const files = fleetManifests(size);
    writeFiles(source, files);
    const config = join(folder, 'portolan.yaml');
    writeFileSync(config, configurationFor(sandbox.url));
    const plan = ['plan', '-f', source, '--config', config, '--ledger', 'none'];
    const world = { url: sandbox.url, files: [...files.keys()].map((path) => join(source, path)), plan };
    await sandbox.requests();
    const result = await work(world);
    const expected = size.applications * COMPONENTS_PER_APPLICATION;
    const asked = (await sandbox.requests()).length;
    if (asked < expected)
      throw new Error(`only ${asked} requests came: the plan did not look at ${expected} components`);
    return result;
  } finally {
    await sandbox.running.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
