import type { ApplicationSpec } from '../kinds/application/spec.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { PortolanError } from '../model/errors.ts';
import { resourceId, type Scope, scopeKey } from '../model/ids.ts';
import type { Resource } from '../model/resource.ts';
import type { PlatformClient } from '../platform/client.ts';
import { canonicalUrl } from '../platform/url.ts';
import type { Work } from './work.ts';

interface OrphanedScope {
  readonly scope: Scope;
  readonly source: string;
  readonly ledger: Ledger;
  /** The scopes that Applications of the source mean. */
  readonly managed: readonly Scope[];
  client(platform: string): PlatformClient;
}

/**
 * Returns an application without resources, whose plan removes what the source owns in an orphaned scope.
 * @throws PortolanError when the platform does not have the application any more, or when another Platform or another
 * source may manage the same objects.
 */
export async function orphanedWork({ scope, source, ledger, managed, client }: OrphanedScope): Promise<Work> {
  const key = scopeKey(scope);
  const rows = (await ledger.objects({ scope: key })).filter(({ state }) => state !== 'gone');
  const other = rows.find((row) => row.source !== source)?.source;
  if (other !== undefined)
    throw refused(
      'orphan/other-source',
      `The source "${other}" has objects in ${key} too, and may manage what the source "${source}" left there. Nothing was sent.`,
      `If "${other}" manages them now, let go of each: portolan ledger forget Kind/name --source ${source} --reason "…". Otherwise put the Application back without resources, run portolan apply --prune, and remove it again.`,
    );
  const platform = client(scope.platform);
  const url = canonicalUrl(platform.url);
  const same = managed.find(
    (one) => scopeKey({ ...one, platform: scope.platform }) === key && canonicalUrl(client(one.platform).url) === url,
  );
  if (same !== undefined)
    throw refused(
      'orphan/other-platform',
      `${key} and ${scopeKey(same)} are the same application: both Platforms have the URL ${url}. Nothing was sent.`,
      'Let go of each resource that the second one manages: portolan ledger forget UID --reason "…".',
    );
  const record = await platform.application(scope);
  if (record === undefined || scopeKey({ ...record, platform: scope.platform }) !== key)
    throw refused(
      'orphan/no-application',
      `${platform.url} has no application ${scope.appId} of team ${scope.team} in region ${scope.region} any more. Nothing was sent.`,
      'If it was deleted, let go of its resources: portolan ledger forget Kind/name --reason "…".',
    );
  const spec: ApplicationSpec = scope;
  const application: Resource<ApplicationSpec> = {
    id: resourceId('Application', key),
    kind: 'Application',
    name: key,
    labels: {},
    annotations: {},
    spec,
    position: { file: '', line: 0, column: 0 },
  };
  return { application, resources: new Map() };
}

function refused(code: string, message: string, remedy: string): PortolanError {
  return new PortolanError({ code, disposition: 'ask-human', message, remedy });
}
