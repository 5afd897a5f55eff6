/**
 * `npm run kill -- --cycles 10000 --seed 1`: as many kills of the real program as you have time for.
 * `npm run kill -- --replicas 3 --cycles 300 --lease 2s`: several controllers on PostgreSQL, with one fault in each cycle.
 * `--defaults` has the default lease and settle windows; `--fault NAME` injects only this one (may be repeated).
 * `--pgbouncer` puts an installed PgBouncer between the replicas and the database.
 */
import { parseArgs } from 'node:util';
import { killCycles } from './kill-cycles.ts';
import { describeTimes } from './replicas/times.ts';
import { replicaCycles } from './replicas/replica-cycles.ts';

const { values } = parseArgs({
  options: {
    cycles: { type: 'string', default: '300' },
    seed: { type: 'string', default: '1' },
    replicas: { type: 'string' },
    lease: { type: 'string', default: '2s' },
    settle: { type: 'string', default: '1s' },
    defaults: { type: 'boolean', default: false },
    platforms: { type: 'string' },
    fault: { type: 'string', multiple: true },
    pgbouncer: { type: 'boolean', default: false },
  },
});
const startedMs = performance.now();
const { violations, ...counts } = await (values.replicas === undefined ? kills() : replicas(values.replicas));
console.log(
  JSON.stringify({
    ...counts,
    violations: violations.length,
    seconds: Math.round((performance.now() - startedMs) / 1000),
  }),
);
for (const violation of violations) console.log(violation);
process.exitCode = violations.length === 0 ? 0 : 1;

async function kills() {
  return killCycles(Number(values.cycles), Number(values.seed));
}

async function replicas(count: string) {
  const { takeovers, convergence, ...report } = await replicaCycles({
    replicas: Number(count),
    cycles: Number(values.cycles),
    seed: Number(values.seed),
    lease: values.defaults ? '15s' : values.lease,
    settle: values.defaults ? undefined : values.settle,
    ...(values.platforms === undefined ? {} : { platforms: Number(values.platforms) }),
    ...(values.fault === undefined ? {} : { faults: values.fault }),
    isPooled: values.pgbouncer,
    say: (line) => console.log(line),
  });
  console.log(describeTimes('from the fault until the lease of another replica', takeovers));
  console.log(describeTimes('from the end of the fault until everything is in sync', convergence));
  return report;
}
