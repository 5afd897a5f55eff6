import { listComponents, portsOf } from '../component/readings.ts';
import { getRule, listAllRules, listRules } from './readings.ts';
import type { WithdrawalReading } from '../calls.ts';
import type { Readable } from '../../model/reading.ts';
import type { ScopeReader, Withdrawal } from '../reconciled.ts';
import type { PortRecord } from '../component/wire.ts';
import type { RuleRecord } from './wire.ts';
import type { OwnedObject } from '../../model/owned.ts';

/**
 * Reads the facts for rules and ports removed from git. Both kinds need the same facts: a port has rules, and a rule keeps its
 * port open.
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

/** The rules of an application, with proofs about those removed from git. */
interface ConfirmedRules {
  readonly rules: Readable<readonly RuleRecord[]>;
  /** Ids of rules that this application does not list and that may still exist. */
  readonly unproven: ReadonlySet<string>;
}

/**
 * Returns the rules, with managed rules that the listing lacks and the platform still has: an empty or old listing does not prove
 * that a rule is gone, and its row must stay. Each is read by its id, which is rare. The application does not list rules of a
 * component that belongs to another application now.
 * @param withdrawn rules removed from git.
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

/** Reads each rule by its id, and returns those that still exist. */
export async function shownById(reader: ScopeReader, rows: readonly OwnedObject[]): Promise<readonly RuleRecord[]> {
  const found = await Promise.all(rows.map(({ remoteId }) => reader.readFresh(getRule(remoteId as string))));
  return found.flatMap((answer) => (answer.readable && answer.value !== undefined ? [answer.value] : []));
}

/** Returns the ids of the rules that may be in another application. */
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

/** Returns what the server can delete. It is asked only if a deletion may be needed. */
async function removals(reader: ScopeReader, ofRules: boolean, ofPorts: boolean) {
  return {
    canDeleteRules: ofRules && (await reader.has(listRules)),
    canDeletePorts: ofPorts && (await reader.has(listComponents)),
  };
}

/** Returns the ports of withdrawn components that may need changes. Usually there are none. */
async function withdrawnPorts(
  reader: ScopeReader,
  withdrawn: readonly OwnedObject[],
  owing: readonly OwnedObject[],
): Promise<ReadonlyMap<string, readonly PortRecord[] | undefined>> {
  const rules = owing.filter(({ kind }) => kind === 'HttpGatewayRule');
  const services = new Set([...rules, ...withdrawn.filter(mustBeSeen)].map(serviceOf));
  return new Map(await Promise.all([...services].map(async (id) => [id, await portsOf(reader, id)] as const)));
}

/** Returns whether the withdrawal may change the platform, so that ports must be observed first. */
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
