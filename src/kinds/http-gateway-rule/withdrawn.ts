import { listComponents, portsOf } from '../component/readings.ts';
import { getRule, listAllRules, listRules } from './readings.ts';
import type { WithdrawalReading } from '../calls.ts';
import type { Readable } from '../../model/reading.ts';
import type { ScopeReader, Withdrawal } from '../reconciled.ts';
import type { PortRecord } from '../component/wire.ts';
import type { RuleRecord } from './wire.ts';
import type { OwnedObject } from '../../model/owned.ts';

/**
 * Reads what decides about rules and ports that git no longer names. Both kinds look at the same: a port has rules, and a
 * rule keeps its port open.
 */
export async function observeWithdrawal(reading: WithdrawalReading): Promise<Withdrawal> {
  const { reader, withdrawn, owing, isAnyObserved } = reading;
  const ofRules = withdrawn.filter(({ kind }) => kind === 'HttpGatewayRule');
  const ports = await withdrawnPorts(reader, withdrawn, owing);
  const needsRules = ofRules.length + ports.size > 0 || isAnyObserved;
  const listed = needsRules ? await reader.read(listRules) : { readable: false as const };
  const { rules, unproven } = await confirmedRules(reader, listed, ofRules);
  return { rules, unproven, ports, ...(await removals(reader, rules.readable, ports.size > 0)) };
}

/** The rules of an application, as far as they say what became of rules that git no longer names. */
interface ConfirmedRules {
  readonly rules: Readable<readonly RuleRecord[]>;
  /** Ids of rules that this application does not show, and that are not proved to be gone. */
  readonly unproven: ReadonlySet<string>;
}

/**
 * The rules, with those of ours that the listing lacks and the platform still has: an empty or old listing is no proof
 * that a rule is gone, and the ledger must not let go of it. Each is asked for by its id, which is rare. The application
 * shows no rule of a component that belongs to another one now.
 * @param withdrawn what git no longer names.
 */
async function confirmedRules(
  reader: ScopeReader,
  rules: Readable<readonly RuleRecord[]>,
  withdrawn: readonly OwnedObject[],
): Promise<ConfirmedRules> {
  if (!rules.readable) return { rules, unproven: new Set() };
  const listed = new Set(rules.value.map((rule) => rule.ruleId));
  const missing = withdrawn.filter(
    ({ origin, remoteId }) => origin !== 'observed' && remoteId !== null && !listed.has(remoteId),
  );
  const present = await shownById(reader, missing);
  const there = new Set(present.map(({ ruleId }) => ruleId));
  const lost = missing.filter(({ remoteId }) => !there.has(remoteId as string));
  return {
    rules: { readable: true, value: [...rules.value, ...present] },
    unproven: lost.length === 0 ? new Set() : await elsewhere(reader, lost),
  };
}

/** Asks for each of these by its id. Returns those that the platform still has. */
export async function shownById(reader: ScopeReader, rows: readonly OwnedObject[]): Promise<readonly RuleRecord[]> {
  const found = await Promise.all(rows.map(({ remoteId }) => reader.readFresh(getRule(remoteId as string))));
  return found.flatMap((answer) => (answer.readable && answer.value !== undefined ? [answer.value] : []));
}

/** Returns the ids of those rules that may be in another application. */
async function elsewhere(reader: ScopeReader, lost: readonly OwnedObject[]): Promise<ReadonlySet<string>> {
  const every = await reader.read(listAllRules);
  const all = new Set(every.readable ? every.value.map(({ rule }) => rule.ruleId) : []);
  const ids = await Promise.all(
    lost.map(async (object) => {
      const { remoteId } = object;
      const isThere = every.readable
        ? all.has(remoteId as string)
        : (await portsOf(reader, serviceOf(object))) === undefined;
      return isThere ? [remoteId as string] : [];
    }),
  );
  return new Set(ids.flat());
}

/** What the server can remove, asked only where something may have to be. */
async function removals(reader: ScopeReader, ofRules: boolean, ofPorts: boolean) {
  return {
    canDeleteRules: ofRules && (await reader.has(listRules)),
    canDeletePorts: ofPorts && (await reader.has(listComponents)),
  };
}

/** Ports of components whose removal from git asks for more than letting go: only what is seen can be changed. Mostly none. */
async function withdrawnPorts(
  reader: ScopeReader,
  withdrawn: readonly OwnedObject[],
  owing: readonly OwnedObject[],
): Promise<ReadonlyMap<string, readonly PortRecord[] | undefined>> {
  const rules = owing.filter(({ kind }) => kind === 'HttpGatewayRule');
  const services = new Set([...rules, ...withdrawn.filter(mustBeSeen)].map(serviceOf));
  return new Map(await Promise.all([...services].map(async (id) => [id, await portsOf(reader, id)] as const)));
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
