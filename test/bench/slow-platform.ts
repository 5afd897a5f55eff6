import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { load, type LoadResult, type ServerModel } from '../platform/model-server.ts';
import type { BenchOptions, Figure } from './figures.ts';
import { linePlot } from './line-plot.ts';

/** 25 ms an answer, give or take, and 150 a second: room for 3.75 requests at once, and more only wait. */
const QUEUES: ServerModel = { serviceMs: 25, perSecond: 150, spread: 0.3 };
/** Here more than six inside cost of the capacity, too, as with a database that is asked for too much. */
const THRASHES: ServerModel = { ...QUEUES, thrashing: { from: 6, share: 0.05 } };
const CLIENTS = 200;
const DURATION_MS = 30_000;
const STEP_MS = 500;

/**
 * The limit that adapts, in the budget as the product has it, against 8 and 64 at once on a platform that slows down: on
 * virtual time, so that every machine gives the same. Throughput counts the first 30 s, finding out included.
 */
export async function slowPlatform({ plots }: BenchOptions): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const [name, model] of Object.entries({ queues: QUEUES, thrashes: THRASHES })) {
    const plot = join(plots, `slow-platform-${name}.svg`);
    figures.push(...(await onPlatform(model, `, ${name}`, plot)));
    process.stderr.write(`slow-platform: ${plot}\n`);
  }
  return figures;
}

async function onPlatform(server: ServerModel, where: string, plot: string): Promise<readonly Figure[]> {
  const of = async (clients: number, fixed?: number): Promise<LoadResult> =>
    load({ server, clients, forMs: DURATION_MS, ...(fixed === undefined ? {} : { fixed }) });
  const alone = await of(1, 1);
  const runs = { adaptive: await of(CLIENTS), '8 at once': await of(CLIENTS, 8), '64 at once': await of(CLIENTS, 64) };
  writeFileSync(plot, plotOf(runs));
  const { adaptive, ...fixed } = runs;
  const floor = [alone.quantileMs(0.99)];
  const isBeaten = (other: LoadResult): boolean =>
    adaptive.perSecond(0, DURATION_MS) > 0.95 * other.perSecond(0, DURATION_MS) &&
    adaptive.quantileMs(0.99) < other.quantileMs(0.99);
  return [
    {
      name: `answers a second in the tenth second, adaptive${where}`,
      unit: '/s',
      samples: [adaptive.perSecond(9_000, 10_000)],
      floor: [server.perSecond],
      goal: { text: '≥ 0.9 × the capacity', isMet: ({ ratio = 0 }) => ratio >= 0.9 },
    },
    {
      name: `p99 of an answer, adaptive${where}`,
      unit: 'ms',
      samples: [adaptive.quantileMs(0.99)],
      floor,
      goal: { text: '< 3 × that of one alone', isMet: ({ ratio = Number.NaN }) => ratio < 3 },
    },
    {
      name: `answers a second over 30 s, adaptive${where}`,
      unit: '/s',
      samples: [adaptive.perSecond(0, DURATION_MS)],
      floor: [server.perSecond],
      goal: {
        text: 'as much as 8 or 64 (≥ 0.95 ×), and sooner (p99)',
        isMet: () => Object.values(fixed).every(isBeaten),
      },
    },
    ...Object.entries(fixed).flatMap(([name, run]): Figure[] => [
      {
        name: `answers a second over 30 s, ${name}${where}`,
        unit: '/s',
        samples: [run.perSecond(0, DURATION_MS)],
        floor: [server.perSecond],
      },
      { name: `p99 of an answer, ${name}${where}`, unit: 'ms', samples: [run.quantileMs(0.99)], floor },
    ]),
  ];
}

function plotOf(runs: Readonly<Record<string, LoadResult>>): string {
  const steps = Array.from({ length: DURATION_MS / STEP_MS }, (_, index) => index * STEP_MS);
  const lines = (value: (run: LoadResult, fromMs: number) => number) =>
    Object.entries(runs).map(([name, run]) => ({
      name,
      points: steps.map((fromMs) => ({ x: (fromMs + STEP_MS) / 1000, y: value(run, fromMs) })),
    }));
  return linePlot('A platform with 25 ms an answer and room for 150 a second; 200 clients', 'seconds', [
    { title: 'answers a second', lines: lines((run, fromMs) => run.perSecond(fromMs, fromMs + STEP_MS)) },
    { title: 'p99 of an answer, ms', lines: lines((run, fromMs) => run.quantileMs(0.99, fromMs, fromMs + STEP_MS)) },
    { title: 'requests at once, at most', lines: lines(limitAt) },
  ]);
}

function limitAt({ limits }: LoadResult, fromMs: number): number {
  return limits.findLast(({ atMs }) => atMs <= fromMs)?.limit ?? Number.NaN;
}
