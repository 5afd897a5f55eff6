import type { ResourceId, ScopeKey } from '../model/ids.ts';
import type { Json, JsonObject } from '../model/json.ts';
import type { PastWrite, UndoContext, Undoing } from './undo.ts';
import type { PortRecord } from './component/wire.ts';
import type { RuleRecord } from './http-gateway-rule/wire.ts';
import type { Intent, ObjectState, Origin, OwnedObject, Refused } from '../model/owned.ts';
import type { ActionVerb, DeferredAction, Hold, Note, Wait } from '../model/plan.ts';
import type { DesiredState, Resource } from '../model/resource.ts';
import type { Secret } from '../model/secret.ts';
import type { EpochMs } from '../model/time.ts';
import type { keyOf, Place, Readable, Reading } from '../model/reading.ts';

/** The ledger's view of one scope. */
export interface LedgerView {
  /** false with `--ledger none`: ownership and the cause of a change are unknown. */
  readonly known: boolean;
  /** The ledger has recorded this scope before. Without a record, an install there needs confirmation. */
  readonly scopeRecorded: boolean;
  /**
   * The ledger may lack installs: it was restored from a backup, or a person removed one from it. An install needs
   * confirmation then.
   */
  readonly restored: boolean;
  /** Objects of the scope, of every source. */
  readonly objects: readonly OwnedObject[];
  /** Number of components in the application after the ledger's last install there; absent: unknown. */
  readonly componentsSince?: number;
  /** A sentence about components that appeared during the ledger's last install; kept until a person confirms the scope. */
  readonly besides?: string;
}

export function ledgerRecordOf(ledgerView: LedgerView, kind: string, naturalKey: string): OwnedObject | undefined {
  return ledgerView.objects.find((object) => object.kind === kind && object.naturalKey === naturalKey);
}

/** Returns the row of an object that exists, as far as the ledger knows. */
export function presentRecordOf(ledgerView: LedgerView, kind: string, naturalKey: string): OwnedObject | undefined {
  const object = ledgerRecordOf(ledgerView, kind, naturalKey);
  return object?.state === 'gone' ? undefined : object;
}

/** Permissions that a person gave for this run. */
export interface Permissions {
  /** Returns whether `--adopt` lets a resource take over an existing, unmanaged object. */
  adopt(resource: ResourceId): boolean;
  /** Returns whether `--adopt Kind/name` names this resource. Only then does it confirm values that no server shows. */
  adoptNamed(resource: ResourceId): boolean;
  /** `--prune`, or `prune.enabled` in the daemon. */
  readonly prune: boolean;
  /** Returns whether a person confirmed the first install into this application, which the ledger has never recorded. */
  firstInstall(scope: ScopeKey): boolean;
}

/** The input of a diff. All of it is data. */
export interface DiffContext<Spec, Live> {
  readonly resource: Resource<Spec>;
  readonly live: Live;
  /** All resources of the same application, this one included. */
  readonly siblings: DesiredState;
  readonly ledgerView: LedgerView;
  readonly permissions: Permissions;
  readonly source: string;
  readonly scope: ScopeKey;
  readonly nowMs: EpochMs;
}

/** A change of a field, whose cause is not yet attributed. `field` is its name in `lastApplied` of the object. */
export interface RawChange {
  readonly field: string;
  readonly path: string;
  /** Natural key of the object whose `lastApplied` has the field; absent: the object of the step. */
  readonly object?: string;
  readonly before?: Json;
  readonly after?: Json;
  /** The value that was last applied, if the natural key and not `lastApplied` has it. */
  readonly recorded?: Json;
  /** The field identifies the object: git cannot change it, so for a recorded object the platform lost it. */
  readonly identifies?: true;
}

/** A condition that must hold on the platform before a step runs. */
export interface Need {
  /** `port-outer <serviceId> 8080`: a step that provides this condition runs first. */
  readonly condition: string;
  /** It holds already. */
  readonly met: boolean;
  /** Two steps may need each other, such as each other's domain. Both are held then. */
  readonly mutual?: true;
  /** The hold of the step if the condition neither holds nor is provided. */
  readonly otherwise: { readonly code: string; readonly message: string; readonly remedy: string };
}

export type Step = JsonObject & { readonly type: string };

/** A write that a diff proposes. */
export interface StepProposal<S extends Step = Step> {
  /** Unique within the resource: `ports/8080/open_outer`. */
  readonly key: string;
  readonly step: S;
  readonly verb: ActionVerb;
  /** Natural key of the object that it changes. */
  readonly object: string;
  readonly summary: string;
  readonly changes: readonly RawChange[];
  readonly effects: readonly string[];
  /** Keys of steps of the same resource that run first. */
  readonly after: readonly string[];
  readonly needs: readonly Need[];
  readonly provides: readonly string[];
  readonly prune: boolean;
  /** Natural keys of other objects that the step also closes or removes, managed or not. Guards count them. */
  readonly takesAlong?: readonly string[];
  /** The cause of the change if the ledger does not show it: an adoption or an obligation. */
  readonly cause?: 'adopt' | 'obligation';
  /** The obligation to undo a temporary change. It is written with the intent. */
  readonly obligation?: JsonObject;
  /** Key of the step that this one completes: both are one change. */
  readonly continues?: string;
}

