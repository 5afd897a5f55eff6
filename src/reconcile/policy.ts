import type { ApplyWorld } from './apply/world.ts';
import type { Action } from '../model/plan.ts';
import type { Pause } from '../model/status.ts';
import type { EpochMs } from '../model/time.ts';
import type { Refusal } from '../plan/guard.ts';
import type { SkipReason } from '../plan/result.ts';
import type { Outcome } from './outcome.ts';
import { withIgnoredPolicies, withPolicyResults } from './policy-results.ts';
import type { Prepared, Seen } from './work.ts';

/**
 * Says what a driver lets one application do. Command line, daemon and simulator differ only in their policy. A policy
 * is made for one call of `reconcile`, and may keep state during it.
 */
export interface PassPolicy {
  /** Why nothing of a plan may be sent. Asked of every plan of a call, and the only place that evaluates guards. */
  refusals(seen: Seen, world: ApplyWorld): Promise<readonly Refusal[]>;
  /**
   * Returns whether anything is applied at all. Called with the first plan of each pass, refused or not.
   * @throws PortolanError when the application is at fault: then nothing is known of it.
   */
  admit(prepared: Prepared): Admission | Promise<Admission>;
  /** Which actions may be sent. Asked after `admit`, in every round. */
  permits(action: Action): boolean;
  /** Returns why nothing may be sent for an application at this moment. Called before each write, and when it leaves. */
  withheld(prepared: Prepared): SkipReason | undefined;
  /** Takes from an allowance what these actions may need, durably, before anything is sent. */
  reserve(actions: readonly Action[], prepared: Prepared, world: ApplyWorld): Promise<Reservation | readonly Refusal[]>;
  /** Returns whether another pass follows. @param outcome of all passes of the call. */
  next(outcome: Outcome): Next;
}

/** `observe`: nothing is applied, and no reason is needed. */
export type Admission = 'go' | 'observe' | Pause;

export interface Reservation {
  /** Gives back what was not needed. */
  release(outcome: Outcome): Promise<void>;
}

export type Next =
  | 'end'
  | { readonly untilMs: EpochMs; readonly sleepMs: number; readonly message: string; readonly signal: AbortSignal };

/** For those who need no allowance. */
export const unlimited: Reservation = { async release() {} };

export function isReserved(answer: Reservation | readonly Refusal[]): answer is Reservation {
  return 'release' in answer;
}

/** An observation with what policies and guards say to it. */
export async function judged(seen: Seen, world: ApplyWorld, policy: PassPolicy): Promise<Prepared> {
  const known = await withPolicyResults(seen, world);
  return withIgnoredPolicies({ ...known, refusals: await policy.refusals(known, world) });
}
