import type { KindCalls } from './calls.ts';
import type { ExportKind } from './export.ts';
import type { KindDiff, Step } from './reconciled.ts';
import type { KindView } from './view.ts';
import { kindName, type ResourceId } from '../model/ids.ts';

/** A kind with its own types forgotten, so that one registry can hold them all. */
export interface ReconciledKind extends KindDiff<unknown, unknown, Step, unknown> {
  readonly calls: KindCalls<unknown, unknown, Step, unknown>;
  readonly view: KindView;
  /** Writes what is there as manifests. */
  readonly exported: ExportKind;
}

/** Kinds that are reconciled, by name. Passed in like `Declarations`. */
export type ReconciledKinds = ReadonlyMap<string, ReconciledKind>;

/** Returns the kind of a resource. @throws Error for a kind that is not reconciled, of which there are no actions. */
export function kindOf(kinds: ReconciledKinds, resource: ResourceId): ReconciledKind {
  const kind = kinds.get(kindName(resource));
  if (kind === undefined) throw new Error(`${resource} is of a kind that is not reconciled`);
  return kind;
}

/** Whether every write of a kind makes a copy, so that the ledger must have known them all. */
export function makesCopies(kinds: ReconciledKinds, name: string): boolean {
  return kinds.get(name)?.calls.since !== undefined;
}

/**
 * Checks that a kind's parts fit each other and forgets its types; nowhere else is a cast needed. A kind is only ever
 * given back what it made itself: its own specs, observations and steps.
 */
export function defineKind<Spec, Live, S extends Step, Seen>(
  kind: KindDiff<Spec, Live, S, Seen> &
    Pick<ReconciledKind, 'exported' | 'view'> & { readonly calls: KindCalls<Spec, Live, S, Seen> },
): ReconciledKind {
  return kind as unknown as ReconciledKind;
}
