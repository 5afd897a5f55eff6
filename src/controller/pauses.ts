import type { Pause } from '../model/status.ts';
import type { Core } from './core.ts';
import type { AppRecord } from './record.ts';

/** Why nothing is written for an application now, although it is looked at. */
export function pauseOf(_core: Core, { kept }: AppRecord): Pause | null {
  if (kept.suspended !== null) return { type: 'suspended', ...kept.suspended };
  return null;
}
