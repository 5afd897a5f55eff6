import type { ApplyWorld } from '../apply/world.ts';
import { guardPlan } from '../guards.ts';
import { type PassPolicy, unlimited } from '../policy.ts';
import { reconcile } from '../reconcile.ts';
import type { PassOptions, Prepared, Work } from '../work.ts';

/**
 * Returns the state of one application and its plan; nothing is sent for it.
 * @throws PortolanError where the application cannot be observed.
 */
export async function observeOnly(work: Work, world: ApplyWorld, options: PassOptions): Promise<Prepared> {
  let seen: Prepared | undefined;
  const outcome = await reconcile(work, world, options, {
    ...nothing,
    refusals: (seen) => guardPlan(seen, options.limits, world),
    admit(prepared) {
      seen = prepared;
      return 'observe';
    },
  });
  if (outcome.type === 'unobserved') throw outcome.error;
  if (seen === undefined) throw new Error(`${work.application.id} was looked at and not seen`);
  return seen;
}

const nothing: Pick<PassPolicy, 'permits' | 'withheld' | 'reserve' | 'next'> = {
  permits: () => false,
  withheld: () => undefined,
  reserve: async () => unlimited,
  next: () => 'end',
};
