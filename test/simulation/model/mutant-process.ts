/** A process of its own, in which one file of production is another: `mutant-process.ts <index>`. */
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { modelMutants } from './mutants.ts';

const mutant = modelMutants[Number(process.argv[2])];
if (mutant === undefined) throw new Error(`there is no mutant ${process.argv[2]}`);
const changed = new URL(`../../../src/${mutant.file}`, import.meta.url);
const parts = readFileSync(changed, 'utf8').split(mutant.find);
if (parts.length !== 2) throw new Error(`${mutant.name}: found ${parts.length - 1} times in ${mutant.file}`);
registerHooks({
  load: (url, context, nextLoad) => {
    const loaded = nextLoad(url, context);
    return url === changed.href ? { ...loaded, source: parts.join(mutant.replace) } : loaded;
  },
});
const { explore } = await import('./explore.ts');
const { explorationOf } = await import('./report.ts');
const { violation, executions } = await explore(explorationOf(mutant.scenario, mutant.faults));
process.stdout.write(JSON.stringify({ by: violation?.invariant, message: violation?.message, executions }));
