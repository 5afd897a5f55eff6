import type { KindCalls } from './calls.ts';
import type { ExportKind } from './export.ts';
import type { KindDiff, Step } from './reconciled.ts';
import type { KindView } from './view.ts';
import { kindName, type ResourceId } from '../model/ids.ts';

/** A kind without its type parameters, so that one registry can hold all kinds. */
export interface ReconciledKind extends KindDiff<unknown, unknown, Step, unknown> {
  readonly calls: KindCalls<unknown, unknown, Step, unknown>;
  readonly view: KindView;
  /** Writes existing resources as manifests. */
  readonly exported: ExportKind;
}

/** Kinds that are reconciled, by name. The program passes them in, as it does `Declarations`. */
export type ReconciledKinds = ReadonlyMap<string, ReconciledKind>;

/** Returns the kind of a resource. @throws Error for a kind that is not reconciled, of which there are no actions. */
export function kindOf(kinds: ReconciledKinds, resource: ResourceId): ReconciledKind {
  const kind = kinds.get(kindName(resource));
  if (kind === undefined) throw new Error(`${resource} is of a kind that is not reconciled`);
  return kind;
}

/** Returns whether every write of a kind makes a copy, so that the ledger must know all of them. */
export function makesCopies(kinds: ReconciledKinds, name: string): boolean {
  return kinds.get(name)?.calls.since !== undefined;
}

/**
 * Checks that the parts of a kind fit each other, and returns it without its type parameters. The cast is safe: a kind only
 * receives the specs, observations and steps that it made itself.
 */
export function defineKind<Spec, Live, S extends Step, Seen>(
  kind: KindDiff<Spec, Live, S, Seen> &
    Pick<ReconciledKind, 'exported' | 'view'> & { readonly calls: KindCalls<Spec, Live, S, Seen> },
): ReconciledKind {
  return kind as unknown as ReconciledKind;
}
