import type { LedgerOperation } from '../ledger/ledger.ts';
import type { SourceLedger } from '../ledger/source-ledger.ts';
import type { Problem } from '../model/problem.ts';
import type { DesiredState } from '../model/resource.ts';
import type { StatusError } from '../model/status.ts';
import type { Refusal } from '../plan/guard.ts';
import { amount } from '../plan/words.ts';
import { guardRemovals, guardSource, type SourceFacts } from '../reconcile/guards.ts';
import type { Clock } from '../runtime/clock.ts';
import type { LoadedSource } from '../source/contents.ts';
import type { SourceReading } from '../source/feed.ts';
import { openingOperations } from './account.ts';
import { acceptSnapshot, largestSize, successionOf } from '../source/snapshot.ts';

/** Overrides that an operator sets at the start, for the first reading only. */
export interface Allowances {
  readonly empty: boolean;
  readonly shrunk: boolean;
  readonly rewind: boolean;
}

export const nothingAllowed: Allowances = { empty: false, shrunk: false, rewind: false };

/** A reading that the controller applies. */
export interface AcceptedSource {
  readonly desired: DesiredState;
  readonly revision: string;
  readonly snapshot: string;
  /** Objects of the source in the ledger when it was accepted. */
  readonly owned: number;
  /**
   * Returns why resources that were removed from git stay on the platform until an operator approves, given the number
   * of removals.
   */
  readonly removalRefusals: (prunes: number) => readonly Refusal[];
}

/** Facts about a reading that were decided once, at its acceptance: the guards over the whole source do not decide again. */
export interface Decision {
  /** Objects of the source in the ledger when it was accepted. */
  readonly owned: number;
  readonly facts: SourceFacts;
}

/** An accepted source, and when and from which commit it was read. */
export interface AcceptedReading {
  readonly accepted: AcceptedSource;
  readonly reading: Pick<SourceReading, 'observedMs' | 'commit'>;
}

export type Acceptance =
  | { readonly type: 'accepted'; readonly accepted: AcceptedSource; readonly decision: Decision }
  /** The source that was accepted before stays in force. */
  | { readonly type: 'refused'; readonly error: StatusError; readonly problems: readonly Problem[] };

/**
 * Accepts or rejects a whole reading. A commit that does not descend from the one before, or a source that lost many of
 * its resources, is accepted without its removals.
 * @param also returns operations for the transaction that accepts it.
 */
export async function accept(
  reading: SourceReading,
  { desired, problems, snapshot }: LoadedSource,
  sourceLedger: SourceLedger,
  allow: Allowances,
  also?: (snapshot: string, decision: Decision) => Promise<readonly LedgerOperation[]>,
): Promise<Acceptance> {
  const { ledger, source, clock } = sourceLedger;
  if (problems.length > 0) return { type: 'refused', problems, error: rejectionOf(reading, problems, clock) };
  const owned = await ledger.objectCount({ source });
  const last = await ledger.lastSnapshot(source);
  // An accepted source stays accepted when it is read again, after the allowance has ended.
  const size = { source, resources: desired.size, isEmptyAllowed: allow.empty || last?.id === snapshot };
  const [empty] = guardSource({ ...size, largest: undefined, succession: undefined }, owned);
  if (empty !== undefined) {
    const remedy = `Restore the manifests. If the source should be empty, start the daemon once with ${empty.override}.`;
    return {
      type: 'refused',
      problems: [],
      error: { code: empty.code, message: `${reading.revision}: ${empty.message}`, remedy, atMs: clock.now() },
    };
  }
  const commit =
    reading.commit === null
      ? undefined
      : { id: reading.commit.id, descentFrom: (ancestor: string) => reading.descentFrom(ancestor) };
  const succession = allow.rewind ? undefined : await successionOf(commit, last);
  const largest = allow.shrunk ? undefined : await largestSize({ ledger, source });
  const facts: SourceFacts = { ...size, largest, succession };
  const decision: Decision = { owned, facts };
  const { id } = await acceptSnapshot({
    ...sourceLedger,
    snapshot,
    objects: desired.size,
    commit,
    allowShrunk: allow.shrunk,
    allowRewind: allow.rewind,
    // One transaction: no process can spend from the account of another snapshot.
    also: async ({ id }) => [
      ...(await openingOperations(sourceLedger, id, owned)),
      ...((await also?.(id, decision)) ?? []),
    ],
  });
  const accepted = { desired, revision: reading.revision, snapshot: id, owned, removalRefusals: refusalsBy(facts) };
  return { type: 'accepted', accepted, decision };
}

/** Returns why removals wait for an approval, by what was decided at acceptance. */
export function refusalsBy(facts: SourceFacts): AcceptedSource['removalRefusals'] {
  return (prunes) => guardRemovals(facts, prunes);
}

const SHOWN_MAX = 5;

function rejectionOf({ revision }: SourceReading, problems: readonly Problem[], clock: Clock): StatusError {
  const shown = problems
    .slice(0, SHOWN_MAX)
    .map(({ position: { file, line, column }, message }) => `${file}:${line}:${column}: ${message}`);
  const more = problems.length - shown.length;
  return {
    code: 'source/faulty',
    message: `${revision} was rejected because of ${amount(problems.length, 'error')}: ${shown.join('; ')}${more > 0 ? `; and ${more} more` : ''}`,
    remedy: 'Correct the manifests and commit again. `portolan validate` shows every error.',
    atMs: clock.now(),
  };
}
