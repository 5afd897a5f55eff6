import { performance } from 'node:perf_hooks';
import { collectDefaultMetrics, Gauge, type Registry } from 'prom-client';

/** The longest that a timer can wait: the histogram of the loop's delays then never samples. */
const NEVER_MS = 2 ** 31 - 1;
const DELAY_STATISTICS = ['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99'];

/**
 * How the process is: processor, memory, handles, garbage, and how busy its event loop is.
 *
 * A histogram of the loop's delays wakes a process that has nothing to do at each of its samples, fifty times a second for
 * one of 20 ms; that alone was half a percent of a core. The loop knows how long it was busy without being asked.
 */
export function registerProcess(registry: Registry): void {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: NEVER_MS });
  for (const statistic of DELAY_STATISTICS) registry.removeSingleMetric(`nodejs_eventloop_lag_${statistic}_seconds`);
  let before = performance.eventLoopUtilization();
  new Gauge({
    name: 'nodejs_eventloop_utilization_ratio',
    help: 'Share of the time since it was last asked for in which the event loop was busy, from 0 to 1.',
    registers: [registry],
    collect() {
      const now = performance.eventLoopUtilization();
      this.set(performance.eventLoopUtilization(now, before).utilization);
      before = now;
    },
  });
}
