import { resourceId } from '../../model/ids.ts';
import type { RuleRecord } from './wire.ts';
import type { OwnedObject } from '../../model/owned.ts';
import type { DesiredState, Resource } from '../../model/resource.ts';
import { identifyComponent } from '../component/identity.ts';
import type { ComponentSpec } from '../component/spec.ts';
import type { LedgerView } from '../reconciled.ts';
import { isOnRecord } from './asserted.ts';
import type { RuleContext } from './live.ts';
import type { HttpGatewayRuleSpec } from './spec.ts';
import { addressOf, protocolOf, type RuleProtocol, ruleKey } from './steps.ts';

const KIND = 'HttpGatewayRule';

/**
 * The mark in `remoteAux` of a row from a ledger whose keys had no protocol, if the row has no other sign of it: the protocol of
 * the existing rule then counts as recorded.
 */
export const PROTOCOL_UNRECORDED = 'protocolUnrecorded';

/** Returns the rows of rules that exist, as far as the ledger knows. */
export function ruleRows({ objects }: LedgerView): readonly OwnedObject[] {
  return objects.filter(({ kind, state }) => kind === KIND && state !== 'gone');
}

/**
 * Returns the row of a manifest: the row with its key, or else the row that this manifest recorded under another key. A row with
 * the key of another manifest belongs to that one, so that two manifests can exchange their domains.
 * @param key the key of the desired rule.
 */
export function recordOf(context: RuleContext, key: string): OwnedObject | undefined {
  const { ledgerView, resource, siblings, source } = context;
  const rows = ruleRows(ledgerView);
  const withKey = rows.filter(({ naturalKey }) => naturalKey === key);
  if (withKey.length > 0) return withKey.find((row) => row.source === source) ?? withKey[0];
  const own = rows.filter((row) => row.source === source);
  const written = own.filter((row) => row.resource === resource.id);
  const isNear = ({ naturalKey }: OwnedObject): boolean => isSameRoute(naturalKey, key);
  const candidates = [
    ...written.filter(isNear),
    ...written.filter((row) => !isNear(row) && row.origin !== 'observed'),
    ...own.filter((row) => !siblings.has(row.resource) && isNear(row)),
  ];
  if (candidates.length === 0) return undefined;
  const taken = keysOfOthers(context);
  return candidates.find(({ naturalKey }) => !taken.has(naturalKey));
}

/** Returns whether two keys are equal except for the protocol. */
export function isSameRoute(one: string, other: string): boolean {
  const [left, right] = [addressOf(one), addressOf(other)];
  if (left === undefined || right === undefined) return false;
  return ruleKey({ ...left, protocol: 'http' }) === ruleKey({ ...right, protocol: 'http' });
}

function keysOfOthers({ resource, siblings, ledgerView }: RuleContext): ReadonlySet<string> {
  const keys = new Set<string>();
  for (const sibling of siblings.values()) {
    if (sibling.kind !== KIND || sibling.id === resource.id) continue;
    const key = wantedKey(sibling.spec as HttpGatewayRuleSpec, siblings, ledgerView);
    if (key !== undefined) keys.add(key);
  }
  return keys;
}

function wantedKey(spec: HttpGatewayRuleSpec, siblings: DesiredState, ledgerView: LedgerView): string | undefined {
  const component = siblings.get(resourceId('Component', spec.component)) as Resource<ComponentSpec> | undefined;
  const identity = component === undefined ? undefined : identifyComponent(component, ledgerView);
  return identity?.type === 'known' ? ruleKey({ ...spec, serviceId: identity.serviceId }) : undefined;
}

/**
 * Returns the rule of a row: by its id, whatever its domain is now. For a row without an id, the only rule with its key, if that
 * rule is as it was sent.
 */
export function presentOf(
  row: OwnedObject,
  rules: readonly RuleRecord[],
  ledgerView: LedgerView,
): RuleRecord | undefined {
  if (row.remoteId !== null) return rules.find(({ ruleId }) => ruleId === row.remoteId);
  const [only, second] = rules.filter((rule) => hasKeyOf(rule, row) && ownerOf(rule, ledgerView) === undefined);
  return only !== undefined && second === undefined && isOnRecord(row, only) ? only : undefined;
}

/** Returns whether a rule has the key of a row. */
export function hasKeyOf(rule: RuleRecord, { naturalKey, remoteAux }: OwnedObject): boolean {
  const key = ruleKey(rule);
  return key === naturalKey || (remoteAux[PROTOCOL_UNRECORDED] === true && isSameRoute(key, naturalKey));
}

/** Returns the row that records a rule by its id. */
export function ownerOf({ ruleId }: RuleRecord, ledgerView: LedgerView): OwnedObject | undefined {
  return ruleRows(ledgerView).find(({ remoteId, origin }) => remoteId === ruleId && origin !== 'observed');
}

/** Returns the recorded protocol of an existing rule. */
export function protocolOnRecord({ naturalKey, remoteAux }: OwnedObject, present: RuleRecord): RuleProtocol {
  if (remoteAux[PROTOCOL_UNRECORDED] === true) return protocolOf(present);
  return addressOf(naturalKey)?.protocol ?? protocolOf(present);
}

/** Returns the condition that no rule has a key: a second rule with it would block the first one permanently. */
export function keyFree(key: string): string {
  return `rule-key ${key}`;
}
