import type { Readable, ScopeReader } from '../kinds/reconciled.ts';
import type { PortRecord, RuleRecord } from '../model/observed.ts';
import type { OwnedObject } from '../model/owned.ts';
import type { PlatformClient } from '../platform/client.ts';
import type { AppAddress } from '../platform/writes.ts';

/**
 * The rules, with those of ours that the listing lacks and the platform still has: an empty or old listing is no proof
 * that a rule is gone, and the ledger must not let go of it. Each is asked for by its id, which is rare.
 * @param withdrawn what git no longer names.
 */
export async function confirmedRules(
  client: PlatformClient,
  app: AppAddress,
  rules: Readable<readonly RuleRecord[]>,
  withdrawn: readonly OwnedObject[],
): Promise<Readable<readonly RuleRecord[]>> {
  if (!rules.readable) return rules;
  const listed = new Set(rules.value.map((rule) => rule.ruleId));
  const missing = withdrawn.flatMap(({ origin, remoteId }) =>
    origin === 'observed' || remoteId === null || listed.has(remoteId) ? [] : [remoteId],
  );
  const found = await Promise.all(missing.map((ruleId) => client.rule(app, ruleId)));
  const present = found.flatMap((answer) => (answer.readable && answer.value !== undefined ? [answer.value] : []));
  return { readable: true, value: [...rules.value, ...present] };
}

/** What the server can remove, asked only where something may have to be. */
export async function removals(reader: ScopeReader, ofRules: boolean, ofPorts: boolean) {
  return {
    canDeleteRules: ofRules && (await reader.can('deleteRule')),
    canDeletePorts: ofPorts && (await reader.can('deletePort')),
  };
}

/** Ports of components whose removal from git asks for more than letting go: only what is seen can be changed. Mostly none. */
export async function withdrawnPorts(
  reader: ScopeReader,
  withdrawn: readonly OwnedObject[],
  owing: readonly OwnedObject[],
): Promise<ReadonlyMap<string, readonly PortRecord[] | undefined>> {
  const rules = owing.filter(({ kind }) => kind === 'HttpGatewayRule');
  const services = new Set([...rules, ...withdrawn.filter(mustBeSeen)].map(serviceOf));
  return new Map(await Promise.all([...services].map(async (id) => [id, await reader.ports(id)] as const)));
}

/** Something is owed, Portolan made it, its former values are to come back, or it opened its port. */
function mustBeSeen({ kind, origin, state, obligation, remoteAux }: OwnedObject): boolean {
  if (kind === 'HttpGatewayRule') return remoteAux['opened'] !== undefined;
  if (kind !== 'Component') return false;
  const listed = remoteAux['listed'] as { readonly onRemoval?: string } | undefined;
  const isDeparting = listed !== undefined && (origin === 'created' || listed.onRemoval === 'restore');
  return obligation !== null || state === 'deleting' || isDeparting;
}

function serviceOf({ naturalKey }: OwnedObject): string {
  return naturalKey.split('/')[1] as string;
}
