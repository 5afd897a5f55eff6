import { PortolanError } from '../model/errors.ts';
import type { Region } from '../platform/records.ts';
import type { EpochMs, MonotonicMs } from '../model/time.ts';
import { REGION_ENABLED, regionState } from '../plan/guard.ts';
import type { PlatformClient } from '../platform/client.ts';
import type { Clock } from '../runtime/clock.ts';

export type Regions = ReturnType<typeof createRegions>;

type RegionClient = Pick<PlatformClient, 'name' | 'regions'>;

type RegionCheck =
  | { readonly type: 'open' }
  | {
      readonly type: 'paused';
      /** The end of "region x is …": `under maintenance`. */
      readonly state: string;
      readonly sinceMs: EpochMs;
      /** When the listing becomes too old. */
      readonly nextCheckMs: EpochMs;
    }
  /** The listing could not be read, and there is no older one. */
  | { readonly type: 'unknown'; readonly error: PortolanError; readonly nextCheckMs: EpochMs };

export interface CheckedRegion {
  readonly platform: string;
  readonly region: string;
  readonly state: 'open' | 'paused';
  /** `region x is under maintenance`. */
  readonly message: string;
  readonly sinceMs: EpochMs;
}

/** Time until a failed listing is retried, however often it is needed. */
export const FAILED_MS = 5_000;

interface Listing {
  readonly readMs: MonotonicMs;
  readonly goodForMs: number;
  /** Regions of the last listing that could be read. */
  readonly regions: readonly Region[] | undefined;
  readonly error: PortolanError | undefined;
}

/**
 * Returns a function that reads the listing of a platform if the last one is older than the interval. Callers at the
 * same time share one request.
 */
function createListings(clock: Clock, intervalMs: number): (client: RegionClient, team: string) => Promise<Listing> {
  const listings = new Map<string, Promise<Listing>>();

  async function read(client: RegionClient, team: string, former: Promise<Listing> | undefined): Promise<Listing> {
    const known = await former?.catch(() => undefined);
    if (known !== undefined && clock.monotonic() - known.readMs < known.goodForMs) return known;
    try {
      // One listing can serve several teams, if the token may list all regions.
      const regions = await client.regions({ team, maxAgeMs: intervalMs / 2 });
      return { readMs: clock.monotonic(), goodForMs: intervalMs, regions, error: undefined };
    } catch (error) {
      if (!(error instanceof PortolanError)) throw error;
      const goodForMs = Math.min(FAILED_MS, intervalMs);
      return { readMs: clock.monotonic(), goodForMs, regions: known?.regions, error };
    }
  }

  return (client, team) => {
    const key = `${client.name}/${team}`;
    // Each call waits for the one before it, and uses its listing while that is recent.
    const listing = read(client, team, listings.get(key));
    listings.set(key, listing);
    return listing;
  };
}

/**
 * Returns which regions take changes. A region that is not enabled is paused, and resumes when a later listing says so.
 * A listing is read only when it is needed and the last one is older than the interval. There is no timer.
 */
export function createRegions(options: {
  readonly clock: Clock;
  /** Maximum age of a listing. */
  readonly intervalMs: number;
  /** Called when a region is paused or resumed, and when the first check finds it paused. Must not throw. */
  readonly onChange?: (region: CheckedRegion) => void;
}) {
  const { clock, intervalMs, onChange } = options;
  const listingOf = createListings(clock, intervalMs);
  const checked = new Map<string, CheckedRegion>();

  function remember(platform: string, region: string, stateInWords: string | undefined): CheckedRegion {
    const key = `${platform}/${region}`;
    const before = checked.get(key);
    const state = stateInWords === undefined ? 'open' : 'paused';
    const message = `region ${region} is ${stateInWords ?? regionState(REGION_ENABLED)}`;
    const now: CheckedRegion = {
      platform,
      region,
      state,
      message,
      sinceMs: before?.state === state ? before.sinceMs : clock.now(),
    };
    checked.set(key, now);
    if (now.state !== (before?.state ?? 'open')) onChange?.(now);
    return now;
  }

  return {
    /** Returns whether a region takes changes. Does not reject when the platform fails. */
    check: async (client: RegionClient, team: string, region: string): Promise<RegionCheck> => {
      const { regions, error, readMs, goodForMs } = await listingOf(client, team);
      const nextCheckMs = clock.now() + Math.max(0, readMs + goodForMs - clock.monotonic());
      if (regions === undefined) {
        if (error === undefined)
          throw new Error(`the listing of regions of ${client.name} has neither rows nor an error`);
        return { type: 'unknown', error, nextCheckMs };
      }
      const state = stateOf(regions.find(({ name }) => name === region));
      const { sinceMs } = remember(client.name, region, state);
      return state === undefined ? { type: 'open' } : { type: 'paused', state, sinceMs, nextCheckMs };
    },
    /** Returns every region that was checked, as of the last check. */
    checked: (): readonly CheckedRegion[] => [...checked.values()],
  };
}

/** Returns the state of a region that takes no changes, or `undefined`. */
function stateOf(region: Region | undefined): string | undefined {
  if (region === undefined) return 'not in the list of regions';
  return region.status === REGION_ENABLED ? undefined : regionState(region.status);
}
