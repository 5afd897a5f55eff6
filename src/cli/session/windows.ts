import type { Windows } from '../../plan/guard.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Input } from './input.ts';

/** What it takes to work windows out is loaded only where there are some. */
export async function windowsOf({ configuration }: Input, clock: Clock): Promise<Windows['at'] | undefined> {
  const { windows } = configuration.settings;
  if (windows.length === 0) return undefined;
  const { windowsAt } = await import('../../plan/windows.ts');
  return windowsAt(windows, clock);
}
