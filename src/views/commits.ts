import type { Standing } from '../controller/api.ts';
import { conditionOf, decidedStatus, fleetState } from '../controller/application-state.ts';
import { type CommitRecord, idOf } from '../controller/commits.ts';
import { pauseMessage } from '../controller/conditions.ts';
import type { CommitDetails, CommitSummary, WaitingApplication } from '../model/fleet.ts';
import type { ApplicationStatus } from '../model/status.ts';
import type { EpochMs } from '../model/time.ts';
import { cut } from '../plan/words.ts';
import type { CommitFacts } from '../source/feed.ts';
import { reasonOf, sinceOf } from './fleet.ts';

/** The commits and the applications that they changed, as far as a caller may see them. */
export interface CommitWorld {
  /** The newest first. */
  readonly commits: readonly CommitRecord[];
  readonly standings: readonly Standing[];
  /** The revision that is being applied; null: none yet. */
  readonly acceptedRevision: string | null;
}

type Progress = CommitSummary['progress'];

interface Tally {
  readonly waiting: Standing[];
  readonly applied: { readonly application: Standing['id']; readonly appliedMs: EpochMs }[];
  superseded: number;
}

/** Returns what became of each commit, by revision. It looks at each application once. */
export function talliesOf(standings: readonly Standing[]): ReadonlyMap<string, Tally> {
  const tallies = new Map<string, Tally>();
  for (const standing of standings) {
    const { commits } = standing.kept;
    for (const [at, { revision, appliedMs }] of commits.entries()) {
      let tally = tallies.get(revision);
      if (tally === undefined) tallies.set(revision, (tally = { waiting: [], applied: [], superseded: 0 }));
      if (appliedMs !== null) tally.applied.push({ application: standing.id, appliedMs });
      else if (at === commits.length - 1) tally.waiting.push(standing);
      else tally.superseded += 1;
    }
  }
  return tallies;
}

const NO_TALLY: Tally = { waiting: [], applied: [], superseded: 0 };

/** Returns the commits with their progress, the newest first. */
export function commitSummaries(world: CommitWorld): readonly CommitSummary[] {
  const tallies = talliesOf(world.standings);
  return world.commits.map((record) => summaryOf(record, world, tallies.get(record.revision) ?? NO_TALLY));
}

const LISTED_MAX = 100;

/** Returns a commit that was read, with the applications that it changed. */
export function commitDetails(record: CommitRecord, world: CommitWorld): CommitDetails {
  const tally = talliesOf(world.standings).get(record.revision) ?? NO_TALLY;
  const waiting = tally.waiting.map(({ status, kept }) => waitingOf(decidedStatus(status, kept), kept));
  return {
    ...summaryOf(record, world, tally),
    problems: record.problems,
    waiting: waiting.toSorted((left, right) => left.sinceMs - right.sinceMs).slice(0, LISTED_MAX),
    applied: tally.applied.toSorted((left, right) => right.appliedMs - left.appliedMs).slice(0, LISTED_MAX),
  };
}

function summaryOf(record: CommitRecord, world: CommitWorld, tally: Tally): CommitSummary {
  const { revision, id, author, subject, committedMs, observedMs, acceptedMs, error, removed } = record;
  const progress = progressOf(record, tally);
  return {
    revision,
    id,
    author,
    subject,
    committedMs,
    observedMs,
    acceptedMs,
    state: stateOf(record, progress, world.acceptedRevision),
    successor: successorOf(record, world),
    error,
    progress,
    removed,
  };
}

function progressOf({ changed }: CommitRecord, { waiting, applied, superseded }: Tally): Progress {
  const known = waiting.length + applied.length + superseded;
  const all = Math.max(known, changed ?? 0);
  return {
    changed: all,
    applied: applied.length,
    waiting: waiting.length,
    superseded,
    unknown: all - known,
  };
}

function stateOf(
  { acceptedMs, error, revision }: CommitRecord,
  { waiting, superseded, unknown }: Progress,
  acceptedRevision: string | null,
): CommitSummary['state'] {
  if (error !== null) return 'rejected';
  if (acceptedMs === null) return 'reading';
  if (waiting > 0) return 'applying';
  if (superseded > 0) return 'superseded';
  // The present revision is the last one that changed these applications.
  return unknown > 0 && revision !== acceptedRevision ? 'unknown' : 'applied';
}

/** Returns the revision that was accepted next. */
function successorOf({ revision }: CommitRecord, { commits }: CommitWorld): string | null {
  const at = commits.findIndex((one) => one.revision === revision);
  return commits.slice(0, Math.max(0, at)).findLast(({ acceptedMs }) => acceptedMs !== null)?.revision ?? null;
}

const REASON_LENGTH_MAX = 400;

