import type { ReconciledKinds } from '../kinds/define.ts';
import {
  type Difference,
  type HoldProposal,
  type LedgerView,
  type Permissions,
  type RawChange,
  type Recording,
  ledgerRecordOf,
} from '../kinds/reconciled.ts';
import type { ResourceId, Scope } from '../model/ids.ts';
import type { Intent, OwnedObject } from '../model/owned.ts';
import type { Cause, DeferredAction, FieldChange, Hold, Note, ScopePlan, Wait } from '../model/plan.ts';
import type { DesiredState } from '../model/resource.ts';
import type { EpochMs } from '../model/time.ts';
import type { PlacedStep } from './order.ts';
import { type Json, sameJson } from '../model/json.ts';

export interface PlanInput {
  readonly kinds: ReconciledKinds;
  readonly application: ResourceId;
  readonly scope: Scope;
  readonly source: string;
  /** The resources of this application. */
  readonly resources: DesiredState;
  /** Holds what each kind observed. A resource that is missing here could not be observed, and is not changed. */
  readonly live: ReadonlyMap<ResourceId, unknown>;
  /** Holds, by kind, what was observed for objects that were removed from git. */
  readonly withdrawal: ReadonlyMap<string, unknown>;
  readonly ledgerView: LedgerView;
  readonly permissions: Permissions;
  /** Only these resources; nothing is withdrawn then, except by an undo. */
  readonly targets: ReadonlySet<ResourceId> | undefined;
  /** The plan reverts an earlier run. */
  readonly isUndo?: boolean;
  /** Intents whose outcome is not known: nothing else is begun on their objects. */
  readonly inDoubt: readonly DoubtfulIntent[];
  readonly nowMs: EpochMs;
}

export interface DoubtfulIntent {
  readonly intent: Intent;
  /** `in-window`: too early to conclude. `due`: not looked at yet. `held`: observation could not decide, a person must. */
  readonly state: 'in-window' | 'due' | 'held';
  readonly evidence: string;
  /** Until then nothing at all is sent for its scope: the platform may still be at work on it. */
  readonly scopeUntilMs?: EpochMs;
}

/** Changes of the ledger that need no write to the platform. */
export interface LedgerUpdates {
  readonly inSync: readonly { readonly resource: ResourceId; readonly kind: string; readonly recording: Recording }[];
  readonly forget: readonly OwnedObject[];
}

export interface PlannedScope {
  readonly plan: ScopePlan;
  readonly ledgerUpdates: LedgerUpdates;
  readonly waits: readonly Wait[];
}

/** A plan in the making. */
export type Draft = ReturnType<typeof emptyDraft>;

export function emptyDraft() {
  return {
    steps: [] as PlacedStep[],
    deferred: [] as DeferredAction[],
    holds: [] as Hold[],
    notes: [] as Note[],
    waits: [] as Wait[],
    inSync: [] as LedgerUpdates['inSync'][number][],
    forget: [] as OwnedObject[],
    expects: [] as ({ readonly resource: ResourceId } & Difference['expects'][number])[],
    claimed: new Set<string>(),
    /** Resources that were not compared in this pass: their objects are not removed. */
    unread: new Set<ResourceId>(),
    /** Objects of which a comparison or a withdrawal has said what they are owed. */
    checkedObligations: new Set<string>(),
    unchangedFields: 0,
  };
}

/** A change with its reason, by what the ledger knows of the object. */
export function attributed(
  input: PlanInput,
  kind: string,
  naturalKey: string,
  change: Parameters<typeof attribute>[0],
) {
  return attribute(change, ledgerRecordOf(input.ledgerView, kind, naturalKey), input.ledgerView.known);
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

/**
 * Why a field changes, from three values: what the platform has, what the manifest wants, and what we last applied.
 * A platform that moved away from what we applied is drift; a manifest that did is git.
 */
export function attribute(change: RawChange, object: OwnedObject | undefined, ledgerKnown: boolean): FieldChange {
  const { path, before, after } = change;
  const lastApplied = ledgerKnown ? (change.recorded ?? object?.lastApplied[change.field]) : undefined;
  return {
    path,
    ...(before === undefined ? undefined : { before }),
    ...(after === undefined ? undefined : { after }),
    ...(lastApplied === undefined ? undefined : { lastApplied }),
    cause: ledgerKnown ? causeOf(change, lastApplied, object) : 'unknown',
  };
}

function causeOf(change: RawChange, lastApplied: Json | undefined, object: OwnedObject | undefined): Cause {
  if (object === undefined || object.state === 'gone') return 'first-apply';
  if (change.identifies === true) return 'drift';
  // On record, and yet never asserted before: the manifest names it since.
  if (lastApplied === undefined) return Object.keys(object.lastApplied).length === 0 ? 'first-apply' : 'git';
  const gitMoved = !sameJson(change.after, lastApplied);
  const platformMoved = !sameJson(change.before, lastApplied);
  if (gitMoved && platformMoved) return 'git+drift';
  return gitMoved ? 'git' : 'drift';
}

/** Returns the cause of a whole action; undefined where its changes show none. */
export function overallCause(changes: readonly FieldChange[]): Cause | undefined {
  const causes = new Set(changes.map((change) => change.cause));
  const [only] = causes;
  if (only !== undefined && causes.size === 1) return only;
  if (causes.has('git+drift') || (causes.has('git') && causes.has('drift'))) return 'git+drift';
  for (const cause of ['git', 'drift', 'first-apply'] as const) if (causes.has(cause)) return cause;
  return undefined;
}
