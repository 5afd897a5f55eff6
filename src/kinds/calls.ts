import type { Json } from '../model/json.ts';
import type { OwnedObject } from '../model/owned.ts';
import type { Resource } from '../model/resource.ts';
import type { RejectionReason, WriteEvidence } from '../platform/verdict.ts';
import { NO_EVIDENCE, type WriteRequest } from '../platform/writes.ts';
import type {
  CallContext,
  LedgerView,
  ObserveContext,
  Recording,
  Resolution,
  ResolveContext,
  ScopeReader,
  ScopeReading,
  Step,
} from './reconciled.ts';
import { invalidInput, type PortolanError } from '../model/errors.ts';

/** Everything that is known when a step was applied, to record its object. */
export interface AppliedContext {
  readonly evidence: WriteEvidence;
  /** The ledger's row before, if any. */
  readonly prior: OwnedObject | undefined;
  /** The state that the intent recorded before the request was sent. */
  readonly preimage: Json;
  /** The manifest; undefined: it was removed from git. */
  readonly resource: Resource | undefined;
  readonly nowMs: number;
}

/** Everything that is known when a request is about to leave. */
export interface SendingContext<Spec> {
  readonly ledgerView: LedgerView;
  /** The state that the intent records. */
  readonly preimage: Json;
  /** The manifest; undefined: it was removed from git. */
  readonly resource: Resource<Spec> | undefined;
}

/** Returns what is at hand about a step in doubt that the platform shows as done. */
export function seenDone({ intent, ledgerView }: ResolveContext, evidence = NO_EVIDENCE): AppliedContext {
  const prior = ledgerView.objects.find((object) => object.uid === intent.uid);
  return { evidence, prior, preimage: intent.preimage, resource: undefined, nowMs: 0 };
}

/** Why a write must not leave now. */
export interface Obstacle {
  readonly why: string;
  /** The platform accepted an earlier request and did not carry it out. Such attempts are counted, so that retries end. */
  readonly isUntaken?: true;
}

export interface ObstacleContext {
  readonly preimage: Json;
  readonly reader: ScopeReader;
}

/** Facts about an application that the ledger keeps after an install. */
export interface KnownSince {
  readonly total?: number;
  readonly besides?: string;
}

/** Everything that is known when a person says that a step in doubt was done. */
export interface ManualContext extends Omit<AppliedContext, 'evidence'> {
  /** The platform's id, if the person gave one: of a rule or of an install group. */
  readonly id: string | undefined;
  readonly ledgerView: LedgerView;
  /** Opens the platform when it is called; undefined if no platform is configured. */
  platform(): Promise<ScopeReader | undefined>;
}

/** The row that a manual resolution records, and warnings for the person who ran it. */
export interface ManualOutcome {
  readonly recording: Recording | 'gone' | 'released';
  readonly warnings: readonly string[];
}

/** Everything that kinds need to observe resources removed from git. */
export interface WithdrawalReading {
  /** Objects of the source that no manifest names, of all kinds. */
  readonly withdrawn: readonly OwnedObject[];
  /** Objects of the source with an obligation that is not fulfilled. */
  readonly owing: readonly OwnedObject[];
  /** A resource was observed in this pass. */
  readonly isAnyObserved: boolean;
  readonly reader: ScopeReader;
}

/** The part of a kind that uses the platform's API. No other part knows requests. */
export interface KindCalls<Spec, Live, S extends Step, Seen> {
  observe(context: ObserveContext<Spec>): Promise<Live>;
  /** Reads the input of `withdraw` and `owed`. Kinds that share the function share its answer. */
  observeWithdrawn?(reading: WithdrawalReading): Promise<Seen>;
  /** Reads the input of `exported` that other kinds do not need. */
  observeForExport?(reader: ScopeReader): Promise<unknown>;
  /** Returns whether the manifest of an object now refers to a different object. */
  isAnother?(object: OwnedObject, live: Live): boolean;
  /** Returns the state before the write, complete enough to resolve the write and to build a reverse step later. */
  preimage(step: S, live: Live | undefined, ledgerView: LedgerView): Json;
  /** Returns the component that the step writes to. It must belong to the application when the request leaves. Absent: none. */
  component?(step: S): string | undefined;
  /** Returns the readings of the scope that the step outdates. */
  touches(step: S): readonly ScopeReading[];
  /**
   * Returns why a write must not leave now: its preconditions changed since the plan was made, or are not as the platform
   * reported. Only reads. undefined: the write may leave.
   */
  obstacle?(step: S, context: ObstacleContext): Promise<Obstacle | undefined>;
  /** Returns facts from the answer to a write that must not be sent twice. Present: every write of the kind makes a copy. */
  since?(step: S, context: Pick<AppliedContext, 'evidence' | 'preimage'>): KnownSince;
  toWrite(step: S, context: CallContext): WriteRequest;
  /** Returns the rows that must be recorded with the intent: they show what to undo if the manifest is removed. */
  recordedFirst?(step: S, context: SendingContext<Spec>): readonly Recording[];
  /** Remedies of refusals that only this kind gets. */
  readonly remedies?: Readonly<Partial<Record<RejectionReason, string>>>;
  /** Returns the row to record. `gone`: deleted once its absence is read back. `released`: the object stays, unmanaged. */
  applied(step: S, context: AppliedContext): Recording | 'gone' | 'released';
  /**
   * Returns the row to record when a person says that the step was done.
   * @throws PortolanError `invalid` when the id is missing, or cannot be one of this step.
   */
  appliedManually(step: S, context: ManualContext): Promise<ManualOutcome>;
  /** Decides by observation whether a write in doubt was done, after its settle window. Only reads. */
  resolve(step: S, context: ResolveContext): Promise<Resolution>;
}

/**
 * Refuses an id for steps whose object has none.
 * @throws PortolanError `invalid` when one was given.
 */
export function refuseId(id: string | undefined, why: string): void {
  if (id !== undefined) throw badId(id, why);
}

/** Returns the error for an id that does not fit. @param id the given id; undefined: an id is needed. */
export function badId(id: string | undefined, why: string): PortolanError {
  const what = id === undefined ? 'An --id is needed' : `The --id ${JSON.stringify(id)} does not fit`;
  return invalidInput(
    'ledger/bad-id',
    `${what}: ${why}. Nothing was recorded.`,
    id === undefined ? 'Say which one with --id.' : 'Correct the --id, or leave it out.',
  );
}
