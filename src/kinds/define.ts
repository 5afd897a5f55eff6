import type { KindCalls } from './calls.ts';
import type { ExportKind } from './export.ts';
import type { KindDiff, Step } from './reconciled.ts';

/** A kind with its own types forgotten, so that one registry can hold them all. */
export interface ReconciledKind extends KindDiff<unknown, unknown, Step> {
  readonly calls: KindCalls<unknown, unknown, Step>;
  /** Writes what is there as manifests. */
  readonly exported: ExportKind;
}

/** Kinds that are reconciled, by name. Passed in like `Declarations`. */
export type ReconciledKinds = ReadonlyMap<string, ReconciledKind>;

/**
 * Checks that a kind's parts fit each other and forgets its types; nowhere else is a cast needed. A kind is only ever
 * given back what it made itself: its own specs, observations and steps.
 */
export function defineKind<Spec, Live, S extends Step>(
  kind: KindDiff<Spec, Live, S> & Pick<ReconciledKind, 'exported'> & { readonly calls: KindCalls<Spec, Live, S> },
): ReconciledKind {
  return kind as unknown as ReconciledKind;
}
