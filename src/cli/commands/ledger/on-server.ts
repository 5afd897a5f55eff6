import { invalidInput } from '../../../model/errors.ts';
import type { Adopted, Forgotten, Resolved, Retried } from '../../../model/manual.ts';
import type { Intent } from '../../../model/owned.ts';
import type { ApplicationSummary, OrphanStatus, ResourceStatus } from '../../../model/status.ts';
import { openServer, type ServerClient } from '../../server/client.ts';
import type { ServerFlags } from '../../server/options.ts';
import type { Surroundings } from '../../session/command.ts';
import { isResourceName } from '../history/read.ts';
import { applicationOf } from '../status/resource.ts';

/** Commands of `ledger` that a running controller carries out, between two passes of the application. */

function requireResource(name: string): void {
  if (isResourceName(name)) return;
  throw invalidInput(
    'cli/no-resource',
    `${name} is not the name of a resource. Nothing was done.`,
    'With --server, name a resource: Kind/name.',
  );
}

/** Sends a decision about one resource. @param verb `retry`, `forget`, `identify` */
async function decide(server: ServerClient, name: string, verb: string, expect: string, body?: object) {
  requireResource(name);
  const application = await applicationOf(server, name);
  const resource = name.split('/').map(encodeURIComponent).join('/');
  return server.post(`applications/${encodeURIComponent(application)}/resources/${resource}/${verb}`, expect, body);
}

export async function retryOnServer(name: string, flags: ServerFlags, around: Surroundings): Promise<Retried> {
  return (await decide(openServer(flags, around), name, 'retry', 'retried')) as Retried;
}

/** Forgets a resource: an orphaned one of this name, or else the one in a manifest. */
export async function forgetOnServer(
  name: string,
  reason: string,
  flags: ServerFlags,
  around: Surroundings,
): Promise<Forgotten> {
  requireResource(name);
  const server = openServer(flags, around);
  const orphans = (await Array.fromAsync(server.list('orphans'))) as readonly OrphanStatus[];
  const scopes = orphans.filter(({ id }) => id === name).map(({ scope }) => scope);
  const [scope] = scopes;
  if (scope === undefined) return (await decide(server, name, 'forget', 'forgotten', { reason })) as Forgotten;
  const resources = server.list('resources') as AsyncIterable<ResourceStatus>;
  for await (const { id } of resources) if (id === name) throw ambiguous(name, [...scopes, 'a manifest']);
  if (scopes.length > 1) throw ambiguous(name, scopes);
  const path = scope.split('/').map(encodeURIComponent).join('/');
  return (await server.post(`orphans/${path}/forget`, 'forgotten', { reason, resource: name })) as Forgotten;
}

export async function adoptOnServer(
  name: string,
  body: { readonly reason: string; readonly id: string | undefined },
  flags: ServerFlags,
  around: Surroundings,
): Promise<Adopted> {
  return (await decide(openServer(flags, around), name, 'identify', 'adopted', body)) as Adopted;
}

/** Resolves an intent, whose application is found by its scope. */
export async function resolveOnServer(
  intent: string,
  body: object,
  flags: ServerFlags,
  around: Surroundings,
): Promise<Resolved> {
  const server = openServer(flags, around);
  const application = await applicationOfIntent(server, intent);
  const path = `applications/${encodeURIComponent(application)}/intents/${encodeURIComponent(intent)}/resolve`;
  return (await server.post(path, 'decision', body)) as Resolved;
}

function ambiguous(name: string, places: readonly string[]) {
  return invalidInput(
    'cli/ambiguous-resource',
    `${name} is not one resource: ${places.join(', ')}. Nothing was done.`,
    'Use the dashboard, which shows them apart; or stop the controller and name the uid that portolan ledger list shows.',
  );
}

async function applicationOfIntent(server: ServerClient, id: string): Promise<string> {
  for await (const intent of server.list('intents') as AsyncIterable<Intent>) {
    if (intent.id !== id) continue;
    for await (const { id: name, scope } of server.list('applications') as AsyncIterable<ApplicationSummary>)
      if (scope === intent.scope) return name.slice('Application/'.length);
  }
  throw invalidInput(
    'ledger/no-intent',
    `The controller has no intent ${id} without an outcome. Nothing was recorded.`,
    'List them: portolan attention --server URL.',
  );
}
