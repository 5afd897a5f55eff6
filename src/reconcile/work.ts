import type { ApplicationSpec } from '../kinds/application/spec.ts';
import type { LedgerView, Permissions } from '../kinds/reconciled.ts';
import type { ApplicationGroup } from '../manifest/group.ts';
import type { ResourceId, Scope } from '../model/ids.ts';
import type { ScopePlan, Wait } from '../model/plan.ts';
import type { DesiredState, Resource } from '../model/resource.ts';
import type { LedgerUpdates, DoubtfulIntent } from '../plan/draft.ts';
import type { GuardLimits, Refusal } from '../plan/guard.ts';
import type { PolicyResult } from '../policies/spec.ts';
import type { CachingReader } from './scope-reader.ts';
import type { SharedReadings } from './shared-readings.ts';

/** One application and everything the source wants of it. */
export interface Work {
  readonly application: Resource<ApplicationSpec>;
  readonly resources: DesiredState;
}

export interface PassOptions {
  readonly permissions: Permissions;
  readonly limits: GuardLimits;
  readonly targets: ReadonlySet<ResourceId> | undefined;
  /** The desired state reverts an earlier run: targets may be removed too. */
  readonly isUndo?: boolean;
  /** Nothing is written, not even to the ledger. */
  readonly readOnly: boolean;
  /** false with `--ledger none`. */
  readonly ledgerKnown: boolean;
  /** Readings that several applications share. */
  readonly shared?: SharedReadings;
  /** Few others are looked at with it: what is shared would be asked for its sake, and it is smaller to ask for itself. */
  readonly isAlone?: boolean;
}

/** One observation of a scope and the plan that follows from it; no guard has looked at it yet. */
export interface Seen {
  readonly work: Work;
  readonly scope: Scope;
  readonly reader: CachingReader;
  readonly live: ReadonlyMap<ResourceId, unknown>;
  readonly ledgerView: LedgerView;
  readonly plan: ScopePlan;
  /** Policies that deny a manifest or the plan. Empty before the policies were evaluated. */
  readonly denied: readonly PolicyResult[];
  readonly ledgerUpdates: LedgerUpdates;
  readonly waits: readonly Wait[];
  /** Natural keys of objects that were on record before the snapshot at hand. */
  readonly ours: ReadonlySet<string>;
  /** Intents that this pass has not decided. */
  readonly inDoubt: readonly DoubtfulIntent[];
  /** Monotonic. */
  readonly observedAtMs: number;
}

/** The same with what the guards say to it. */
export interface Prepared extends Seen {
  readonly refusals: readonly Refusal[];
}

const works = new WeakMap<ApplicationGroup, Work>();

/** A group as a pass takes it; of the same group the same work. */
export function workOf(group: ApplicationGroup): Work {
  const known = works.get(group);
  if (known !== undefined) return known;
  const { application, resources } = group;
  const work: Work = { application, resources: new Map(resources.map((resource) => [resource.id, resource])) };
  works.set(group, work);
  return work;
}
