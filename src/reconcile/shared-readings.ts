import type { ApplicationSpec } from '../kinds/application/spec.ts';
import { keyOf, type Readable, type Reading } from '../model/reading.ts';
import { PortolanError } from '../model/errors.ts';
import { type Scope, scopeKey } from '../model/ids.ts';
import type { ApplicationSummary } from '../platform/records.ts';
import type { MonotonicMs } from '../model/time.ts';
import type { PlatformClient } from '../platform/client.ts';
import { listApplications } from '../platform/readings.ts';
import type { Clock } from '../runtime/clock.ts';

/**
 * Listings that answer for many applications at once. Requests are the scarce resource, and most applications are as they
 * should be: that is concluded from what is shared. Nothing is ever written upon it: where anything differs, the
 * application is read by itself.
 */
export interface SharedReadings {
  /** Applications of the team in the region; not readable where asking for each application costs no more. */
  applications(client: PlatformClient, team: string, region: string): Promise<Readable<readonly ApplicationSummary[]>>;
  /** Returns shared readings in place of an application's own listings; undefined where no shared reading has the answer. */
  of(client: PlatformClient, scope: Scope): <T>(reading: Reading<T>) => Promise<Readable<T>> | undefined;
  /**
   * Returns the same readings for a pass that was wanted at this time. A reading that was asked for since then is new enough for it, so
   * that a listing serves a whole round, however long the round takes.
   */
  wantedAt(wantedMs: MonotonicMs): SharedReadings;
  /** Something was sent there: what was read before is of no use for it any more. */
  changed(scope: Scope): void;
  /** Drops all answers, or those of some platforms. */
  forget(platforms?: ReadonlySet<string>): void;
}

interface Asked<T> {
  readonly askedMs: MonotonicMs;
  readonly answer: Promise<Readable<T>>;
}

const UNREADABLE = { readable: false } as const;
const ANY = { notBeforeMs: Number.NEGATIVE_INFINITY };

/** Holds the greatest age of a reading. */
interface Ages {
  readonly ageMs: number;
  /** For a pass that was wanted before the reading was asked for. Default: the same. */
  readonly roundMs?: number;
}

/** @param applications all that one round looks at: a listing is asked for only where it answers for two or more. */
export function createSharedReadings(
  applications: readonly ApplicationSpec[],
  clock: Clock,
  { ageMs, roundMs = ageMs }: Ages,
): SharedReadings {
  // Grouped when something is asked for: after most commits nothing is.
  const ofTeam = once(() => Map.groupBy(applications, ({ platform, team, region }) => teamKey(platform, team, region)));
  const ofPlatform = once(() => Map.groupBy(applications, ({ platform }) => platform));
  const readings = new Map<string, Asked<unknown>>();
  const changedMs = new Map<string, MonotonicMs>();

  async function shared<T>(
    key: string,
    { notBeforeMs, wantedMs }: { readonly notBeforeMs: MonotonicMs; readonly wantedMs: MonotonicMs },
    ask: () => Promise<Readable<T>>,
  ): Promise<Readable<T>> {
    const nowMs = clock.monotonic();
    const known = readings.get(key) as Asked<T> | undefined;
    const maxAgeMs = known !== undefined && known.askedMs >= wantedMs ? roundMs : ageMs;
    if (known !== undefined && nowMs - known.askedMs <= maxAgeMs && known.askedMs > notBeforeMs) return known.answer;
    // A server that lists one application's rules may refuse the listing of all rules, or fail at one unreadable rule.
    const answer = ask().catch((error: unknown): Readable<T> => {
      if (error instanceof PortolanError) return UNREADABLE;
      throw error;
    });
    readings.set(key, { askedMs: nowMs, answer });
    return answer;
  }

  const isShared = async (key: string): Promise<typeof UNREADABLE | undefined> =>
    (await readings.get(key)?.answer)?.readable === true ? UNREADABLE : undefined;

  const readingsAt = (wantedMs: MonotonicMs): SharedReadings => ({
    wantedAt: readingsAt,
    applications: async (client, team, region) => {
      const key = teamKey(client.name, team, region);
      if ((ofTeam().get(key)?.length ?? 0) < 2) return UNREADABLE;
      return shared(key, { ...ANY, wantedMs }, () => client.read(listApplications, { team, region }));
    },
    of: (client, scope) => (reading) => {
      const { below, shared: listing } = reading;
      if (below === 'team') {
        const key = `${client.name} ${scope.team} ${keyOf(reading)}`;
        return shared(key, { ...ANY, wantedMs }, () => client.read(reading, scope));
      }
      // An application does not read a listing of the whole platform while a shared one exists.
      if (below === 'platform') return orOwn(client, scope, reading, isShared(`${client.name} ${keyOf(reading)}`));
      if (listing === undefined || (ofPlatform().get(client.name)?.length ?? 0) < 2) return undefined;
      const notBeforeMs = changedMs.get(scopeKey(scope)) ?? Number.NEGATIVE_INFINITY;
      const key = `${client.name} ${keyOf(listing.by)}`;
      const all = shared(key, { notBeforeMs, wantedMs }, () => byScope(client, listing));
      return orOwn(client, scope, reading, all.then(ofScope(scope, listing.none)));
    },
    changed: (scope) => void changedMs.set(scopeKey(scope), clock.monotonic()),
    forget: (platforms) => {
      for (const key of readings.keys()) if (platforms?.has(platformOf(key)) !== false) readings.delete(key);
    },
  });
  return readingsAt(Number.POSITIVE_INFINITY);
}

/** Returns the shared answer, or the answer of the application's own listing if there is none. */
async function orOwn<T>(
  client: PlatformClient,
  scope: Scope,
  reading: Reading<T>,
  shared: Promise<Readable<T> | undefined>,
): Promise<Readable<T>> {
  return (await shared) ?? (await client.read(reading, scope));
}

function ofScope<T>(scope: Scope, none: T) {
  return (all: Readable<ReadonlyMap<string, T>>): Readable<T> | undefined =>
    all.readable ? { readable: true, value: all.value.get(scopeKey(scope)) ?? none } : undefined;
}

async function byScope<T>(
  client: PlatformClient,
  { by, split }: NonNullable<Reading<T>['shared']>,
): Promise<Readable<ReadonlyMap<string, T>>> {
  const answer = await client.read(by, {});
  if (!answer.readable) return answer;
  const value = split(answer.value as never, (place) => scopeKey({ ...place, platform: client.name }));
  return { readable: true, value };
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

/** Returns the platform that the key of a reading begins with. Its name has neither space nor slash. */
function platformOf(key: string): string {
  return key.split(/[ /]/, 1)[0] ?? key;
}

function teamKey(platform: string, team: string, region: string): string {
  return `${platform}/${team}/${region}`;
}