/** Defaults of a step. */
export const plainStep = { changes: [], effects: [], after: [], needs: [], provides: [], prune: false } as const;

/** The row that the ledger should have for an object. */
export interface Recording {
  readonly naturalKey: string;
  readonly remoteId: string | null;
  readonly remoteAux: JsonObject;
  readonly origin: Origin;
  readonly state: ObjectState;
  readonly lastApplied: JsonObject;
  readonly obligation: JsonObject | null;
  /** The natural key of a row that this one replaces. */
  readonly replaces?: string;
}

/** Returns the row of an object of which only the values before a write are known. @param former null: none. */
export function bareRecording(naturalKey: string, former: Json): Recording {
  return {
    naturalKey,
    remoteId: null,
    remoteAux: former === null ? {} : { former },
    origin: 'observed',
    state: 'present',
    lastApplied: {},
    obligation: null,
  };
}

/** Returns the row of an object with these changes. */
export function recordedAs(object: OwnedObject, changes: Partial<Recording> = {}): Recording {
  const { naturalKey, remoteId, remoteAux, origin, state, lastApplied, obligation } = object;
  return { naturalKey, remoteId, remoteAux, origin, state, lastApplied, obligation, ...changes };
}

/** A hold: a change that requires manual action. The plan adds the resource, and the cause of each change. */
export interface HoldProposal extends Omit<Hold, 'resource' | 'changes'> {
  /** Absent: none. */
  readonly changes?: readonly RawChange[];
  /** Natural key of the object whose `lastApplied` shows the cause of the changes. */
  readonly object?: string;
}

export interface Difference<S extends Step = Step> {
  readonly steps: readonly StepProposal<S>[];
  readonly holds: readonly HoldProposal[];
  readonly notes: readonly Omit<Note, 'resource'>[];
  readonly deferred: readonly Omit<DeferredAction, 'resource'>[];
  readonly waits: readonly Omit<Wait, 'resource'>[];
  /** Conditions that steps of other resources should provide. If none does, the resource is held. */
  readonly expects: readonly Omit<Need, 'met'>[];
  /** Rows of objects that match the manifest. They are recorded without a write to the platform. */
  readonly inSync: readonly Recording[];
  /** Natural keys of rows that are removed from the ledger without a write to the platform. */
  readonly forget: readonly string[];
  /** Natural keys of the objects that this resource manages. A managed object that no resource claims is withdrawn. */
  readonly claims: readonly string[];
  /** Number of managed fields that match the manifest. */
  readonly unchangedFields: number;
}

export const noDifference: Difference<never> = {
  steps: [],
  holds: [],
  notes: [],
  deferred: [],
  waits: [],
  expects: [],
  inSync: [],
  forget: [],
  claims: [],
  unchangedFields: 0,
};

/** Returns a difference that holds a resource. */
export function holding(...holds: readonly HoldProposal[]): Difference<never> {
  return { ...noDifference, holds };
}

/** Returns a difference with only a note. */
export function noting(code: string, message: string): Difference<never> {
  return { ...noDifference, notes: [{ code, message }] };
}

/** The key of a reading of a scope: that of `keyOf`, or the application itself. */
export type ScopeReading = 'application' | ReturnType<typeof keyOf>;

/** The status of an application. */
export interface ApplicationState {
  readonly status: string;
  readonly componentCount: number;
  readonly runningComponentCount: number;
}

/** Reads one scope. Each reading is requested at most once in a pass, for all kinds. */
export interface ScopeReader {
  /** Readings may be shared by several applications: nothing is written upon them, and any difference is looked at again. */
  readonly isShared: boolean;
  read<T>(reading: Reading<T>): Promise<Readable<T>>;
  /** Reads without the answers of this pass. */
  readFresh<T>(reading: Reading<T>): Promise<Readable<T>>;
  application(): Promise<ApplicationState>;
  /** Returns whether the server has a listing, which also proves its writes. Reads the listing if that is unknown. */
  has(listing: Reading<unknown>): Promise<boolean>;
}

export interface ObserveContext<Spec> {
  readonly resource: Resource<Spec>;
  readonly siblings: DesiredState;
  readonly ledgerView: LedgerView;
  readonly reader: ScopeReader;
  readonly nowMs: EpochMs;
}

/** A store as the operator configured it. The key stays a `Secret`. */
export interface StoreAccess {
  readonly url: string;
  readonly domain: string;
  readonly type: string;
  readonly accessKey: Secret | null;
}

export interface CallContext {
  readonly app: Place;
  readonly stores: ReadonlyMap<string, StoreAccess>;
}

