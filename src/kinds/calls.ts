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
import { PortolanError } from '../model/errors.ts';

/** What an applied step says about its object. */
export interface AppliedContext {
  readonly evidence: WriteEvidence;
  /** The ledger's row before, if any. */
  readonly prior: OwnedObject | undefined;
  /** What the intent recorded before sending. */
  readonly preimage: Json;
  /** The manifest, if git still has it. */
  readonly resource: Resource | undefined;
  readonly nowMs: number;
}

/** Returns what is at hand about a step in doubt that the platform shows as done. */
export function seenDone({ intent, ledgerView }: ResolveContext, evidence = NO_EVIDENCE): AppliedContext {
  const prior = ledgerView.objects.find((object) => object.uid === intent.uid);
  return { evidence, prior, preimage: intent.preimage, resource: undefined, nowMs: 0 };
}

/** Why a write must not leave now. */
export interface Obstacle {
  readonly why: string;
  /** What it rests on was accepted, and was not done: counted, so that it is not tried for ever. */
  readonly isUntaken?: true;
}

export interface ObstacleContext {
  readonly preimage: Json;
  readonly reader: ScopeReader;
}

/** What the ledger keeps of an application after an install there. */
export interface KnownSince {
  readonly total?: number;
  readonly besides?: string;
}

/** A person says that a step in doubt was done: what is at hand in place of an answer. */
export interface ManualContext extends Omit<AppliedContext, 'evidence'> {
  /** The platform's id, where the person gave one: of a rule, of an install group. */
  readonly id: string | undefined;
  readonly ledgerView: LedgerView;
  /** Opened only when it is asked for; undefined where no platform is at hand. */
  platform(): Promise<ScopeReader | undefined>;
}

/** What the ledger should say on a person's word, and what that person should know about it. */
export interface ManualOutcome {
  readonly recording: Recording | 'gone' | 'released';
  readonly warnings: readonly string[];
}

/** What there is to look at for objects that git no longer names. */
export interface WithdrawalReading {
  /** Objects of the source that no manifest wants, of all kinds. */
  readonly withdrawn: readonly OwnedObject[];
  /** Objects of the source that are owed something. */
  readonly owing: readonly OwnedObject[];
  /** Resources were observed in this pass. */
  readonly isAnyObserved: boolean;
  readonly reader: ScopeReader;
}

/** The part of a kind that speaks the platform's API: the only one that knows requests. */
export interface KindCalls<Spec, Live, S extends Step, Seen> {
  observe(context: ObserveContext<Spec>): Promise<Live>;
  /** Reads what `withdraw` and `owed` look at. Kinds that share the function share its answer. */
  observeWithdrawn?(reading: WithdrawalReading): Promise<Seen>;
  /** What `exported` looks at besides what every export reads. */
  observeForExport?(reader: ScopeReader): Promise<unknown>;
  /** Whether the manifest of an object means another one by now. */
  isAnother?(object: OwnedObject, live: Live): boolean;
  /** Natural key and state before the write, complete enough to resolve it and to build a reverse step later. */
  preimage(step: S, live: Live | undefined, ledgerView: LedgerView): Json;
  /** The component that the step writes to: it must belong to the application when the request leaves. Absent: none. */
  component?(step: S): string | undefined;
  /** Readings of the scope that the step makes old; see `ScopeReading`. */
  touches(step: S): readonly ScopeReading[];
  /**
   * Why a write that may never be sent twice, or only upon something else, must not leave now: what it rests on has changed
   * since the plan was made, or is not as the platform said. Only reads. undefined: it may.
   */
  obstacle?(step: S, context: ObstacleContext): Promise<Obstacle | undefined>;
  /** What the platform's list says after a write that may never be sent twice. */
  since?(step: S, context: Pick<AppliedContext, 'evidence' | 'preimage'>): KnownSince;
  toWrite(step: S, context: CallContext): WriteRequest;
  /** Remedies of refusals that only this kind gets. */
  readonly remedies?: Readonly<Partial<Record<RejectionReason, string>>>;
  /** `gone`: dropped once its absence has been read back. `released`: it stays on the platform and is no longer ours. */
  applied(step: S, context: AppliedContext): Recording | 'gone' | 'released';
  /**
   * As `applied`, on a person's word.
   * @throws PortolanError `invalid` when the id is missing, or cannot be one of this step.
   */
  appliedManually(step: S, context: ManualContext): Promise<ManualOutcome>;
  /** Decides a write in doubt by observation, after its settle window. Only reads. */
  resolve(step: S, context: ResolveContext): Promise<Resolution>;
}

/**
 * For steps whose object has no id that a person could give.
 * @throws PortolanError `invalid` when one was given.
 */
export function refuseId(id: string | undefined, why: string): void {
  if (id !== undefined) throw badId(id, why);
}

/** @param id what was given; undefined: one is needed. */
export function badId(id: string | undefined, why: string): PortolanError {
  const what = id === undefined ? 'An --id is needed' : `The --id ${JSON.stringify(id)} does not fit`;
  return new PortolanError({
    code: 'ledger/bad-id',
    disposition: 'invalid',
    message: `${what}: ${why}. Nothing was recorded.`,
    remedy: id === undefined ? 'Say which one with --id.' : 'Correct the --id, or leave it out.',
  });
}
