import { writeFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';

/** How a benchmark is run. */
export interface BenchOptions {
  /** At the sizes that the figures of the project are said for, however long it takes. */
  readonly full: boolean;
  /** Folder for plots. */
  readonly plots: string;
}

/** One figure of a benchmark: its samples, and what it is measured against. */
export interface Figure {
  readonly name: string;
  readonly unit: string;
  readonly samples: readonly number[];
  /** Measured in the same run: the ratio is ours ÷ floor. */
  readonly floor?: readonly number[];
  /** What the project wants, in words and as a check of the figure. */
  readonly goal?: { readonly text: string; readonly isMet: (figure: Summary) => boolean };
}

export interface Summary {
  readonly median: number;
  readonly p99: number;
  readonly min: number;
  readonly max: number;
  /** Of the medians; undefined without a floor. */
  readonly ratio: number | undefined;
}

export function summarize({ samples, floor }: Pick<Figure, 'samples' | 'floor'>): Summary {
  const median = quantile(samples, 0.5);
  return {
    median,
    p99: quantile(samples, 0.99),
    min: Math.min(...samples),
    max: Math.max(...samples),
    ratio: floor === undefined ? undefined : median / quantile(floor, 0.5),
  };
}

/** Nearest rank. */
export function quantile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))] ?? Number.NaN;
}

/** A table for people; true when every goal is met. */
export function report(title: string, figures: readonly Figure[], write: (text: string) => void): boolean {
  const rows = figures.map((figure) => {
    const summary = summarize(figure);
    const verdict = figure.goal === undefined ? '' : figure.goal.isMet(summary) ? 'met' : 'NOT MET';
    return {
      name: figure.name,
      median: `${round(summary.median)} ${figure.unit}`,
      p99: round(summary.p99),
      spread: `${round(summary.min)} … ${round(summary.max)}`,
      samples: String(figure.samples.length),
      ratio: summary.ratio === undefined ? '' : `${round(summary.ratio)} ×`,
      goal: figure.goal?.text ?? '',
      verdict,
    };
  });
  const heads = {
    name: title,
    median: 'median',
    p99: 'p99',
    spread: 'min … max',
    samples: 'n',
    ratio: '÷ floor',
    goal: 'goal',
    verdict: '',
  };
  const columns = Object.keys(heads) as (keyof typeof heads)[];
  const widths = columns.map((column) => Math.max(...[heads, ...rows].map((row) => row[column].length)));
  for (const row of [heads, ...rows])
    write(
      `${columns
        .map((column, index) => row[column].padEnd(widths[index] ?? 0))
        .join('  ')
        .trimEnd()}\n`,
    );
  write('\n');
  return rows.every((row) => row.verdict !== 'NOT MET');
}

export function writeJson(file: string, title: string, figures: readonly Figure[]): void {
  const rows = figures.map((figure) => ({
    name: figure.name,
    unit: figure.unit,
    ...summarize(figure),
    samples: figure.samples,
    ...(figure.floor === undefined ? {} : { floor: figure.floor }),
    ...(figure.goal === undefined ? {} : { goal: figure.goal.text, met: figure.goal.isMet(summarize(figure)) }),
  }));
  const machine = { node: process.version, cores: availableParallelism(), load: loadavg() };
  writeFileSync(file, `${JSON.stringify({ title, ...machine, figures: rows }, null, 2)}\n`);
}

function round(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}
