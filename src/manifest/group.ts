import type { ApplicationSpec } from '../kinds/application/spec.ts';
import type { DesiredState, Resource } from '../model/resource.ts';
import { amendmentOf } from './amended-set.ts';
import { compact } from './compact.ts';

/** One Application and its resources, which one pass reconciles. */
export interface ApplicationGroup {
  readonly application: Resource<ApplicationSpec>;
  /** All other resources of the application, in the order of the source. */
  readonly resources: readonly Resource[];
}

/** The last group of each application. It stays the same object as long as all of its resources do. */
const lastGroups = new WeakMap<Resource, ApplicationGroup>();
/** The groups of a set, so that an amended set is not grouped from scratch. */
const groupsOfSets = new WeakMap<DesiredState, readonly ApplicationGroup[]>();

/** Groups a desired state without problems by application, in the order of the source. An unchanged group is the same object as before. */
export function groupByApplication(desired: DesiredState): readonly ApplicationGroup[] {
  const groups = regroup(desired) ?? groupAll(desired);
  groupsOfSets.set(desired, groups);
  return groups;
}

function groupAll(desired: DesiredState): readonly ApplicationGroup[] {
  const groups = new Map<string, { application: Resource<ApplicationSpec>; resources: Resource[] }>();
  desired.forEach((resource) => {
    if (isApplication(resource)) groups.set(resource.name, { application: resource, resources: [] });
  });
  desired.forEach((resource) => {
    const name = applicationOf(resource);
    if (name !== undefined) groups.get(name)?.resources.push(resource);
  });
  return Array.from(groups.values(), reuseGroup);
}

/** Returns the groups from those of the former set; undefined where they are unknown, or a resource changed its application. */
function regroup(desired: DesiredState): readonly ApplicationGroup[] | undefined {
  const { before, changed } = amendmentOf(desired) ?? {};
  const known = before && groupsOfSets.get(before);
  if (known === undefined || before === undefined || changed === undefined) return undefined;
  const names = new Set<string>();
  for (const id of changed) {
    const [old, resource] = [before.get(id), desired.get(id)];
    if (old === undefined || resource === undefined || applicationOf(old) !== applicationOf(resource)) return undefined;
    names.add(applicationOf(resource) ?? resource.name);
  }
  const now = <T extends Resource>(resource: T): T => (desired.get(resource.id) as T | undefined) ?? resource;
  return known.map((group) => {
    if (!names.has(group.application.name)) return group;
    return reuseGroup({ application: now(group.application), resources: group.resources.map(now) });
  });
}

function isApplication(resource: Resource): resource is Resource<ApplicationSpec> {
  return resource.kind === 'Application';
}

/** Returns `spec.application`, which every kind except Application has. */
function applicationOf({ spec }: Resource): string | undefined {
  return (spec as { readonly application?: string }).application;
}

function reuseGroup(group: ApplicationGroup): ApplicationGroup {
  const { application, resources } = group;
  const known = lastGroups.get(application);
  if (known?.resources.length === resources.length && known.resources.every((one, index) => one === resources[index]))
    return known;
  const fresh: ApplicationGroup = { application, resources: compact(resources) };
  lastGroups.set(application, fresh);
  return fresh;
}
