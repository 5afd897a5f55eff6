import type { ApplicationSpec } from '../../../kinds/application/spec.ts';
import { invalidInput } from '../../../model/errors.ts';
import { parseScopeKey, type Scope } from '../../../model/ids.ts';
import type { Resource } from '../../../model/resource.ts';
import { resolveScope } from '../../../reconcile/resolution/resolve-scope.ts';
import { applicationArgument } from '../../server/options.ts';
import type { Surroundings } from '../../session/command.ts';
import { type OperatorConfiguration, readConfiguration } from '../../session/configuration.ts';
import { type InputOptions, loadInput } from '../../session/input.ts';
import type { Platforms } from '../../session/platforms.ts';
import { unknownApplication } from '../../session/unknown-application.ts';

/**
 * Returns the configuration for reaching an application, and a function that finds its scope. Call the function only when
 * configuration and manifests have no problem.
 * @param app the name of a manifest, or PLATFORM/TEAM/REGION/APP-ID.
 */
export async function targetOf(
  app: string,
  options: InputOptions,
  surroundings: Surroundings,
): Promise<{ readonly operator: OperatorConfiguration; readonly scopeOf: (platforms: Platforms) => Promise<Scope> }> {
  const name = applicationArgument(app);
  if (name.includes('/')) {
    const scope = parseAddress(app);
    return { operator: readConfiguration(options.config, surroundings), scopeOf: async () => scope };
  }
  const input = await loadInput(options, surroundings);
  return {
    operator: input,
    scopeOf: async (platforms) => {
      const application = applicationOf(name, [...input.desired.values()]);
      return (await resolveScope(application, { client: platforms.client(application.spec.platform) })).scope;
    },
  };
}

function applicationOf(name: string, resources: readonly Resource[]): Resource<ApplicationSpec> {
  const applications = resources.filter(({ kind }) => kind === 'Application') as readonly Resource<ApplicationSpec>[];
  const found = applications.find((application) => application.name === name);
  if (found !== undefined) return found;
  const names = applications.map((application) => application.name);
  throw unknownApplication('monitor', name, names, 'PLATFORM/TEAM/REGION/APP-ID works without manifests.');
}

function parseAddress(text: string): Scope {
  const scope = parseScopeKey(text);
  if (scope !== undefined) return scope;
  throw invalidInput(
    'monitor/bad-address',
    `${text} is not PLATFORM/TEAM/REGION/APP-ID.`,
    'Write it like default/team-a/region-1/42: the last part is the number of the application.',
  );
}
