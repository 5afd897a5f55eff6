import { invalidInput } from '../../../model/errors.ts';
import type { Adopted, Forgotten, Resolved, Retried } from '../../../model/manual.ts';
import type { Intent } from '../../../model/owned.ts';
import type { ApplicationSummary } from '../../../model/status.ts';
import { openServer, type ServerClient } from '../../server/client.ts';
import type { ServerFlags } from '../../server/options.ts';
import type { Surroundings } from '../../session/command.ts';
import { isResourceName } from '../history/read.ts';
import { applicationOf } from '../status/resource.ts';
import type { LedgerOptions } from './opening.ts';

/** Commands of `ledger` that a running controller carries out, between two passes of the application. */

/** Returns whether a controller carries out a command. A named ledger file takes precedence over PORTOLAN_SERVER. */
export function isOnServer({ server, ledger }: ServerFlags & LedgerOptions): boolean {
  return server !== undefined && ledger === undefined;
}

/** Sends a decision about one resource. @param verb `retry`, `forget`, `identify` */
async function decide(server: ServerClient, name: string, verb: string, expect: string, body?: object) {
  if (!isResourceName(name))
    throw invalidInput(
      'cli/no-resource',
      `${name} is not the name of a resource. Nothing was done.`,
      'With --server, name a resource: Kind/name.',
    );
  const application = await applicationOf(server, name);
  const resource = name.split('/').map(encodeURIComponent).join('/');
  return server.post(`applications/${encodeURIComponent(application)}/resources/${resource}/${verb}`, expect, body);
}

export async function retryOnServer(name: string, flags: ServerFlags, around: Surroundings): Promise<Retried> {
  return (await decide(openServer(flags, around), name, 'retry', 'retried')) as Retried;
}

export async function forgetOnServer(
  name: string,
  reason: string,
  flags: ServerFlags,
  around: Surroundings,
): Promise<Forgotten> {
  return (await decide(openServer(flags, around), name, 'forget', 'forgotten', { reason })) as Forgotten;
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
