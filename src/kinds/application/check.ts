import type { Resource } from '../../model/resource.ts';
import type { Identity, OtherResources } from '../kind.ts';
import type { ApplicationSpec } from './spec.ts';

/** Returns a text that identifies an application by what its manifest says; equal texts mean the same application. */
export function applicationKey(spec: ApplicationSpec): string {
  return `${spec.platform}/${spec.team}/${spec.region}/${spec.appId ?? spec.app}`;
}

/**
 * Returns the spec of an Application by name; undefined if there is none, or if it has faults: then nothing can be concluded
 * from it.
 */
export function applicationOf(set: OtherResources, name: string): ApplicationSpec | undefined {
  return set.get(`Application/${name}`)?.spec as ApplicationSpec | undefined;
}

export function applicationIdentities(resource: Resource<ApplicationSpec>): readonly Identity[] {
  const { spec } = resource;
  return [{ key: `application ${applicationKey(spec)}`, path: spec.app === undefined ? 'spec.appId' : 'spec.app' }];
}
