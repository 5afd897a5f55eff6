import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type DriverMutant, driverMutants } from './mutants.ts';
import { runDrivers } from './schedule.ts';

const PROCESS = fileURLToPath(new URL('mutant-process.ts', import.meta.url));
const TIMEOUT_MS = 300_000;

/** What kills a mutant of the drivers: its seed, which production lives through. undefined: it lives. */
export async function driverDeathOf(
  mutant: DriverMutant,
): Promise<{ readonly by: string; readonly isRight: boolean } | undefined> {
  const args = [PROCESS, String(driverMutants.indexOf(mutant)), String(mutant.seed), '1'];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: TIMEOUT_MS });
  const { seed, script } = mutant;
  const lives = async () => (await runDrivers(seed, script === undefined ? {} : { script })).violation === undefined;
  if (stdout.trim() === '' || !(await lives())) return undefined;
  const { by } = JSON.parse(stdout) as { readonly by: string };
  return { by, isRight: mutant.rightly.includes(by) };
}
