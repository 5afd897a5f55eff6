import type { Json } from '../model/json.ts';
import type { OwnedObject } from '../model/owned.ts';
import type { Resource } from '../model/resource.ts';
import type { WriteEvidence } from '../platform/verdict.ts';
import type { WriteRequest } from '../platform/writes.ts';
import type {
  CallContext,
  ObserveContext,
  Recording,
  Resolution,
  ResolveContext,
  ScopeReading,
  Step,
} from './reconciled.ts';

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

/** The part of a kind that speaks the platform's API: the only one that knows requests. */
export interface KindCalls<Spec, Live, S extends Step> {
  observe(context: ObserveContext<Spec>): Promise<Live>;
  /** Natural key and state before the write, complete enough to resolve it and to build a reverse step later. */
  preimage(step: S, live: Live | undefined): Json;
  /** Readings of the scope that the step makes old; see `ScopeReading`. */
  touches(step: S): readonly ScopeReading[];
  toWrite(step: S, context: CallContext): WriteRequest;
  /** `gone`: dropped once its absence has been read back. `released`: it stays on the platform and is no longer ours. */
  applied(step: S, context: AppliedContext): Recording | 'gone' | 'released';
  /** Decides a write in doubt by observation, after its settle window. Only reads. */
  resolve(step: S, context: ResolveContext): Promise<Resolution>;
}
