import { text as textOf } from 'node:stream/consumers';
import type { ApplicationSpec } from '../../../kinds/application/spec.ts';
import { COMPONENT } from '../../../kinds/component/name.ts';
import type { ComponentSpec } from '../../../kinds/component/spec.ts';
import { type ApplicationGroup, groupByApplication } from '../../../manifest/group.ts';
import { invalidInput, PortolanError } from '../../../model/errors.ts';
import { parseScopeKey, type Scope, scopeKey } from '../../../model/ids.ts';
import { safeLine } from '../../../model/text.ts';
import type { DesiredState, Resource } from '../../../model/resource.ts';
import { applicationsOfTeam, type ExportTarget } from '../../../reconcile/read-application.ts';
import { resolveScope } from '../../../reconcile/resolution/resolve-scope.ts';
import type { Platforms } from '../../session/platforms.ts';
import { readNamedFile } from '../../session/files.ts';
import { regionStatusWord, takesChanges } from '../region-status.ts';
import type { Terminal } from '../../terminal/terminal.ts';

/** Holds the options of `export` that name applications. */
export interface ExportNaming {
  readonly app?: readonly string[] | undefined;
  readonly team?: readonly string[] | undefined;
  readonly list?: string | undefined;
  readonly component?: readonly string[] | undefined;
  readonly platform?: string | undefined;
}

/** Holds a named application, and the component ids given with it. */
interface Named extends Pick<ExportTarget, 'scope' | 'record'> {
  readonly components: readonly string[];
}

/**
 * Returns the applications to export, each once, in the order of the command line.
 * @param desired existing manifests. They give names and component ids. Without other options, they name the applications.
 * @throws PortolanError `invalid` when no application is named, or an address or a list is malformed.
 */
export async function exportTargets(
  naming: ExportNaming,
  desired: DesiredState,
  platforms: Platforms,
  terminal: Terminal,
) {
  const platform = naming.platform ?? (platforms.names.length === 1 ? (platforms.names[0] ?? 'default') : 'default');
  const named: Named[] = (naming.app ?? []).map((text) => ({ scope: parseScope(text, platform), components: [] }));
  if (naming.list !== undefined) named.push(...parseList(await readList(naming.list, terminal), naming.list, platform));
  for (const text of naming.team ?? []) named.push(...(await listTeam(text, platforms, platform, terminal)));
  const isNamed = naming.app !== undefined || naming.list !== undefined || naming.team !== undefined;
  const existing = await readExistingManifests(desired, platforms);
  if (!isNamed) named.push(...[...existing.values()].map((found) => ({ ...found, components: [] })));
  if (!isNamed && named.length === 0)
    throw invalidInput(
      'export/nothing-named',
      'No application is named. Nothing was read.',
      'Pass --app TEAM/REGION/APP-ID, --team TEAM, --list FILE, or -f with manifests that name applications.',
    );
  const targets = new Map<string, ExportTarget>();
  for (const { scope, components, record: read } of named) {
    const key = scopeKey(scope);
    const earlier = targets.get(key);
    const record = read ?? earlier?.record ?? existing.get(key)?.record;
    const only = [...(earlier?.only ?? []), ...components];
    targets.set(key, {
      scope,
      ...(record === undefined ? {} : { record }),
      only: only.length === 0 ? undefined : only,
      known: existing.get(key)?.known ?? { components: new Map() },
    });
  }
  const others = [...existing].flatMap(([key, { group }]) =>
    targets.has(key) ? [] : [group.application, ...group.resources],
  );
  return {
    targets: withComponents([...targets.values()], naming.component ?? []),
    /** Existing manifests of other applications. */
    others: new Map(others.map((resource) => [resource.id, resource])),
  };
}

function withComponents(targets: readonly ExportTarget[], ids: readonly string[]): readonly ExportTarget[] {
  const [only, second] = targets;
  if (ids.length === 0) return targets;
  if (only !== undefined && second === undefined) return [{ ...only, only: [...(only.only ?? []), ...ids] }];
  throw invalidInput(
    'export/whose-component',
    `--component needs exactly one application, and ${targets.length} are named. Nothing was read.`,
    'Name one application, or use --list with a line TEAM/REGION/APP-ID SERVICE-ID … for each.',
  );
}

