import { isDeepStrictEqual } from 'node:util';
import type { Freshness } from './apply/apply-plan.ts';
import type { ApplyWorld } from './apply/world.ts';
import type { ScopeReading } from '../kinds/reconciled.ts';
import type { CachingReader } from './scope-reader.ts';

/** The readings that a plan was made from, kept young enough to write upon. */
export interface FreshReadings {
  /** The reader with all that was read last. */
  reader(): CachingReader;
  /**
   * Reads again what is older than an observation may be, and nothing else. A reading that the plan was not made from is
   * left out.
   * @throws PortolanError where the platform does not answer.
   */
  freshen(readings: readonly ScopeReading[]): Promise<Freshness>;
}

export function createFreshReadings(
  { clock, timing }: Pick<ApplyWorld, 'clock' | 'timing'>,
  planned: CachingReader,
): FreshReadings {
  let reader = planned;
  return {
    reader: () => reader,
    freshen: async (readings) => {
      const oldestMs = clock.monotonic() - timing.observationMaxAgeMs;
      const old = readings.filter((reading) => (reader.askedMs(reading) ?? Number.POSITIVE_INFINITY) < oldestMs);
      if (old.length === 0) return { read: old, isAsPlanned: true };
      const before = await Promise.all(old.map((reading) => reader.read(reading)));
      reader = reader.without(new Set(old));
      const after = await Promise.all(old.map((reading) => reader.read(reading)));
      return { read: old, isAsPlanned: isDeepStrictEqual(before, after) };
    },
  };
}
