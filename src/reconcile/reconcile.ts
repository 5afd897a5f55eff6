import type { ApplyWorld } from './apply/world.ts';
import { PortolanError } from '../model/errors.ts';
import { mergeOutcomes, waitForPass } from './passes.ts';
import { observe } from './observation.ts';
import { type Outcome, refusedBy, untouched } from './outcome.ts';
import { isReserved, judged, type PassPolicy } from './policy.ts';
import { rounds } from './rounds.ts';
import type { PassOptions, Prepared, Work } from './work.ts';

export type { PassOptions, Prepared, Seen, Work } from './work.ts';

/**
 * Reconciles one application, pass after pass until its policy says that it is the end. The command line, the daemon and
 * the simulator call this; only the world and the policy differ. Never patches what it knows of the platform.
 * @param first what a call that only looked has seen, where its policy was asked about it.
 */
export async function reconcile(
  work: Work,
  world: ApplyWorld,
  options: PassOptions,
  policy: PassPolicy,
  first?: Prepared,
): Promise<Outcome> {
  let outcome = await pass(work, world, options, policy, first);
  for (;;) {
    const next = policy.next(outcome);
    if (next === 'end' || !(await waitForPass(next, outcome, world))) return outcome;
    outcome = await mergeOutcomes(outcome, await pass(work, world, options, policy, undefined), world);
  }
}

/** One pass: observe, plan, guard, reserve, and apply in rounds, each of which observes again what it touched. */
async function pass(
  work: Work,
  world: ApplyWorld,
  options: PassOptions,
  policy: PassPolicy,
  seen: Prepared | undefined,
): Promise<Outcome> {
  try {
    const prepared = seen ?? (await judged(await observe(work, world, options), world, policy));
    const admission = await policy.admit(prepared);
    if (options.readOnly || admission !== 'go' || prepared.refusals.length > 0) return untouched(prepared);

    const permitted = prepared.plan.actions.filter((action) => policy.permits(action));
    const reservation = await policy.reserve(permitted, prepared, world);
    if (!isReserved(reservation)) return refusedBy(reservation, prepared);

    const outcome = await rounds(prepared, world, options, policy);
    await reservation.release(outcome);
    return outcome;
  } catch (error) {
    // Everything thrown on purpose is reported for its application alone; anything else is a bug and ends the process.
    if (!(error instanceof PortolanError)) throw error;
    return { type: 'unobserved', application: work.application.id, error };
  }
}
