/**
 * `npm run bench`: what is measured, as a table and as JSON. Nothing here is a test: figures depend on the machine.
 *
 *   --only NAME   one of them (may be repeated)
 *   --json FILE   the figures with all their samples
 */
import { parseArgs } from 'node:util';
import { daemonFleet, oneFileOfMany } from './daemon-fleet.ts';
import { daemonLatency } from './daemon-latency.ts';
import { type Figure, report, writeJson } from './figures.ts';
import { isolation } from './isolation.ts';
import { ledger } from './ledger.ts';
import { startup } from './startup.ts';
import { transport } from './transport.ts';

const benchmarks: Readonly<Record<string, () => Promise<readonly Figure[]>>> = {
  'daemon-latency': daemonLatency,
  'daemon-fleet': daemonFleet,
  'one-file': oneFileOfMany,
  isolation,
  startup,
  transport,
  ledger,
};

const { values } = parseArgs({
  options: { only: { type: 'string', multiple: true }, json: { type: 'string' } },
});
const all: Figure[] = [];
for (const [name, measure] of Object.entries(benchmarks)) {
  if (values.only !== undefined && !values.only.includes(name)) continue;
  const figures = await measure();
  if (!report(name, figures, (text) => process.stdout.write(text))) process.exitCode = 1;
  all.push(...figures);
}
if (values.json !== undefined) writeJson(values.json, 'portolan', all);
