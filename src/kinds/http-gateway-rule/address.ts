import type { Json } from '../../model/json.ts';
import type { RuleRecord } from './wire.ts';
import type { OwnedObject } from '../../model/owned.ts';
import type { Resource } from '../../model/resource.ts';
import { identifyComponent } from '../component/identity.ts';
import type { ComponentSpec } from '../component/spec.ts';
import type { Need, RawChange } from '../reconciled.ts';
import { keyFree, ownerOf, protocolOnRecord, ruleRows } from './identity.ts';
import type { ObservedContext, RuleContext } from './live.ts';
import { addressOf, protocolOf, type RuleAddress, ruleKey } from './steps.ts';

/** The desired address of a rule, and the differences from its present one. */
export interface WantedAddress {
  readonly address: RuleAddress;
  /** The certificate to send: that of the manifest, or the one that the protocol needs. 0: none. */
  readonly certificateId: number;
  /** Changes from the present address to the desired one. */
  readonly changes: readonly RawChange[];
  /** Natural key of the row after these changes. */
  readonly key: string;
}

/**
 * Compares the address of a rule that exists with that of its manifest.
 * @param mine the row of the rule; undefined where it is not on record.
 */
export function wantedAddress(
  context: ObservedContext,
  present: RuleRecord,
  mine: OwnedObject | undefined,
): WantedAddress {
  const { live, resource } = context;
  const { spec } = resource;
  const certificate = wantedCertificate(context, present, mine);
  const protocol = protocolOf({ certificateId: certificate.wanted });
  const isSameDomain = present.domain.toLowerCase() === spec.domain.toLowerCase();
  // The platform compares domains without regard to case, so its own spelling is as good.
  const domain = isSameDomain ? present.domain : spec.domain;
  const address = { serviceId: live.serviceId, port: spec.port, protocol, domain, path: spec.path };
  const recorded = mine === undefined ? undefined : addressOf(mine.naturalKey);
  const isOnRecordAs = recorded?.domain === spec.domain.toLowerCase() ? spec.domain : recorded?.domain;
  const name = (serviceId: string | undefined): string | undefined => componentName(context, serviceId);
  const changes = [
    ...changeOf('component', name(present.serviceId), name(live.serviceId), name(recorded?.serviceId)),
    ...changeOf('port', present.port, spec.port, recorded?.port),
    ...changeOf('domain', isSameDomain ? spec.domain : present.domain, spec.domain, isOnRecordAs),
    ...changeOf('path', present.path, spec.path, recorded?.path),
    ...certificate.changes,
  ];
  const isNamed = certificate.changes.length > 0 || spec.certificateId !== undefined;
  if (!isNamed && protocolOf(present) !== protocol)
    changes.push(...changeOf('protocol', protocolOf(present), protocol, recorded?.protocol));
  return { address, certificateId: certificate.wanted, changes, key: keyOf(context, mine, ruleKey(address)) };
}

/** Returns the new key of the row; its present key while another row has the new one. */
function keyOf({ ledgerView }: RuleContext, mine: OwnedObject | undefined, key: string): string {
  if (mine === undefined || mine.naturalKey === key) return key;
  const isTaken = ruleRows(ledgerView).some((row) => row.naturalKey === key && row.origin !== 'observed');
  return isTaken ? mine.naturalKey : key;
}

interface WantedCertificate {
  readonly wanted: number;
  /** Changes of a certificate that the manifest does not name; one that it names is an ordinary field. */
  readonly changes: readonly RawChange[];
}

/**
 * Returns the certificate that the rule should have. A rule without a certificate in its manifest is http; one that was adopted
 * as https stays https, by its recorded protocol.
 */
function wantedCertificate(
  { resource: { spec } }: RuleContext,
  present: RuleRecord,
  mine: OwnedObject | undefined,
): WantedCertificate {
  const found = present.certificateId ?? 0;
  if (spec.certificateId !== undefined) return { wanted: spec.certificateId, changes: [] };
  if (mine === undefined) return { wanted: found, changes: [] };
  const asserted = mine.lastApplied['certificateId'];
  const isHttps = asserted === undefined && protocolOnRecord(mine, present) === 'https';
  if (isHttps && found > 0) return { wanted: found, changes: [] };
  const former = (mine.remoteAux['adopted'] as { readonly certificateId?: number } | undefined)?.certificateId ?? 0;
  const wanted = isHttps ? former : 0;
  return { wanted, changes: changeOf('certificateId', found, wanted, asserted ?? wanted) };
}

function changeOf(
  field: string,
  before: Json | undefined,
  after: Json | undefined,
  recorded: Json | undefined,
): RawChange[] {
  if (before === after || before === undefined || after === undefined) return [];
  return [{ field, path: field, before, after, ...(recorded === undefined ? {} : { recorded }) }];
}

/** Adds the recorded value 0 to the change of a certificate that the manifest named only now. */
export function withRecorded(change: RawChange, mine: OwnedObject | undefined): RawChange {
  const isNew =
    change.field === 'certificateId' && mine !== undefined && mine.lastApplied['certificateId'] === undefined;
  return isNew && addressOf(mine.naturalKey)?.protocol === 'http' ? { ...change, recorded: 0 } : change;
}

/** Returns the name of a component in the manifests; its id if no manifest refers to it. */
function componentName({ siblings, ledgerView }: RuleContext, serviceId: string | undefined): string | undefined {
  for (const sibling of siblings.values()) {
    if (sibling.kind !== 'Component') continue;
    const identity = identifyComponent(sibling as Resource<ComponentSpec>, ledgerView);
    if (identity.type === 'known' && identity.serviceId === serviceId) return sibling.name;
  }
  return serviceId;
}

/** Returns the condition that no other rule has the key: two rules with one key would block each other. */
export function keyNeed(
  { ledgerView }: RuleContext,
  rules: readonly RuleRecord[],
  key: string,
  what: { readonly rule: string; readonly mine: OwnedObject | undefined; readonly ruleId: string | undefined },
): Need {
  const { rule: name, mine, ruleId } = what;
  const holder = rules.find((rule) => ruleKey(rule) === key && rule.ruleId !== ruleId);
  const row = ruleRows(ledgerView).find((one) => one !== mine && one.naturalKey === key && one.origin !== 'observed');
  const owner = (holder === undefined ? undefined : ownerOf(holder, ledgerView)) ?? row;
  const who = owner === undefined ? 'not on record in this ledger' : `on record as ${owner.resource}`;
  return {
    condition: keyFree(key),
    met: holder === undefined && row === undefined,
    mutual: true,
    otherwise: {
      code: 'rule/key-taken',
      message: `rule ${name} cannot be given its domain and path: ${holder === undefined ? `the ledger has them for ${owner?.resource ?? 'another rule'}` : `rule ${holder.ruleId}, ${who}, has them now`}, and two such rules of one port would block each other`,
      remedy:
        holder === undefined
          ? 'The change follows after that rule was removed or changed.'
          : `Change rule ${holder.ruleId} in the console, or change the domain or path in one of the manifests.`,
    },
  };
}
