import { applicationDocument, wishedApplicationName } from '../kinds/application/export.ts';
import type { ExportContext, Exported, LiveApplication } from '../kinds/export.ts';
import { ExportNames } from '../kinds/export-names.ts';
import { COMPONENT } from '../kinds/component/name.ts';
import type { ReconciledKinds } from '../kinds/define.ts';
import { scopeKey } from '../model/ids.ts';
import type { DesiredState } from '../model/resource.ts';
import { isWritable } from './write.ts';

/** The exported manifests of one application, and what they do not contain. */
export interface ExportedApplication extends Exported {
  readonly live: LiveApplication;
  /** `metadata.name` of the Application. */
  readonly name: string;
}

/** The context of an export. */
export interface ExportSurroundings extends Pick<ExportContext, 'stores' | 'store'> {
  readonly kinds: ReconciledKinds;
  /** Manifests of other applications, whose names are in use. */
  readonly others?: DesiredState;
}

/**
 * Returns the manifests of applications. Pure, and in an order that only the platform decides: of two objects with the same
 * name, the first one by number or id gets it, so that the next export gives the same names.
 */
export function exportApplications(
  applications: readonly LiveApplication[],
  { kinds, stores, store, others = new Map() }: ExportSurroundings,
): readonly ExportedApplication[] {
  const sorted = applications.toSorted(byScope);
  const names = new ExportNames();
  const claimed = new Set<string>();
  keepNames(sorted, names);
  for (const { kind, name } of others.values()) names.reserve(kind, name);
  const shared: Omit<ExportContext, 'live' | 'application'> = {
    stores,
    store,
    nameFor: (kind, key, preferred, suffix) => names.give(kind, key, preferred, suffix),
    nameOf: (kind, key) => names.of(kind, key),
    fits: isWritable,
    claim: (identity) => {
      const isFree = !claimed.has(identity);
      claimed.add(identity);
      return isFree;
    },
  };
  return sorted.map((live) => {
    const name = names.give('Application', scopeKey(live.scope), wishedApplicationName(live), String(live.scope.appId));
    const context: ExportContext = { ...shared, live, application: name };
    // Kinds are in the order of their dependencies: a rule is named after its component.
    const parts = [...kinds.values()].sort((a, b) => a.order - b.order).map((kind) => kind.exported(context));
    return {
      live,
      name,
      documents: [applicationDocument(live, name), ...parts.flatMap((part) => part.documents)],
      left: parts.flatMap((part) => part.left),
      unseen: parts.flatMap((part) => part.unseen),
    };
  });
}

/** Reserves the names that objects have in existing manifests. */
function keepNames(applications: readonly LiveApplication[], names: ExportNames): void {
  for (const live of applications) {
    if (live.manifestName !== undefined) names.give('Application', scopeKey(live.scope), live.manifestName);
    for (const { serviceId, name } of live.components) if (name !== undefined) names.give(COMPONENT, serviceId, name);
  }
}

function byScope({ scope: a }: LiveApplication, { scope: b }: LiveApplication): number {
  const [left, right] = [a, b].map(({ platform, team, region }) => `${platform}/${team}/${region}`) as [string, string];
  return left === right ? a.appId - b.appId : left < right ? -1 : 1;
}
