import type { Timing } from '../apply/world.ts';
import type { SettingsSpec } from '../kinds/settings/spec.ts';
import { parseDuration } from '../model/duration.ts';

/** The defaults; the operator's Settings and tests have others. Reasons: a real server gives a request up after about 75 s. */
export const defaultTiming: Timing = {
  settleTargetStateMs: 90_000,
  settleCreationMs: 5 * 60_000,
  settleInstallMs: 20 * 60_000,
  observationMaxAgeMs: 5_000,
  absenceApartMs: 2_000,
  sendWithinMs: 2_000,
};

/** The operator's settle windows over the defaults. */
export function timingOf({ settle }: SettingsSpec): Timing {
  const ms = (text: string, otherwise: number): number => parseDuration(text) ?? otherwise;
  return {
    ...defaultTiming,
    settleTargetStateMs: ms(settle.targetState, defaultTiming.settleTargetStateMs),
    settleCreationMs: ms(settle.creation, defaultTiming.settleCreationMs),
    settleInstallMs: ms(settle.install, defaultTiming.settleInstallMs),
  };
}
