import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type ModelMutant, modelMutants } from './mutants.ts';

const PROCESS = fileURLToPath(new URL('mutant-process.ts', import.meta.url));
const TIMEOUT_MS = 300_000;

/** What the model finds in a mutant. `by` is undefined: nothing. */
export interface ModelDeath {
  readonly by?: string;
  readonly message?: string;
  readonly executions: number;
}

export async function modelDeathOf(mutant: ModelMutant): Promise<ModelDeath> {
  const args = [PROCESS, String(modelMutants.indexOf(mutant))];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: TIMEOUT_MS });
  return JSON.parse(stdout) as ModelDeath;
}