/** Parses `TEAM/REGION/APP-ID` or `PLATFORM/TEAM/REGION/APP-ID`. */
function parseScope(text: string, platform: string): Scope {
  const scope = parseScopeKey(text.split('/').length === 3 ? `${platform}/${text}` : text);
  if (scope !== undefined) return scope;
  throw invalidInput(
    'export/bad-address',
    `${text} is not TEAM/REGION/APP-ID. Nothing was read.`,
    "Write it like team-a/region-1/42. The last part is the application's number, as in the console's URL.",
  );
}

async function readList(path: string, terminal: Terminal): Promise<string> {
  return path === '-' ? textOf(terminal.input()) : new TextDecoder().decode(readNamedFile(path, 'the list'));
}

/** Parses a list: each line has an application, and ids when only these components are exported. */
function parseList(text: string, path: string, platform: string): Named[] {
  const named = text.split('\n').flatMap((line): Named[] => {
    const [address, ...components] = line
      .replace(/(?:^|\s)#.*$/, '')
      .trim()
      .split(/\s+/);
    return address === undefined || address === '' ? [] : [{ scope: parseScope(address, platform), components }];
  });
  if (named.length > 0) return named;
  throw invalidInput(
    'export/empty-list',
    `The list ${path} names no application. Nothing was read.`,
    'Write a line TEAM/REGION/APP-ID for each application.',
  );
}

/** Returns every application of a team. Without a region, all regions that are enabled for the team are listed. */
async function listTeam(text: string, platforms: Platforms, platform: string, { err }: Terminal): Promise<Named[]> {
  const [team = '', region, ...rest] = text.split('/');
  if (team === '' || region === '' || rest.length > 0) {
    throw invalidInput(
      'export/bad-team',
      `${text} is neither TEAM nor TEAM/REGION. Nothing was read.`,
      'Write it like team-a, or team-a/region-1 for one region.',
    );
  }
  const client = platforms.client(platform);
  const scopes = async (name: string): Promise<Named[]> =>
    (await applicationsOfTeam(client, team, name)).map((scope) => ({ scope, components: [] }));
  if (region !== undefined) return scopes(region);
  const regions = await client.regions({ team });
  const found = await Promise.all(
    regions.map(async ({ name, status }) => {
      try {
        return await scopes(name);
      } catch (error) {
        // The server has one answer for a region that is not enabled and for one where the team has no application.
        if (!(error instanceof PortolanError) || error.code !== 'platform/region-not-ready') throw error;
        if (!takesChanges(status)) err.write(`note: ${safeLine(unlistedRegion(name, status))}\n`);
        return [];
      }
    }),
  );
  const all = found.flat();
  if (all.length > 0) return all;
  throw new PortolanError({
    code: 'export/empty-team',
    disposition: 'give-up',
    message: `${client.url} shows no application of team ${team} in any region. Nothing was written.`,
    remedy: 'Correct the team; portolan regions shows which regions are enabled.',
  });
}

function unlistedRegion(name: string, status: string): string {
  return `region ${name} is ${regionStatusWord(status)}, so the platform lists nothing in it: applications of the team there are not exported`;
}

interface ExistingManifest extends Pick<ExportTarget, 'scope' | 'known' | 'record'> {
  readonly group: ApplicationGroup;
}

/** Returns what manifests know of the applications that they name, by scope. */
async function readExistingManifests(
  desired: DesiredState,
  platforms: Platforms,
): Promise<ReadonlyMap<string, ExistingManifest>> {
  const found = await Promise.all(
    groupByApplication(desired).map(async (group): Promise<[string, ExistingManifest]> => {
      const { application, resources } = group;
      const place = await findScope(application, platforms);
      const known = { name: application.name, components: namedComponents(resources) };
      return [scopeKey(place.scope), { ...place, known, group }];
    }),
  );
  return new Map(found);
}

/** Returns the scope of an application. One without an appId is looked up by its name, and its record is kept. */
async function findScope(
  application: Resource<ApplicationSpec>,
  platforms: Platforms,
): Promise<Pick<ExportTarget, 'scope' | 'record'>> {
  const { platform, team, region, appId } = application.spec;
  if (appId !== undefined) return { scope: { platform, team, region, appId } };
  return resolveScope(application, { client: platforms.client(platform) });
}

function namedComponents(resources: ApplicationGroup['resources']): ReadonlyMap<string, string> {
  return new Map(
    resources.flatMap(({ kind, name, spec }): [string, string][] => {
      const serviceId = kind === COMPONENT ? (spec as ComponentSpec).serviceId : undefined;
      return serviceId === undefined ? [] : [[serviceId, name]];
    }),
  );
}
