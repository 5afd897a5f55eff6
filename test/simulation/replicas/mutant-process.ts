/** A process of its own, in which one file is another: `mutant-process.ts <index> <first seed> <seeds>`. */
import { loadMutated } from '../drivers/mutated.ts';
import { replicaMutants } from './mutants.ts';

const [index, firstSeed, seeds] = process.argv.slice(2).map(Number) as [number, number, number];
const mutant = replicaMutants[index];
if (mutant === undefined) throw new Error(`there is no mutant ${index}`);
loadMutated(mutant);
const { runReplicas } = await import('./schedule.ts');
for (let seed = firstSeed; seed < firstSeed + seeds; seed += 1) {
  const { violation } = await runReplicas(seed, mutant.script && { script: mutant.script });
  if (violation === undefined) continue;
  process.stdout.write(
    `${JSON.stringify({ seed, by: violation.invariant, message: violation.message.slice(0, 300) })}\n`,
  );
  if (mutant.rightly.includes(violation.invariant)) break;
}
process.exit(0);
