import type { ResourceId, ScopeKey } from '../model/ids.ts';
import type { Json, JsonObject } from '../model/json.ts';
import type { PortRecord } from './component/wire.ts';
import type { RuleRecord } from './http-gateway-rule/wire.ts';
import type { Intent, ObjectState, Origin, OwnedObject, Refused } from '../model/owned.ts';
import type { ActionVerb, DeferredAction, Hold, Note, Wait } from '../model/plan.ts';
import type { DesiredState, Resource } from '../model/resource.ts';
import type { Secret } from '../model/secret.ts';
import type { EpochMs } from '../model/time.ts';
import type { keyOf, Place, Readable, Reading } from '../model/reading.ts';

/** What the ledger says about one scope. */
export interface LedgerView {
  /** false with `--ledger none`: ownership and attribution are unknown. */
  readonly known: boolean;
  /** Whether the ledger has ever recorded this scope. One that has not never installs into it blindly. */
  readonly scopeRecorded: boolean;
  /**
   * The ledger lacks installs: it came back from a backup, or a person dropped one from it. So a person says first that
   * installing is safe.
   */
  readonly restored: boolean;
  /** Objects of the scope, of every source. */
  readonly objects: readonly OwnedObject[];
  /** How many components the application had after the ledger's last install there; absent: not known. */
  readonly componentsSince?: number;
  /** What appeared beside the ledger's last install while it ran, in words; until a person has confirmed the scope. */
  readonly besides?: string;
}

export function ledgerRecordOf(ledgerView: LedgerView, kind: string, naturalKey: string): OwnedObject | undefined {
  return ledgerView.objects.find((object) => object.kind === kind && object.naturalKey === naturalKey);
}

/** As `ledgerRecordOf`, of an object that is there, as far as the ledger knows. */
export function presentRecordOf(ledgerView: LedgerView, kind: string, naturalKey: string): OwnedObject | undefined {
  const object = ledgerRecordOf(ledgerView, kind, naturalKey);
  return object?.state === 'gone' ? undefined : object;
}

/** What a person allowed for this run. */
export interface Permissions {
  /** `--adopt`: may this resource take over what exists and is not ours? */
  adopt(resource: ResourceId): boolean;
  /** `--adopt Kind/name`: did a person name this very resource? Only that says anything about what no server shows. */
  adoptNamed(resource: ResourceId): boolean;
  /** `--prune`, or `prune.enabled` in the daemon. */
  readonly prune: boolean;
  /** A person confirmed the first install into this application, which the ledger has never recorded. */
  firstInstall(scope: ScopeKey): boolean;
}

/** Everything a diff may look at. All of it is data. */
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

/** A field that changes, before attribution. `field` is its name in `lastApplied` of the object. */
export interface RawChange {
  readonly field: string;
  readonly path: string;
  /** Natural key of the object whose `lastApplied` knows the field, where it is not the step's own. */
  readonly object?: string;
  readonly before?: Json;
  readonly after?: Json;
  /** What was last applied, where not `lastApplied` but the natural key has it. */
  readonly recorded?: Json;
  /** Part of what the object is: git cannot change it, so where the object is on record the platform lost it. */
  readonly identifies?: true;
}

/** Something that must hold on the platform before a step may run. */
export interface Need {
  /** `port-outer <serviceId> 8080`: a step that provides it comes first. */
  readonly condition: string;
  /** It already holds. */
  readonly met: boolean;
  /** Two steps may need what the other one provides, such as each other's domain: then both are held. */
  readonly mutual?: true;
  /** What is said when it neither holds nor is provided. */
  readonly otherwise: { readonly code: string; readonly message: string; readonly remedy: string };
}

export type Step = JsonObject & { readonly type: string };

