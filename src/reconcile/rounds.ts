import { applyPlan, type Freshness } from './apply/apply-plan.ts';
import type { ApplyWorld } from './apply/world.ts';
import { PortolanError } from '../model/errors.ts';
import { scopeKey } from '../model/ids.ts';
import type { ActionResult } from '../plan/result.ts';
import { updateLedger } from './ledger-view.ts';
import { createMembership } from './membership.ts';
import { reobserve } from './observation.ts';
import type { Outcome } from './outcome.ts';
import { judged, type PassPolicy } from './policy.ts';
import { readBack } from './read-back.ts';
import { runnable } from './runnable.ts';
import type { PassOptions, Prepared } from './work.ts';
import { isDeepStrictEqual } from 'node:util';
import type { ScopeReading } from '../kinds/reconciled.ts';
import type { CachingReader } from './scope-reader.ts';

type Ended = Extract<Outcome, { type: 'ended' }>;

/** Rounds of observing and applying in one pass that do nothing new, one after another: a platform that keeps moving. */
const IDLE_ROUNDS_MAX = 12;

/**
 * Carries a prepared plan out, in rounds. Later ones do only what the policy permits, which knows the plan that was named:
 * whatever else has come up meanwhile waits for the next pass and its approval.
 */
export async function rounds(
  first: Prepared,
  world: ApplyWorld,
  options: PassOptions,
  policy: PassPolicy,
): Promise<Outcome> {
  const results = new Map<string, ActionResult>();
  let current = first;
  const members = createMembership(world, first.scope);
  let rounds = 0;
  const ended = (how: Pick<Ended, 'waits' | 'error'>): Outcome => ({
    type: 'ended',
    application: first.work.application.id,
    plan: current.plan,
    results: [...results.values()],
    rounds,
    ...how,
  });
  try {
    const tooOld = world.clock.monotonic() - current.observedAtMs > world.timing.observationMaxAgeMs;
    // Each action reads again what it changes. Here, the ledger is read and the guards are evaluated.
    if (tooOld && current.plan.actions.length > 0)
      current = await judged(await reobserve(current, world, options, new Set()), world, policy);
    for (let idle = 0; idle < IDLE_ROUNDS_MAX; rounds += 1) {
      if (current.refusals.length > 0) break;
      current = await recorded(current, world, options, policy);
      const actions = runnable(current.plan, (action) => policy.permits(action), results);
      if (actions.length === 0) break;
      const fresh = createFreshReadings(world, current.reader);
      const applied = await applyPlan(world, {
        plan: current.plan,
        actions,
        resources: current.work.resources,
        live: current.live,
        ledgerView: current.ledgerView,
        members,
        freshen: fresh.freshen,
        freshReader: () => fresh.reader().without(),
        withheld: () => policy.withheld(first),
      });
      idle = isNewlyDone(applied.results, results) ? 0 : idle + 1;
      for (const result of applied.results) results.set(result.action.id, result);
      options.shared?.changed(current.scope);
      const touched = { ...current, reader: await members.inform(fresh.reader()) };
      const back = await readBack(touched, world, options, policy, applied);
      current = back.prepared;
      for (const result of back.untaken) {
        results.set(result.action.id, result);
        world.emit({ type: 'finished', action: result.action, scope: scopeKey(current.scope), result });
      }
      if (applied.error !== undefined) throw applied.error;
      if (applied.stopped !== undefined) break;
    }
    return ended({ waits: current.waits });
  } catch (error) {
    if (!(error instanceof PortolanError)) throw error;
    return ended({ waits: [], error });
  }
}

/** Writes down what was learned. @returns what there is to do then. */
async function recorded(
  found: Prepared,
  world: ApplyWorld,
  options: PassOptions,
  policy: PassPolicy,
): Promise<Prepared> {
  let current = found;
  let learned = options.ledgerKnown && (await updateLedger(world, current));
  while (learned && current.plan.deferred.length > 0) {
    // A deferred action may be ready now, because its install was just recorded as running.
    current = await judged(await reobserve(current, world, options, new Set()), world, policy);
    learned = await updateLedger(world, current);
  }
  return current;
}

function isNewlyDone(results: readonly ActionResult[], former: ReadonlyMap<string, ActionResult>): boolean {
  return results.some(({ status, action }) => status === 'done' && former.get(action.id)?.status !== 'done');
}

/** Returns the part of an answer that plans use, without the platform's text about an absence. */
function planned(answer: unknown): unknown {
  if (typeof answer !== 'object' || answer === null || !('absent' in answer)) return answer;
  const { absent: _, ...rest } = answer;
  return rest;
}

/** The readings that a plan was made from, kept young enough to write upon. */
export function createFreshReadings({ clock, timing }: Pick<ApplyWorld, 'clock' | 'timing'>, first: CachingReader) {
  let reader = first;
  return {
    /** The reader with all that was read last. */
    reader: () => reader,
    /**
     * Reads again what is older than an observation may be, and nothing else. A reading that the plan was not made from is
     * left out.
     * @throws PortolanError where the platform does not answer.
     */
    freshen: async (readings: readonly ScopeReading[]): Promise<Freshness> => {
      const oldestMs = clock.monotonic() - timing.observationMaxAgeMs;
      const old = readings.filter((reading) => (reader.askedMs(reading) ?? Number.POSITIVE_INFINITY) < oldestMs);
      if (old.length === 0) return { read: old, isAsPlanned: true };
      const before = await Promise.all(old.map((reading) => reader.reread(reading)));
      reader = reader.without(new Set(old));
      const after = await Promise.all(old.map((reading) => reader.reread(reading)));
      return { read: old, isAsPlanned: isDeepStrictEqual(before.map(planned), after.map(planned)) };
    },
  };
}
