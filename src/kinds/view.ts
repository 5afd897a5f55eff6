import type { ResourceId } from '../model/ids.ts';
import type { Json } from '../model/json.ts';
import type { OwnedObject } from '../model/owned.ts';
import type { Reading } from '../model/reading.ts';
import type { DesiredState, Resource } from '../model/resource.ts';
import type { ShownLine } from '../model/shown.ts';
import type { LedgerView } from './reconciled.ts';

/** Reads for views, which show an application even if parts of it cannot be read. */
export interface ViewReader {
  /** Returns undefined if the reading is not available or not requested. @param what names the reading in messages. */
  read<T>(reading: Reading<T>, what: string): Promise<T | undefined>;
}

/** The input of a kind's view: one observation of an application. */
export interface ViewContext {
  readonly resources: DesiredState;
  readonly live: ReadonlyMap<ResourceId, unknown>;
  readonly ledgerView: LedgerView;
  readonly reader: ViewReader;
}

/** A managed field of a manifest. */
export interface ManagedValue {
  /** Path in the manifest, as changes name it: `ports[8080].alias`. */
  readonly path: string;
  readonly desired: Json;
  /** The value that was last applied; absent: the ledger has none. */
  readonly lastApplied?: Json | undefined;
  /** No answer of the platform shows the field. */
  readonly isHidden?: boolean;
}

/** Shows the resources of a kind in views, such as `portolan tree`. */
export interface KindView {
  /** The word for one resource in a tree: `component`. */
  readonly noun: string;
  /** Returns facts that identify a resource, such as its address. */
  facts?(resource: Resource): string;
  /** Returns the managed fields of a resource. @param objects of the resource in the ledger. */
  fields(resource: Resource, objects: readonly OwnedObject[]): readonly ManagedValue[];
  /** Returns whether the platform shows the fields of an observed resource. Absent: it always does. */
  isShown?(live: unknown): boolean;
  /** Returns all lines of the kind. Absent: one line for each resource, below the application. */
  lines?(context: ViewContext): Promise<readonly ShownLine[]>;
}

/** Returns the lines of one kind. */
export async function linesOf(
  { kind, view }: { readonly kind: string; readonly view: KindView },
  context: ViewContext,
): Promise<readonly ShownLine[]> {
  return (
    view.lines?.(context) ??
    resourcesOf(kind, context).map((resource) => ({
      ...resourceLine(view.noun, resource),
      facts: view.facts?.(resource) ?? '',
    }))
  );
}

export function resourcesOf<Spec>(kind: string, { resources }: Pick<ViewContext, 'resources'>): Resource<Spec>[] {
  return [...resources.values()].filter((resource) => resource.kind === kind) as Resource<Spec>[];
}

/** Returns the line of a resource at the top level. */
export function resourceLine(type: string, { id }: Pick<Resource, 'id'>): ShownLine {
  return { type, key: id, below: [], name: id, facts: '', resource: id };
}
