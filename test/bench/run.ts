/**
 * `npm run bench`: what is measured, as a table and as JSON. Nothing here is a test: figures depend on the machine.
 * `README.md` says what each of them means.
 *
 *   --only NAME     one of them (may be repeated)
 *   --json FILE     the figures with all their samples, and how busy the machine was
 *   --full          at full size, where a smaller one is measured otherwise
 *   --plots FOLDER  where plots go (default: a temporary folder)
 */
import { mkdirSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { byHand } from './by-hand.ts';
import { blocking, blockingPlans } from './blocking.ts';
import { busyApi } from './busy-api.ts';
import { coldPlan, growth } from './cold-plan.ts';
import { daemonFleet, oneFileOfMany } from './daemon-fleet.ts';
import { dashboard } from './dashboard.ts';
import { daemonLatency } from './daemon-latency.ts';
import { type BenchOptions, type Figure, report, writeJson } from './figures.ts';
import { isolation } from './isolation.ts';
import { ledger } from './ledger.ts';
import { ledgerPostgres } from './postgres.ts';
import { oneChange } from './one-change.ts';
import { replicas } from './replicas.ts';
import { requests } from './requests.ts';
import { slowPlatform } from './slow-platform.ts';
import { slowRequests } from './slow-requests.ts';
import { startup } from './startup.ts';
import { transport } from './transport.ts';

const benchmarks: Readonly<Record<string, (options: BenchOptions) => Promise<readonly Figure[]>>> = {
  blocking,
  'blocking-plans': blockingPlans,
  'daemon-latency': () => daemonLatency(),
  'daemon-fleet': daemonFleet,
  'busy-api': busyApi,
  dashboard,
  'one-file': oneFileOfMany,
  isolation,
  startup,
  transport,
  ledger,
  'ledger-postgres': ledgerPostgres,
  replicas,
  requests,
  'by-hand': byHand,
  'cold-plan': coldPlan,
  growth,
  'one-change': oneChange,
  'slow-platform': slowPlatform,
  'slow-requests': slowRequests,
};

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    json: { type: 'string' },
    full: { type: 'boolean', default: false },
    plots: { type: 'string', default: join(tmpdir(), 'portolan-bench-plots') },
  },
});
const unknown = values.only?.filter((name) => !Object.hasOwn(benchmarks, name)) ?? [];
if (unknown.length > 0)
  throw new Error(`there is no bench ${unknown.join(', ')}; there are ${Object.keys(benchmarks).join(', ')}`);
mkdirSync(values.plots, { recursive: true });
const all: Figure[] = [];
for (const [name, measure] of Object.entries(benchmarks)) {
  if (values.only !== undefined && !values.only.includes(name)) continue;
  const figures = await measure(values);
  if (!report(`${name} (load ${loadavg()[0]?.toFixed(1)})`, figures, (text) => process.stdout.write(text)))
    process.exitCode = 1;
  all.push(...figures);
}
if (values.json !== undefined) writeJson(values.json, 'portolan', all);
