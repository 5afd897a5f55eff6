/** A process of its own that explores one scenario: `exploring-process.ts <name> <faults at most>`. */
import { explore, retrace } from './explore.ts';
import { explorationOf, type ScenarioReport } from './report.ts';

const [name = '', faultsMax] = process.argv.slice(2);
const exploration = explorationOf(name, Number(faultsMax));
const report = await explore(exploration);
const trace = report.violation === undefined ? [] : await retrace(exploration, report.path);
const processorSeconds = process.cpuUsage().user / 1e6;
process.stdout.write(JSON.stringify({ report, trace, processorSeconds } satisfies ScenarioReport));
