import type { Timing } from './apply/world.ts';
import type { Settings } from '../configuration/settings/spec.ts';

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
export function timingOf({ settle }: Settings): Timing {
  return {
    ...defaultTiming,
    settleTargetStateMs: settle.targetStateMs,
    settleCreationMs: settle.creationMs,
    settleInstallMs: settle.installMs,
  };
}
