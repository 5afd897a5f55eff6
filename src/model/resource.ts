import type { ResourceId } from './ids.ts';
import type { Position } from './problem.ts';

/** One validated manifest: its `spec` has passed the schema of its kind, and variables are substituted. */
export interface Resource<Spec = unknown> {
  readonly id: ResourceId;
  readonly kind: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** `portolan/prune`, `portolan/reconcile`, `portolan/moved-from`, … */
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: Spec;
  /** The start of the document. */
  readonly position: Position;
}

/** All resources that one source declares, by id. */
export type DesiredState = ReadonlyMap<ResourceId, Resource>;
