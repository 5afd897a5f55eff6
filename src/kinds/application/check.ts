import type { Resource } from '../../model/resource.ts';
import { scopeMayMatch } from '../../model/scope-pattern.ts';
import type { Foresight, Identity, OtherResources, SpecProblem } from '../kind.ts';
import { problemAt } from '../problems.ts';
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

/** Ids of teams have this form. The platform accepts an id in place of the name, which is not known offline then. */
const TEAM_ID = /^[0-9a-f]{32}$/;

/** Returns what a plan refuses: an application outside of `scopes.allow`, or a name that the server cannot look up. */
export function foreseeApplication(
  { id, spec }: Resource<ApplicationSpec>,
  _set: OtherResources,
  { allowedScopes, isDocumented }: Foresight,
): readonly SpecProblem[] {
  const { team, region, appId, app, platform } = spec;
  const parts = [TEAM_ID.test(team) ? undefined : team, region, appId === undefined ? undefined : String(appId)];
  const isAllowed = allowedScopes.some((pattern) => scopeMayMatch(pattern, parts));
  const scope = `${team}/${region}/${appId ?? app}`;
  const refusals = isAllowed
    ? []
    : problemAt(
        'spec.team',
        'guard/scope',
        `${id} is application ${scope}, which spec.scopes.allow of Settings does not allow`,
        `a team, region and application that match ${allowedScopes.slice(0, SCOPES_SHOWN_MAX).join(' or ')}`,
        `write the team by its name, as in spec.scopes.allow, or ask the operator to add "${team}/${region}/${appId ?? '*'}" there`,
      );
  if (app === undefined || !isDocumented(platform)) return refusals;
  const message = `the application is named "${app}", and Platform/${platform} has the dialect documented, which cannot list applications by name`;
  return [
    ...refusals,
    ...problemAt('spec.app', 'application/needs-number', message, 'spec.appId, the number of the application'),
  ];
}

const SCOPES_SHOWN_MAX = 5;

export function applicationIdentities(resource: Resource<ApplicationSpec>): readonly Identity[] {
  const { spec } = resource;
  return [{ key: `application ${applicationKey(spec)}`, path: spec.app === undefined ? 'spec.appId' : 'spec.app' }];
}
