import type { ApplyWorld } from '../apply/world.ts';
import type { Outcome } from '../reconcile/outcome.ts';
import { reconcile } from '../reconcile/reconcile.ts';
import { DaemonPolicy, type PassEnvironment, type PassFindings } from './daemon-policy.ts';
import type { AppRecord } from './record.ts';

/** How a pass went, before anybody judges it. */
export interface Passed extends PassFindings {
  readonly outcome: Outcome;
}

/** One look at one application and, unless it is paused, what follows from it. Never throws what was thrown on purpose. */
export async function runPass(record: AppRecord, world: ApplyWorld, environment: PassEnvironment): Promise<Passed> {
  const policy = new DaemonPolicy(record, environment);
  const outcome = await reconcile(record.work, world, environment.options, policy);
  return { outcome, ...policy.findings(outcome) };
}
