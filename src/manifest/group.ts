import { kindDeclarations } from '../kinds/declarations.ts';
import type { ApplicationSpec } from '../kinds/application/spec.ts';
import type { DesiredState, Resource } from '../model/resource.ts';

/** One Application and what belongs to it: what one pass reconciles. */
export interface ApplicationGroup {
  readonly application: Resource<ApplicationSpec>;
  /** All other resources of it, in the order of the source. */
  readonly resources: readonly Resource[];
}

/** Splits a desired state without problems by application, in the order of the source. */
export function groupByApplication(desired: DesiredState): readonly ApplicationGroup[] {
  const groups = new Map<string, { application: Resource<ApplicationSpec>; resources: Resource[] }>();
  for (const resource of desired.values()) {
    if (resource.kind !== 'Application') continue;
    groups.set(resource.name, { application: resource as Resource<ApplicationSpec>, resources: [] });
  }
  for (const resource of desired.values()) {
    const name = kindDeclarations.get(resource.kind)?.application(resource.spec);
    if (name !== undefined) groups.get(name)?.resources.push(resource);
  }
  return [...groups.values()];
}
