/** `npm run kill -- --cycles 10000 --seed 1`: as many kills of the real program as you have time for. */
import { parseArgs } from 'node:util';
import { killCycles } from './kill-cycles.ts';

const { values } = parseArgs({
  options: { cycles: { type: 'string', default: '300' }, seed: { type: 'string', default: '1' } },
});
const startedMs = performance.now();
const report = await killCycles(Number(values.cycles), Number(values.seed));
const { violations, ...counts } = report;
console.log(
  JSON.stringify({
    ...counts,
    violations: violations.length,
    seconds: Math.round((performance.now() - startedMs) / 1000),
  }),
);
for (const violation of violations) console.log(violation);
process.exitCode = violations.length === 0 ? 0 : 1;
