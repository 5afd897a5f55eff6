import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { DriverMutant } from '../drivers/mutants.ts';
import { replicaMutants } from './mutants.ts';
import { runReplicas } from './schedule.ts';

const PROCESS = fileURLToPath(new URL('mutant-process.ts', import.meta.url));
const TIMEOUT_MS = 300_000;

/** What kills a mutant of several controllers: its seed, which production lives through. undefined: it lives. */
export async function replicaDeathOf(
  mutant: DriverMutant,
): Promise<{ readonly by: string; readonly isRight: boolean } | undefined> {
  const { seed, script } = mutant;
  const args = [PROCESS, String(replicaMutants.indexOf(mutant)), String(seed), '1'];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: TIMEOUT_MS });
  if (stdout.trim() === '' || (await runReplicas(seed, script && { script })).violation !== undefined) return undefined;
  const { by } = JSON.parse(stdout) as { readonly by: string };
  return { by, isRight: mutant.rightly.includes(by) };
}