/** The conclusion from an observation about a write with an unknown outcome. */
export type Resolution =
  | { readonly type: 'applied'; readonly recording: Recording; readonly evidence: string }
  | { readonly type: 'rejected'; readonly evidence: string }
  /** The write is repeatable: there is nothing to decide, and the next plan compares. */
  | {
      readonly type: 'superseded';
      readonly evidence: string;
      /** Row of an object that had none, with the values that it had before the request: a later reading may show others. */
      readonly recording?: Recording;
    }
  | { readonly type: 'hold'; readonly code: string; readonly evidence: string }
  /** The effect was not seen. It is observed once more after the staleness window. */
  | { readonly type: 'absent-so-far'; readonly evidence: string };

/** Says which objects of a kind are reached from outside: the budget for removals counts them apart from the others. */
export interface KindAccess<Spec> {
  /** Every object of the kind counts; the natural key of each begins with this. */
  readonly keysBeginWith?: string;
  /** The type of step that opens an object to the outside. */
  readonly opens?: string;
  /** The type of step that closes an object to the outside. */
  readonly closes: string;
  /** Returns whether an object counts, as it was last applied. */
  isOpen?(lastApplied: JsonObject): boolean;
  /** Returns how many objects that count, and how many others, a manifest lists. */
  listed?(spec: Spec): { readonly access: number; readonly other: number };
}

/** Returns the hold of an object that another source has. @param what names the object. */
export function ofOtherSource(what: string, owner: OwnedObject, source: string): HoldProposal {
  return {
    code: 'source/other-owner',
    message: `${what} belongs to the source "${owner.source}" (${owner.resource}); this run is for "${source}"`,
    remedy: `Remove it from one of the two sources, or run with the --source that owns it. If it moved here: portolan ledger forget ${owner.resource} --source ${owner.source} --reason "…", then apply --adopt.`,
  };
}

export function inDoubt(code: string, evidence: string): Resolution {
  return { type: 'hold', code, evidence };
}

export function absentSoFar(evidence: string): Resolution {
  return { type: 'absent-so-far', evidence };
}

/** The pure part of a kind. */
export interface KindDiff<Spec, Live, S extends Step, Seen> {
  readonly kind: string;
  /** Order in a plan among steps that do not depend on each other, lowest first. */
  readonly order: number;
  /** The platform's name of the id by which a person adopts an object. */
  readonly adoptsById?: string;
  /** A sentence that says how objects are adopted which no person adopts by an id. */
  readonly adoption?: string;
  diff(context: DiffContext<Spec, Live>): Difference<S>;
  /** Returns the difference for a managed object removed from git. */
  withdraw(object: OwnedObject, context: WithdrawBase & Seen): Difference<S>;
  /**
   * Returns the row with the removal marks of its manifest; undefined: it has them. They are recorded even if nothing else of the
   * manifest can be applied, because they count once it is removed.
   */
  withRemovalMarks?(object: OwnedObject, resource: Resource): Recording | undefined;
  readonly access?: KindAccess<Spec>;
  /** Codes of holds in an application that the ledger has never recorded. They last until their cause ends. */
  readonly firstHolds?: ReadonlySet<string>;
  /** Returns the hold for an object that a request in doubt may have made. @param sent the request, in words. */
  copyHold?(sent: string, intent: string): HoldProposal;
  /** Returns the spec that undoes a write of an earlier run. Absent: no write of the kind can be undone. */
  undo?(write: PastWrite<S>, spec: Spec | undefined, context: UndoContext): Undoing<Spec>;
  /** Returns the hold of a step that is not retried after one refusal; undefined: the step is retried a few times. */
  refusedHold?(object: OwnedObject, refusal: Refused, summary: string): HoldProposal | undefined;
  /** Returns the id of a resource in monitoring; undefined: unknown yet. Only for a kind whose resources have series. */
  monitoredId?(resource: Resource<Spec>, ledgerView: LedgerView): string | undefined;
  /** Returns the difference for an obligation that the manifest does not fulfil in this pass; undefined: there is none. */
  owed?(object: OwnedObject, context: WithdrawBase & Seen): Difference<S> | undefined;
}

/** The input for withdrawing an object, to which a kind adds its own `Seen`. */
export interface WithdrawBase {
  readonly permissions: Permissions;
  readonly ledgerView: LedgerView;
  /** All resources of the source in the application. */
  readonly resources: DesiredState;
  readonly source: string;
  readonly scope: ScopeKey;
  readonly nowMs: EpochMs;
}

/** Observations for rules and ports removed from git. */
export interface Withdrawal {
  readonly rules: Readable<readonly RuleRecord[]>;
  /** Ids of rules that this application does not list and that may still exist. */
  readonly unproven: ReadonlySet<string>;
  /** Ports of the components whose ports must be read; undefined: the component does not exist. */
  readonly ports: ReadonlyMap<string, readonly PortRecord[] | undefined>;
  readonly canDeleteRules: boolean;
  readonly canDeletePorts: boolean;
}

export type WithdrawContext = WithdrawBase & Withdrawal;

/** The input for deciding a step in doubt. */
export interface ResolveContext {
  readonly intent: Intent;
  readonly reader: ScopeReader;
  readonly ledgerView: LedgerView;
}
