/** A process of its own, in which one file of production is another: `mutant-process.ts <index>`. */
import { loadMutated } from '../drivers/mutated.ts';
import { modelMutants } from './mutants.ts';

const mutant = modelMutants[Number(process.argv[2])];
if (mutant === undefined) throw new Error(`there is no mutant ${process.argv[2]}`);
loadMutated(mutant);
const { explore } = await import('./explore.ts');
const { explorationOf } = await import('./report.ts');
const { violation, executions } = await explore(explorationOf(mutant.scenario, mutant.faults));
process.stdout.write(JSON.stringify({ by: violation?.invariant, message: violation?.message, executions }));
