import type { ApplicationSpec } from '../kinds/application/spec.ts';
import type { Readable } from '../kinds/reconciled.ts';
import { PortolanError } from '../model/errors.ts';
import { type Scope, scopeKey } from '../model/ids.ts';
import type { ApplicationSummary, CertificateRecord, RuleRecord } from '../model/observed.ts';
import type { MonotonicMs } from '../model/time.ts';
import type { PlatformClient } from '../platform/client.ts';
import type { Clock } from '../runtime/clock.ts';

/**
 * Listings that answer for many applications at once. Requests are the scarce resource, and most applications are as they
 * should be: that is concluded from what is shared. Nothing is ever written upon it: where anything differs, the
 * application is read by itself.
 */
export interface SharedReadings {
  /** Applications of the team in the region; not readable where asking for each application costs no more. */
  applications(client: PlatformClient, team: string, region: string): Promise<Readable<readonly ApplicationSummary[]>>;
  /** Rules of the application; not readable where asking for each application costs no more. */
  rules(client: PlatformClient, scope: Scope): Promise<Readable<readonly RuleRecord[]>>;
  /** Certificates of the team, without keys. */
  certificates(client: PlatformClient, team: string): Promise<Readable<readonly CertificateRecord[]>>;
  /** Something was sent there: what was read before is of no use for it any more. */
  changed(scope: Scope): void;
  /** What was read so far is of no use to anybody any more. */
  forget(): void;
}

interface Reading<T> {
  readonly askedMs: MonotonicMs;
  readonly answer: Promise<Readable<T>>;
}

const UNREADABLE = { readable: false } as const;

/**
 * @param applications all that one round looks at: a listing is asked for only where it answers for two or more.
 * @param maxAgeMs how old a reading may be.
 */
export function createSharedReadings(
  applications: readonly ApplicationSpec[],
  clock: Clock,
  maxAgeMs: number,
): SharedReadings {
  // Counted when something is asked for: after most commits nothing is.
  const applicationsOf = once(() =>
    countBy(applications, ({ platform, team, region }) => teamKey(platform, team, region)),
  );
  const ofPlatform = once(() => countBy(applications, ({ platform }) => platform));
  const readings = new Map<string, Reading<unknown>>();
  const changedMs = new Map<string, MonotonicMs>();

  async function shared<T>(
    key: string,
    notBeforeMs: MonotonicMs,
    ask: () => Promise<Readable<T>>,
  ): Promise<Readable<T>> {
    const nowMs = clock.monotonic();
    const known = readings.get(key) as Reading<T> | undefined;
    if (known !== undefined && nowMs - known.askedMs <= maxAgeMs && known.askedMs > notBeforeMs) return known.answer;
    // A server that lists one application's rules may refuse those of everybody, or hold one that nobody can read.
    const answer = ask().catch((error: unknown): Readable<T> => {
      if (error instanceof PortolanError) return UNREADABLE;
      throw error;
    });
    readings.set(key, { askedMs: nowMs, answer });
    return answer;
  }

  return {
    applications: async (client, team, region) => {
      const key = teamKey(client.name, team, region);
      if ((applicationsOf().get(key) ?? 0) < 2) return UNREADABLE;
      return shared(key, Number.NEGATIVE_INFINITY, () => client.applications(team, region));
    },
    rules: async (client, scope) => {
      if ((ofPlatform().get(client.name) ?? 0) < 2) return UNREADABLE;
      const notBeforeMs = changedMs.get(scopeKey(scope)) ?? Number.NEGATIVE_INFINITY;
      const all = await shared(client.name, notBeforeMs, () => rulesByScope(client));
      return all.readable ? { readable: true, value: all.value.get(scopeKey(scope)) ?? [] } : all;
    },
    certificates: (client, team) =>
      shared(`certificates ${client.name}/${team}`, Number.NEGATIVE_INFINITY, () => client.certificates(team)),
    changed: (scope) => void changedMs.set(scopeKey(scope), clock.monotonic()),
    forget: () => readings.clear(),
  };
}

async function rulesByScope(client: PlatformClient): Promise<Readable<ReadonlyMap<string, readonly RuleRecord[]>>> {
  const answer = await client.allRules();
  if (!answer.readable) return answer;
  const rules = new Map<string, RuleRecord[]>();
  for (const { team, region, appId, rule } of answer.value) {
    const key = scopeKey({ platform: client.name, team, region, appId });
    const present = rules.get(key);
    if (present === undefined) rules.set(key, [rule]);
    else present.push(rule);
  }
  return { readable: true, value: rules };
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

function teamKey(platform: string, team: string, region: string): string {
  return `${platform}/${team}/${region}`;
}

function countBy(
  applications: readonly ApplicationSpec[],
  keyOf: (application: ApplicationSpec) => string,
): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const application of applications) {
    const key = keyOf(application);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}
