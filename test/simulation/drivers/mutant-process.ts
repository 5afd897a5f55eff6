/**
 * A process of its own, in which one file of production is another: `mutant-process.ts <index> <first seed> <seeds>`; its
 * own seed runs with its own script.
 */
import { loadMutated } from './mutated.ts';
import { driverMutants } from './mutants.ts';

const [index, firstSeed, seeds] = process.argv.slice(2).map(Number) as [number, number, number];
const mutant = driverMutants[index];
if (mutant !== undefined) loadMutated(mutant);
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
