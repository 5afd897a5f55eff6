import type { ApplicationSpec } from '../kinds/application/spec.ts';
import { readBindings } from '../ledger/binding.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { PortolanError } from '../model/errors.ts';
import { parseScopeKey, resourceId, type Scope, scopeKey } from '../model/ids.ts';
import type { Resource } from '../model/resource.ts';
import type { PlatformClient } from '../platform/client.ts';
import { canonicalUrl } from '../platform/url.ts';
import type { Windows } from '../plan/guard.ts';
import type { UnresolvedApplication } from '../plan/orphans.ts';
import type { Work } from './work.ts';

interface OrphanedScope {
  readonly scope: Scope;
  readonly source: string;
  readonly ledger: Ledger;
  /** All Applications of the source, also those that could not be read. */
  readonly managed: readonly UnresolvedApplication[];
  client(platform: string): PlatformClient;
  /** Labels of the application, for windows: those that its manifest had are not known. */
  readonly labels: Readonly<Record<string, string>>;
}

/**
 * Returns an application without resources, whose plan removes what the source owns in an orphaned scope.
 * @throws PortolanError when the platform does not have the application any more, or when another Platform or another
 * source may manage the same objects.
 */
export async function orphanedWork(orphaned: OrphanedScope): Promise<Work> {
  const { scope, source, ledger, labels, client } = orphaned;
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
  await refuseOtherPlatform(orphaned, canonicalUrl(platform.url));
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
    labels,
    annotations: {},
    spec,
    position: { file: '', line: 0, column: 0 },
  };
  return { application, resources: new Map() };
}

/** Returns labels by which a window is closed now: the application may have had them. None: no window is closed. */
export function closedLabels(
  scope: Scope,
  windows: readonly { readonly labels?: Readonly<Record<string, string>> | undefined }[],
  at: Windows['at'] | undefined,
): Readonly<Record<string, string>> {
  const all = windows.map(({ labels = {} }) => labels);
  return all.find((labels) => at?.(scope, labels).type === 'closed') ?? {};
}

/** Refuses an application that another Platform of the same URL may manage, for this source or another one. */
async function refuseOtherPlatform({ scope, ledger, managed, client }: OrphanedScope, url: string): Promise<void> {
  const key = scopeKey(scope);
  const isOther = ({ platform, region, appId }: UnresolvedApplication): boolean =>
    platform !== scope.platform && region === scope.region && (appId === undefined || appId === scope.appId);
  const same = managed.find((one) => isOther(one) && canonicalUrl(client(one.platform).url) === url);
  if (same !== undefined)
    throw refused(
      'orphan/other-platform',
      `An Application of Platform/${same.platform} is or may be the same as ${key}: both Platforms have the URL ${url}. Nothing was sent.`,
      'If it cannot be read, correct that first. Then let go of each resource that it manages: portolan ledger forget UID --reason "…".',
    );
  const bindings = await readBindings(ledger);
  for (const name of await ledger.scopes()) {
    const other = parseScopeKey(name);
    if (other === undefined || !isOther(other) || bindings.get(other.platform)?.url !== url) continue;
    const row = (await ledger.objects({ scope: name })).find(({ state }) => state !== 'gone');
    if (row === undefined) continue;
    throw refused(
      'orphan/other-platform',
      `${key} and ${name} are the same application, because both Platforms have the URL ${url}, and the source "${row.source}" has objects in ${name}. Nothing was sent.`,
      `Let go of each resource that is on record for both: portolan ledger forget UID --reason "…".`,
    );
  }
}

function refused(code: string, message: string, remedy: string): PortolanError {
  return new PortolanError({ code, disposition: 'ask-human', message, remedy });
}
