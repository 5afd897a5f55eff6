/**
 * A process of its own, in which one file of production is another: `mutant-process.ts <index> <first seed> <seeds>`; its
 * own seed runs with its own script.
 */
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { driverMutants } from './mutants.ts';

const [index, firstSeed, seeds] = process.argv.slice(2).map(Number) as [number, number, number];
const mutant = driverMutants[index];
if (mutant !== undefined) {
  const changed = new URL(`../../../src/${mutant.file}`, import.meta.url);
  const parts = readFileSync(changed, 'utf8').split(mutant.find);
  if (parts.length !== 2) throw new Error(`${mutant.name}: found ${parts.length - 1} times in ${mutant.file}`);
  registerHooks({
    load: (url, context, nextLoad) => {
      const loaded = nextLoad(url, context);
      return url === changed.href ? { ...loaded, source: parts.join(mutant.replace) } : loaded;
    },
  });
}
const { runDrivers } = await import('./schedule.ts');
// What is wrong may hold a schedule up for ever; the others need not wait for it.
for (let seed = firstSeed; seed < firstSeed + seeds; seed += 1) {
  const script = seed === mutant?.seed ? mutant.script : undefined;
  const { violation } = await runDrivers(seed, script === undefined ? {} : { script });
  if (violation === undefined) continue;
  process.stdout.write(
    `${JSON.stringify({ seed, by: violation.invariant, message: violation.message.slice(0, 300) })}\n`,
  );
  break;
}