/** One write that a diff proposes. */
export interface StepProposal<S extends Step = Step> {
  /** Unique within the resource: `ports/8080/open_outer`. */
  readonly key: string;
  readonly step: S;
  readonly verb: ActionVerb;
  /** Natural key of the object it touches. */
  readonly object: string;
  readonly summary: string;
  readonly changes: readonly RawChange[];
  readonly effects: readonly string[];
  /** Keys of steps of the same resource that must be done first. */
  readonly after: readonly string[];
  readonly needs: readonly Need[];
  readonly provides: readonly string[];
  readonly prune: boolean;
  /** Natural keys of other objects that it closes or removes too, ours or not: the guards count them as well. */
  readonly takesAlong?: readonly string[];
  /** The change is an adoption or a restoration, whatever the ledger says. */
  readonly cause?: 'adopt' | 'obligation';
  /** Written with the intent: a temporary change that must be restored. */
  readonly obligation?: JsonObject;
  /** Key of the step that it completes: the two of them are one change. */
  readonly continues?: string;
}

/** What a step has where its kind says nothing else. */
export const plainStep = { changes: [], effects: [], after: [], needs: [], provides: [], prune: false } as const;

/** What the ledger should say about one object. */
export interface Recording {
  readonly naturalKey: string;
  readonly remoteId: string | null;
  readonly remoteAux: JsonObject;
  readonly origin: Origin;
  readonly state: ObjectState;
  readonly lastApplied: JsonObject;
  readonly obligation: JsonObject | null;
  /** The object's former natural key, when it was renamed: that row goes. */
  readonly replaces?: string;
}

/** Returns what the ledger says about an object already, with these changes. */
export function recordedAs(object: OwnedObject, changes: Partial<Recording> = {}): Recording {
  const { naturalKey, remoteId, remoteAux, origin, state, lastApplied, obligation } = object;
  return { naturalKey, remoteId, remoteAux, origin, state, lastApplied, obligation, ...changes };
}

/** Something that is left to a person; the plan says for which resource, and why its fields would change. */
export interface HoldProposal extends Omit<Hold, 'resource' | 'changes'> {
  /** Absent: none. */
  readonly changes?: readonly RawChange[];
  /** Natural key of the object whose `lastApplied` the changes are attributed by. */
  readonly object?: string;
}

