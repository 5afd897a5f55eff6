import type { ResourceId } from '../model/ids.ts';
import type { Reading } from '../model/reading.ts';
import type { DesiredState, Resource } from '../model/resource.ts';
import type { ShownLine } from '../model/shown.ts';
import type { LedgerView } from './reconciled.ts';

/** What views read of an application. */
export interface ViewReader {
  /** @param what it is, for people where it cannot be seen. @returns undefined where that is so, or it was not asked for. */
  read<T>(reading: Reading<T>, what: string): Promise<T | undefined>;
}

/** One observation of an application, for what its kinds show of it. */
export interface ViewContext {
  readonly resources: DesiredState;
  readonly live: ReadonlyMap<ResourceId, unknown>;
  readonly ledgerView: LedgerView;
  readonly reader: ViewReader;
}

/** What views show of a kind, such as the command `tree`. */
export interface KindView {
  /** `component`: what a tree calls it. */
  readonly noun: string;
  /** Tells a resource from others, such as its address. */
  facts?(resource: Resource): string;
  /** All lines of the kind; without it, one per resource, below the application. */
  lines?(context: ViewContext): Promise<readonly ShownLine[]>;
}

/** The lines of one kind. */
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

/** The line of a resource that has nothing around it. */
export function resourceLine(type: string, { id }: Pick<Resource, 'id'>): ShownLine {
  return { type, key: id, below: [], name: id, facts: '', resource: id };
}
