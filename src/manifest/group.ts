import { kindDeclarations } from '../kinds/declarations.ts';
import type { ApplicationSpec } from '../kinds/application/spec.ts';
import type { DesiredState, Resource } from '../model/resource.ts';

/** One Application and what belongs to it: what one pass reconciles. */
export interface ApplicationGroup {
  readonly application: Resource<ApplicationSpec>;
  /** All other resources of it, in the order of the source. */
  readonly resources: readonly Resource[];
}

/** By the application: the group that it had last, which is the same as long as all of its resources are. */
const kept = new WeakMap<Resource, ApplicationGroup>();

/** Splits a desired state without problems by application, in the order of the source. A group of which nothing changed is the one of the last time. */
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
  return [...groups.values()].map(asKept);
}

function asKept(group: ApplicationGroup): ApplicationGroup {
  const { application, resources } = group;
  const known = kept.get(application);
  if (known?.resources.length === resources.length && known.resources.every((one, index) => one === resources[index]))
    return known;
  kept.set(application, group);
  return group;
}
