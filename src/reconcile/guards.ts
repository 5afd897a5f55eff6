import type { ApplyWorld } from './apply/world.ts';
import { scopeKey } from '../model/ids.ts';
import type { OwnedObject } from '../model/owned.ts';
import {
  closedWindow,
  guardEmpty,
  guardPolicies,
  type GuardLimits,
  guardRegion,
  guardScope,
  guardShrunk,
  guardSuccession,
  guardToll,
  guardWindow,
  NOTHING_SPENT,
  type Refusal,
  type Succession,
  type Toll,
  tollOf,
} from '../plan/guard.ts';
import type { Prepared, Seen } from './work.ts';

/** The platform refuses writes to a region that is not enabled, so this guard may know of it a little later. */
export const REGIONS_MAX_AGE_MS = 30_000;

/** Returns the refusals of the guards for the plan of one scope. */
export async function guardPlan(
  { work, plan, ledgerView, ours, denied }: Seen,
  limits: GuardLimits,
  world: Pick<ApplyWorld, 'client' | 'source'>,
): Promise<readonly Refusal[]> {
  const scopeRefusal = guardScope(plan, limits);
  if (scopeRefusal !== undefined) return [scopeRefusal];
  const policyRefusals = guardPolicies(plan.application, denied, limits);
  if (policyRefusals.length > 0) return policyRefusals;
  const closed = closedWindow(limits.windows, plan.scope, work.application.labels);
  const windowRefusal = closed && guardWindow(plan, closed);
  if (windowRefusal !== undefined) return [windowRefusal];
  if (plan.actions.length === 0) return [];
  const owned = ledgerView.objects.filter((object) => object.source === world.source && object.state !== 'gone').length;
  const share = guardToll(
    tollOf([{ ...plan, ours }]),
    { of: `scope ${scopeKey(plan.scope)}`, owned, spent: NOTHING_SPENT },
    limits,
  );
  // Read only where something would be written, and for all applications of a run: one in sync costs no such request.
  const { team } = plan.scope;
  const region = (await world.client.regions({ team, maxAgeMs: REGIONS_MAX_AGE_MS })).find(
    (candidate) => candidate.name === plan.scope.region,
  );
  const refusal = guardRegion(plan, region?.status);
  return refusal === undefined ? share : [refusal, ...share];
}

/** Facts about a whole source. A fact is undefined if a person overrides its guard, or if it is unknown. */
export interface SourceFacts {
  readonly source: string;
  /** Resources that it names. */
  readonly resources: number;
  readonly isEmptyAllowed: boolean;
  /** Largest number of resources since the source last removed anything. */
  readonly largest: number | undefined;
  readonly succession: Succession | undefined;
}

/** Whether a source may be taken as it is. */
export function guardSource({ source, resources, isEmptyAllowed }: SourceFacts, owned: number): readonly Refusal[] {
  return present(isEmptyAllowed ? undefined : guardEmpty(source, resources, owned));
}

/** Returns why resources that were removed from git are not pruned. */
export function guardRemovals(
  { source, resources, largest, succession }: SourceFacts,
  prunes: number,
): readonly Refusal[] {
  return present(
    largest === undefined ? undefined : guardShrunk(source, resources, largest, prunes),
    succession === undefined ? undefined : guardSuccession(source, succession, prunes),
  );
}

/**
 * Returns refusals for all applications of a run together. A refused application changes nothing, so it does not count
 * against the others.
 */
export function guardRun(
  prepared: readonly Prepared[],
  owned: readonly OwnedObject[],
  limits: GuardLimits,
): readonly Refusal[] {
  return guardTollOfRun(tollOfRun(prepared), owned.length, limits);
}

/** Returns what the applications of a run together would change and remove. */
export function tollOfRun(prepared: readonly Prepared[]): Toll {
  const going = prepared.filter(({ refusals }) => refusals.length === 0);
  return tollOf(going.map(({ plan, ours }) => ({ ...plan, ours })));
}

/** @param owned objects on record. */
export function guardTollOfRun(toll: Toll, owned: number, limits: GuardLimits): readonly Refusal[] {
  return guardToll(toll, { of: 'this run', owned, spent: NOTHING_SPENT }, limits);
}

/** Removals of all applications that are not refused. */
export function removalsOf(prepared: readonly Prepared[]): number {
  return prepared
    .filter(({ refusals }) => refusals.length === 0)
    .reduce((sum, { plan }) => sum + plan.actions.filter((action) => action.prune).length, 0);
}

function present(...refusals: readonly (Refusal | undefined)[]): readonly Refusal[] {
  return refusals.filter((refusal) => refusal !== undefined);
}
