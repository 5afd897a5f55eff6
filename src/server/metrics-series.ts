import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

export type Labels = Readonly<Record<string, string>>;
export type Sample = readonly [labels: Labels, value: number];

/** Adds a gauge that is computed at each scrape. Samples of the previous scrape are dropped. */
export function registerGauge(
  registry: Registry,
  name: string,
  help: string,
  labelNames: string[],
  samples: () => readonly Sample[] | Promise<readonly Sample[]>,
): void {
  new Gauge({
    name,
    help,
    labelNames,
    registers: [registry],
    async collect() {
      this.reset();
      // A gauge without labels is 0 after a reset, not absent.
      if (labelNames.length === 0) this.remove();
      for (const [labels, value] of await samples()) this.set(labels, value);
    },
  });
}

/** Returns functions that register counters and histograms. */
export function seriesOf(registry: Registry) {
  const registers = [registry];
  return {
    counter: <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
      new Counter({ name, help, labelNames, registers }),
    histogram: <Label extends string>(name: string, help: string, labelNames: readonly Label[], buckets: number[]) =>
      new Histogram({ name, help, labelNames, buckets, registers }),
  };
}

export type Series = ReturnType<typeof seriesOf>;
