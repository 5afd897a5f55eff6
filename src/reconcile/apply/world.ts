import type { ReconciledKinds } from '../../kinds/define.ts';
import type { StoreAccess } from '../../kinds/reconciled.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { ResourceId } from '../../model/ids.ts';
import type { EpochMs, MonotonicMs } from '../../model/time.ts';
import type { Action } from '../../model/plan.ts';
import type { PlatformClient } from '../../platform/client.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { PolicyJudge } from '../policy-judge.ts';
import type { ActionResult } from '../../plan/result.ts';
import type { Settings } from '../../configuration/settings/spec.ts';

/** Times after which answers and doubts expire. All are settings; the defaults are below. */
export interface Timing {
  /** After an ambiguous write, nothing is concluded before this: target-state writes, creations, installs. */
  readonly settleTargetStateMs: number;
  readonly settleCreationMs: number;
  readonly settleInstallMs: number;
  /** An observation older than this is not written upon. */
  readonly observationMaxAgeMs: number;
  /** Two readings of "not there" must be this far apart to count as absence. */
  readonly absenceApartMs: number;
  /** A write leaves within this time of its intent, or not at all. */
  readonly sendWithinMs: number;
}

/** Events during an apply, for progress lines and logs. */
export type ApplyEvent =
  | { readonly type: 'started'; readonly action: Action; readonly scope: string }
  | { readonly type: 'finished'; readonly action: Action; readonly scope: string; readonly result: ActionResult }
  | {
      readonly type: 'resolved';
      readonly resource: ResourceId;
      readonly scope: string;
      readonly intent: string;
      readonly how: string;
    }
  | { readonly type: 'waiting'; readonly scope: string; readonly message: string; readonly untilMs: number };

/** The run, the application and the commit that writes belong to. The history records them with each intent. */
export interface Origin {
  /** Unique in the ledger: the epoch of a command, `12`, or the epoch and the pass of a daemon, `12.3`. */
  readonly run: string;
  readonly application: ResourceId;
  /** `main@sha1:<id>`; null for plain files. */
  readonly revision: string | null;
  /** Author and time of the commit, as far as they are known. */
  readonly author?: string | undefined;
  readonly committedMs?: EpochMs | undefined;
  /** The run that this one undoes. */
  readonly undoes?: string;
}

/** Everything that changing one scope needs of the outside. The simulator has another one and runs the same code. */
export interface ApplyWorld {
  readonly kinds: ReconciledKinds;
  readonly client: PlatformClient;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly random: Random;
  readonly stores: ReadonlyMap<string, StoreAccess>;
  readonly timing: Timing;
  /** Who acts, for the history: `cli alice@host`, `daemon`. */
  readonly actor: string;
  readonly source: string;
  /** undefined: Settings have no policies. */
  readonly policies?: PolicyJudge | undefined;
  /** Id of the accepted snapshot that the plan was made from. */
  readonly snapshot: string;
  /** Returns until when a request may leave: another process may write later. Absent: always. */
  readonly sendUntilMs?: (() => MonotonicMs) | undefined;
  /** Absent: the history does not record it. */
  readonly origin?: Origin | undefined;
  emit(event: ApplyEvent): void;
  /** If set, no new action begins. Requests in flight are finished and recorded. */
  stopRequested(): 'interrupted' | 'fail-fast' | undefined;
}

/** Functions by which a driver receives events and stops changes. */
export type WorldHooks = Pick<ApplyWorld, 'emit' | 'stopRequested'>;

/** For plans that are not carried out. */
export const silentHooks: WorldHooks = { emit() {}, stopRequested: () => undefined };

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