/** Returns why an application has not applied the last commit that changed it. */
function waitingOf(status: ApplicationStatus, kept: Standing['kept']): WaitingApplication {
  const state = fleetState(status);
  const { blocker, reason } = blockerOf(status, kept);
  const { pause } = status;
  const waits = status.pending?.waits ?? [];
  const holdEnds = status.resources.flatMap(({ holds }) => holds.flatMap(({ untilMs }) => untilMs ?? []));
  const untilMs =
    pause !== null && 'untilMs' in pause
      ? pause.untilMs
      : blocker === 'install'
        ? (waits[0]?.untilMs ?? null)
        : blocker === 'doubt' && holdEnds.length > 0
          ? Math.max(...holdEnds)
          : null;
  return {
    application: status.id,
    state,
    blocker,
    reason: cut(reason === '' ? reasonOf(status, state) : reason, REASON_LENGTH_MAX),
    sinceMs: sinceOf(status, state),
    untilMs,
  };
}

type Blocker = Pick<WaitingApplication, 'blocker' | 'reason'>;

/** Returns what an application waits for. Reasons that require manual action come first. */
function blockerOf(status: ApplicationStatus, { goneForMs }: Standing['kept']): Blocker {
  const { approval, pause, lastError, failures, pending, resources } = status;
  const ready = conditionOf(status, 'Ready');
  const of = (blocker: Blocker['blocker'], reason = ready?.message ?? ''): Blocker => ({ blocker, reason });
  if (approval !== null) return of('approval', approval.refusals.map(({ message }) => message).join('; '));
  if (ready?.reason === 'Denied') return of('policy');
  const holds = resources.flatMap((resource) => resource.holds);
  const hold = holds.find(({ untilMs }) => untilMs === undefined);
  if (hold !== undefined) return of('hold', `${hold.resource}: ${hold.message}`);
  if (pause?.type === 'suspended') return of('suspended', pauseMessage(pause));
  if (lastError !== null && failures > 0 && pause === null) return of('failure', lastError.message);
  if (pause !== null) {
    const cause = pause.type === 'circuit' && lastError !== null ? `; last error: ${lastError.message}` : '';
    return of(pause.type, `${pauseMessage(pause)}${cause}`);
  }
  const [doubt] = holds;
  if (doubt !== undefined) return of('doubt', `${doubt.resource}: ${doubt.message}`);
  if (ready?.reason === 'InDoubt') return of('doubt');
  const [wait] = pending?.waits ?? [];
  if (wait !== undefined) return of('install', `${wait.resource}: ${wait.message}`);
  if (ready?.reason === 'Drifted') return of('report-only');
  if (ready?.reason === 'Pending' && Object.keys(goneForMs).length > 0) return of('removal-age', REMOVAL_AGE);
  return of('pass', ready?.reason === 'InSync' ? 'its next pass is due' : ready?.message);
}

const REMOVAL_AGE =
  'a removal waits until its resource has been gone from git for the time that spec.controller.pruneAfter of Settings says';

/** A commit that git has, and that the controller did not read by itself. */
export interface FoundOlder extends CommitFacts {
  /** The first accepted commit that contains it; undefined: none is known to. */
  readonly containedIn: CommitRecord | undefined;
  /** Whether the accepted revision contains it; undefined: unknown. */
  readonly isAccepted: boolean | undefined;
}

/** Returns a commit that the controller did not read by itself. */
export function foundDetails(found: FoundOlder, label: string): CommitDetails {
  const { id, author, subject, committedMs, containedIn, isAccepted } = found;
  return {
    revision: label,
    id,
    author: author ?? null,
    subject: subject ?? null,
    committedMs,
    observedMs: null,
    acceptedMs: containedIn?.acceptedMs ?? null,
    state: containedIn !== undefined ? 'contained' : isAccepted === false ? 'not-accepted' : 'unknown',
    successor: containedIn?.revision ?? null,
    error: null,
    progress: { changed: 0, applied: 0, waiting: 0, superseded: 0, unknown: 0 },
    removed: null,
    problems: [],
    waiting: [],
    applied: [],
  };
}

/** Returns the records whose ids begin with a text, the newest first. One commit counts once. */
export function recordsOf(commits: readonly CommitRecord[], prefix: string): readonly CommitRecord[] {
  const found = commits.filter(({ id }) => id.startsWith(prefix));
  return found.filter(({ id }, at) => found.findIndex((one) => one.id === id) === at);
}

/** Returns the digits in what a user pasted: an id, a part of one, or a revision such as `main@sha1:5a2e…`. */
export function prefixOf(text: string): string | undefined {
  return /^[0-9a-f]{4,64}$/.exec(idOf(text).replace(/^.*@/, '').toLowerCase())?.[0];
}
