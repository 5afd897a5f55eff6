import type { ReconciledKinds } from '../kinds/define.ts';
import { type HoldProposal, type Memory, type Permissions, type Recording, remembered } from '../kinds/reconciled.ts';
import type { ResourceId, Scope } from '../model/ids.ts';
import type { Intent, OwnedObject } from '../model/owned.ts';
import type { DeferredAction, Hold, Note, ScopePlan, Wait } from '../model/plan.ts';
import type { DesiredState } from '../model/resource.ts';
import type { EpochMs } from '../model/time.ts';
import { attribute } from './attribution.ts';
import type { PlacedStep } from './order.ts';

export interface PlanInput {
  readonly kinds: ReconciledKinds;
  readonly application: ResourceId;
  readonly scope: Scope;
  readonly source: string;
  /** The resources of this application. */
  readonly resources: DesiredState;
  /** What each kind observed; a resource that is missing here could not be observed and is left alone. */
  readonly live: ReadonlyMap<ResourceId, unknown>;
  /** By kind, what was observed for objects that git no longer names. */
  readonly withdrawal: ReadonlyMap<string, unknown>;
  readonly memory: Memory;
  readonly permissions: Permissions;
  /** Only these resources; nothing is withdrawn then. */
  readonly targets: ReadonlySet<ResourceId> | undefined;
  /** Intents whose outcome is not known: nothing else is begun on their objects. */
  readonly inDoubt: readonly DoubtfulIntent[];
  readonly nowMs: EpochMs;
}

export interface DoubtfulIntent {
  readonly intent: Intent;
  /** `settling`: too early to conclude. `due`: not looked at yet. `held`: observation could not decide, a person must. */
  readonly state: 'settling' | 'due' | 'held';
  readonly evidence: string;
  /** Until then nothing at all is sent for its scope: the platform may still be at work on it. */
  readonly scopeUntilMs?: EpochMs;
}

/** What the ledger is to be told without any write to the platform. */
export interface Bookkeeping {
  readonly settled: readonly { readonly resource: ResourceId; readonly kind: string; readonly recording: Recording }[];
  readonly forget: readonly OwnedObject[];
}

export interface PlannedScope {
  readonly plan: ScopePlan;
  readonly bookkeeping: Bookkeeping;
  readonly waits: readonly Wait[];
}

/** A plan in the making. */
export interface Draft {
  readonly steps: PlacedStep[];
  readonly deferred: DeferredAction[];
  readonly holds: Hold[];
  readonly notes: Note[];
  readonly waits: Wait[];
  readonly settled: { resource: ResourceId; kind: string; recording: Recording }[];
  readonly forget: OwnedObject[];
  readonly expects: {
    resource: ResourceId;
    condition: string;
    otherwise: { code: string; message: string; remedy: string };
  }[];
  readonly claimed: Set<string>;
  /** Resources whose objects nobody may call withdrawn: not compared in this pass. */
  readonly unread: Set<ResourceId>;
  /** Objects of which a comparison or a withdrawal has said what they are owed. */
  readonly settledOwed: Set<string>;
  unchangedFields: number;
}

/** A change with its reason, by what the ledger knows of the object. */
export function attributed(
  input: PlanInput,
  kind: string,
  naturalKey: string,
  change: Parameters<typeof attribute>[0],
) {
  return attribute(change, remembered(input.memory, kind, naturalKey), input.memory.known);
}

export function attributedHold(
  input: PlanInput,
  kind: string,
  resource: ResourceId,
  { object, changes = [], ...hold }: HoldProposal,
): Hold {
  return {
    ...hold,
    resource,
    changes: changes.map((change) => attributed(input, kind, change.object ?? object ?? '', change)),
  };
}