export interface Difference<S extends Step = Step> {
  readonly steps: readonly StepProposal<S>[];
  readonly holds: readonly HoldProposal[];
  readonly notes: readonly Omit<Note, 'resource'>[];
  readonly deferred: readonly Omit<DeferredAction, 'resource'>[];
  readonly waits: readonly Omit<Wait, 'resource'>[];
  /** What steps of other resources are relied upon to provide; not provided, it is held. */
  readonly expects: readonly Omit<Need, 'met'>[];
  /** Objects that are as desired: what the ledger should say of them, without any write to the platform. */
  readonly inSync: readonly Recording[];
  /** Natural keys of objects the ledger lets go of, without any write to the platform. */
  readonly forget: readonly string[];
  /** Natural keys this resource speaks for; an object of ours that nobody speaks for is withdrawn. */
  readonly claims: readonly string[];
  /** Managed fields found as desired. */
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

/** A difference that leaves a resource to a person. */
export function holding(...holds: readonly HoldProposal[]): Difference<never> {
  return { ...noDifference, holds };
}

/** A difference that only says something. */
export function noting(code: string, message: string): Difference<never> {
  return { ...noDifference, notes: [{ code, message }] };
}

/** One thing that was read of a scope: by `keyOf`, or the application itself. */
export type ScopeReading = 'application' | ReturnType<typeof keyOf>;

/** How an application stands. */
export interface ApplicationState {
  readonly status: string;
  readonly componentCount: number;
  readonly runningComponentCount: number;
}

/** Reads of one scope, each asked at most once per pass however many kinds want it. */
export interface ScopeReader {
  read<T>(reading: Reading<T>): Promise<Readable<T>>;
  /** As `read`, asked for each time. */
  readFresh<T>(reading: Reading<T>): Promise<Readable<T>>;
  application(): Promise<ApplicationState>;
  /** Whether the server has a listing, which also proves the writes of its dialect. Read where that is not known. */
  has(listing: Reading<unknown>): Promise<boolean>;
}

export interface ObserveContext<Spec> {
  readonly resource: Resource<Spec>;
  readonly siblings: DesiredState;
  readonly ledgerView: LedgerView;
  readonly reader: ScopeReader;
  readonly nowMs: EpochMs;
}

/** A store as the operator configured it. The key stays wrapped. */
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

/** What observation says about a write whose outcome is not known. */
export type Resolution =
  | { readonly type: 'applied'; readonly recording: Recording; readonly evidence: string }
  | { readonly type: 'rejected'; readonly evidence: string }
  /** Target-state writes: nothing to decide, the next plan compares again. */
  | { readonly type: 'superseded'; readonly evidence: string }
  | { readonly type: 'hold'; readonly code: string; readonly evidence: string }
  /** Not seen; look once more after the staleness window before concluding. */
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

export function inDoubt(code: string, evidence: string): Resolution {
  return { type: 'hold', code, evidence };
}

export function absentSoFar(evidence: string): Resolution {
  return { type: 'absent-so-far', evidence };
}

/** The pure part of a kind that is reconciled. */
export interface KindDiff<Spec, Live, S extends Step, Seen> {
  readonly kind: string;
  /** Place in a plan among steps that do not depend on each other, low first. */
  readonly order: number;
  /** A person may say which object of the platform is ours by its id. */
  readonly adoptsById?: true;
  diff(context: DiffContext<Spec, Live>): Difference<S>;
  /** Steps for an object of ours that git no longer names. */
  withdraw(object: OwnedObject, context: WithdrawBase & Seen): Difference<S>;
  readonly access?: KindAccess<Spec>;
  /** Codes of its holds into an application that the ledger has never recorded: they last until their cause ends. */
  readonly firstHolds?: ReadonlySet<string>;
  /** What is held because what was found may be what a request in doubt has made. @param sent the request, in words. */
  copyHold?(sent: string, intent: string): HoldProposal;
  /** Why a step is not sent again after a single refusal; undefined: it is tried a few times, as of any kind. */
  refusedHold?(object: OwnedObject, refusal: Refused, summary: string): HoldProposal | undefined;
  /** Id by which monitoring knows a resource; undefined: not known yet. Of the kind whose resources have series. */
  monitoredId?(resource: Resource<Spec>, ledgerView: LedgerView): string | undefined;
  /** Steps for what an object is owed and its manifest does not bring back in this pass; undefined: nothing. */
  owed?(object: OwnedObject, context: WithdrawBase & Seen): Difference<S> | undefined;
}

/** What every kind may look at to withdraw an object; its own `Seen` comes with it. */
export interface WithdrawBase {
  readonly permissions: Permissions;
  readonly ledgerView: LedgerView;
  /** All resources that the source wants in the application. */
  readonly resources: DesiredState;
  readonly source: string;
  readonly scope: ScopeKey;
  readonly nowMs: EpochMs;
}

/** What is observed for the sake of rules and ports that git no longer names. */
export interface Withdrawal {
  readonly rules: Readable<readonly RuleRecord[]>;
  /** Ids of rules that this application does not show, and that are not proved to be gone. */
  readonly unproven: ReadonlySet<string>;
  /** By component, of those with an object whose ports must be seen; undefined: the component is gone. */
  readonly ports: ReadonlyMap<string, readonly PortRecord[] | undefined>;
  readonly canDeleteRules: boolean;
  readonly canDeletePorts: boolean;
}

export type WithdrawContext = WithdrawBase & Withdrawal;

/** The intent of a step in doubt, with what its kind may look at to decide it. */
export interface ResolveContext {
  readonly intent: Intent;
  readonly reader: ScopeReader;
  readonly ledgerView: LedgerView;
}
