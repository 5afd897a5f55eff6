import { performance } from 'node:perf_hooks';
import { collectDefaultMetrics, Gauge, type Registry } from 'prom-client';

/** The longest possible timer, so that the histogram of loop delays never samples. */
const NEVER_MS = 2 ** 31 - 1;
const DELAY_STATISTICS = ['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99'];

/**
 * Registers metrics of the process: processor, memory, handles, garbage collection, and how busy the event loop is.
 *
 * prom-client's histogram of loop delays wakes an idle process for each sample, fifty times a second at 20 ms; that alone
 * used half a percent of a core. Node measures the utilization of the loop without samples.
 */
export function registerProcess(registry: Registry): void {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: NEVER_MS });
  for (const statistic of DELAY_STATISTICS) registry.removeSingleMetric(`nodejs_eventloop_lag_${statistic}_seconds`);
  let before = performance.eventLoopUtilization();
  new Gauge({
    name: 'nodejs_eventloop_utilization_ratio',
    help: 'Share of the time since the last scrape in which the event loop was busy, from 0 to 1.',
    registers: [registry],
    collect() {
      const now = performance.eventLoopUtilization();
      this.set(performance.eventLoopUtilization(now, before).utilization);
      before = now;
    },
  });
}
