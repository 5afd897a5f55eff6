import type { Json } from '../../model/json.ts';
import type { RuleRecord } from './wire.ts';
import type { OwnedObject } from '../../model/owned.ts';
import type { Note } from '../../model/plan.ts';
import {
  type Difference,
  type HoldProposal,
  noDifference,
  plainStep,
  type RawChange,
  type Recording,
  type StepProposal,
} from '../reconciled.ts';
import { keyNeed, type WantedAddress, wantedAddress, withRecorded } from './address.ts';
import {
  asserted,
  assertedChanges,
  assumedMark,
  assertedFields,
  sentMarks,
  plain,
  readableFields,
  recordingOf,
  where,
} from './asserted.ts';
import { isMasked, presentValue, ruleFields, updatedFields, wishWith } from './fields.ts';
import { keyFree } from './identity.ts';
import type { ObservedContext, RuleContext } from './live.ts';
import { stillOwed } from './owed.ts';
import { portNeeds } from './activity.ts';
import { isImmutable, type Recreation, recreateRule } from './recreate.ts';
import type { HttpGatewayRuleSpec } from './spec.ts';
import { ruleKey, type RuleStep, type RuleWish } from './steps.ts';

/** Returns the steps for an existing rule that Portolan may change. */
export function updateRule(
  context: ObservedContext,
  present: RuleRecord,
  mine: OwnedObject | undefined,
  ours: boolean,
): Difference<RuleStep> {
  const { spec } = context.resource;
  const row = ours ? mine : undefined;
  const changed = assertedChanges(spec, (field) => presentValue(field, present, mine));
  const sortedChanges = sorted(changed, present);
  const { updatable, immutable, unseen } = sortedChanges;
  const held = [...immutable, ...unseen];
  const target = wantedAddress(context, present, row);
  const changes = [...target.changes, ...updatable.map((change) => withRecorded(change, row))];
  const base = { ...noDifference, claims: [target.key], unchangedFields: asserted(spec).length - changed.length };
  const isMoved = ruleKey(present) !== ruleKey(target.address);
  // The rule gets its new address first: a creation at that address would add a second rule.
  const isFirst = changes.length > 0 && (isMoved || target.changes.length > 0);
  const recreation = row && recreationOf(context, present, row, { ...sortedChanges, target, isFirst });
  const later = recreation !== undefined && 'steps' in recreation ? recreation.steps : [];
  if (later.length > 0 && !isFirst) return { ...base, steps: later };
  const refused =
    recreation !== undefined && 'hold' in recreation ? [recreation.hold] : immutableHold(context, mine, immutable);
  const holds = [...(later.length > 0 ? [] : refused), ...unseenHold(context, unseen)];
  if (changes.length === 0) return { ...base, holds, ...standing(context, present, mine, row, target.key, held) };
  const refusal = cannotUpdate(context, present, changes);
  if (refusal !== undefined) return { ...base, holds: [refusal, ...holds] };
  const update: StepProposal<RuleStep> = {
    ...plainStep,
    ...(isMoved ? moving(context, present, mine, target) : {}),
    key: 'update',
    step: {
      type: 'update',
      ruleId: present.ruleId,
      rule: { ...mergedRule(spec, present, held), ...addressIn(target) },
      asserted: assertedFields(spec, held),
      ...sentMarks(context.resource),
    },
    verb: 'update',
    object: row?.naturalKey ?? target.key,
    summary: `update rule ${where(target.address)}: ${changes.map((change) => change.path).join(', ')}`,
    changes,
    ...(ours ? {} : { cause: 'adopt' as const }),
  };
  return { ...base, holds, steps: [update, ...later] };
}

/** Returns the recreation of the rule, if its manifest allows it and a change needs it. */
function recreationOf(
  context: ObservedContext,
  present: RuleRecord,
  row: OwnedObject,
  wish: SortedChanges & { readonly target: WantedAddress; readonly isFirst: boolean },
): Recreation | undefined {
  const { spec } = context.resource;
  const { updatable, immutable, target, isFirst } = wish;
  if (immutable.length === 0 || spec.onImmutableChange !== 'recreate') return undefined;
  const object = row.naturalKey;
  const changes = isFirst ? immutable.map((change) => ({ object, ...change })) : [...updatable, ...immutable];
  return recreateRule(context, context.live.recreation ?? NOT_READ, present, row, changes, {
    object: isFirst ? target.key : object,
    address: addressIn(target),
    needs: portNeeds(context, false),
    after: isFirst ? ['update'] : [],
  });
}

/** Returns the row and notes of a rule that needs no update. */
function standing(
  context: ObservedContext,
  present: RuleRecord,
  mine: OwnedObject | undefined,
  row: OwnedObject | undefined,
  key: string,
  held: readonly RawChange[],
): Pick<Difference, 'waits' | 'notes' | 'inSync'> {
  const { ledgerView, nowMs } = context;
  const { obligation, waits } = stillOwed(mine, present.ruleId, nowMs);
  const recording = recordingOf(context, context.live.serviceId, key, present.ruleId, mine, held);
  const adopted = row === undefined ? readableFields(present) : row.remoteAux['adopted'];
  const inSync: Recording = {
    ...recording,
    ...(row === undefined || row.naturalKey === key ? {} : { replaces: row.naturalKey }),
    origin: row === undefined ? 'adopted' : row.origin,
    remoteAux: { ...recording.remoteAux, ...formerValues(adopted) },
    obligation,
  };
  const isAdopted = row === undefined && ledgerView.known;
  const notes = isAdopted ? [adoption(context, present)] : assumption(context, mine);
  return { waits, notes, inSync: ledgerView.known ? [inSync] : [] };
}

function adoption({ resource: { spec } }: RuleContext, { ruleId }: RuleRecord): Omit<Note, 'resource'> {
  return { code: 'rule/adopted', message: `rule ${where(spec)} (${ruleId}) is adopted unchanged` };
}

/** Returns a note on fields whose values Portolan only assumes. */
function assumption({ resource: { spec } }: RuleContext, mine: OwnedObject | undefined): Omit<Note, 'resource'>[] {
  const assumed = assumedMark(mine)['assumed'] as readonly string[] | undefined;
  const named = assumed?.filter((name) => spec[name as keyof HttpGatewayRuleSpec] !== undefined) ?? [];
  if (named.length === 0) return [];
  return [
    {
      code: 'rule/assumed',
      message: `the answer to the creation of rule ${where(spec)} was lost, and no answer of the platform shows its ${named.join(' and ')}: Portolan assumes that the platform has it as sent`,
    },
  ];
}

function formerValues(adopted: Json | undefined): { readonly adopted?: Json } {
  return adopted === undefined ? {} : { adopted: plain(adopted) };
}

/** Facts that were not read: the rule is not recreated then. */
const NOT_READ = { everyRule: { readable: false }, canDelete: true } as const;

/** Returns the address as fields of a record. */
function addressIn({ address, certificateId }: WantedAddress): RuleWish {
  const { serviceId, port, domain, path } = address;
  return { serviceId, port, domain, path, certificateId };
}

/**
 * Returns the conditions of a move: the new address must be free and the new port open, because an update does not open it. The
 * move frees the former address, on the platform and in the ledger.
 */
function moving(
  context: ObservedContext,
  present: RuleRecord,
  mine: OwnedObject | undefined,
  { address }: WantedAddress,
): Pick<StepProposal, 'needs' | 'provides'> {
  const {
    resource: { spec },
    live,
  } = context;
  const rules = live.rules.readable ? live.rules.value : [];
  const what = { rule: where(spec), mine, ruleId: present.ruleId };
  const isSamePort = present.serviceId === address.serviceId && present.port === address.port;
  const former = [ruleKey(present), ...(mine === undefined ? [] : [mine.naturalKey])];
  return {
    needs: [keyNeed(context, rules, ruleKey(address), what), ...(isSamePort ? [] : portNeeds(context, false))],
    provides: [...new Set(former)].map(keyFree),
  };
}

interface SortedChanges {
  /** Changes that an update makes and that an answer then shows. */
  readonly updatable: readonly RawChange[];
  /** Changes that need recreation. */
  readonly immutable: readonly RawChange[];
  /** Changes that an update would make and that no available answer shows. */
  readonly unseen: readonly RawChange[];
}

function sorted(changed: readonly RawChange[], present: RuleRecord): SortedChanges {
  const kinds = Object.groupBy(changed, (change) => {
    if (isImmutable(change)) return 'immutable';
    const field = ruleFields.find(({ name }) => name === change.field);
    return field?.read?.(present) === undefined ? 'unseen' : 'updatable';
  });
  return { updatable: kinds.updatable ?? [], immutable: kinds.immutable ?? [], unseen: kinds.unseen ?? [] };
}

function immutableHold(
  { resource: { spec } }: RuleContext,
  mine: OwnedObject | undefined,
  changes: readonly RawChange[],
): readonly HoldProposal[] {
  if (changes.length === 0) return [];
  const paths = changes.map(({ path }) => path).join(' and ');
  const isUnknown = changes.some(({ field, before }) => field === 'configuration' && before === undefined);
  if (isUnknown && mine?.origin !== 'created') {
    return [
      {
        code: 'rule/configuration-unknown',
        message: `The platform shows the configuration of no rule, and Portolan did not create rule ${where(spec)}, so its present ${paths} cannot be compared. The other fields of the rule are managed.`,
        remedy: 'Remove spec.configuration from the manifest: the rule then keeps the configuration that it has.',
        changes,
      },
    ];
  }
  return [
    {
      code: 'rule/immutable',
      message: `The platform applies a change of ${paths} only when it creates a rule, so rule ${where(spec)} keeps its present value. The other fields of the rule are managed.`,
      remedy:
        'Revert the change, or write spec.onImmutableChange: recreate in the manifest. Portolan then deletes the rule and creates it again, and requests to it fail in between.',
      changes,
    },
  ];
}

function unseenHold({ resource: { spec } }: RuleContext, changes: readonly RawChange[]): readonly HoldProposal[] {
  if (changes.length === 0) return [];
  const paths = changes.map(({ path }) => path).join(' and ');
  return [
    {
      code: 'rule/unseen-value',
      message: `The present ${paths} of rule ${where(spec)} cannot be read: the listing of all rules is not readable, lacks the rule, or shows a masked value. Without it, an update could not be verified.`,
      remedy: `Use a token that may read GET /openapi/v1/httpdomains, or remove ${changes.map(({ path }) => `spec.${path}`).join(' and ')} from the manifest.`,
      changes,
    },
  ];
}

/** Returns why no update may be sent; undefined if one may. */
function cannotUpdate(
  context: ObservedContext,
  present: RuleRecord,
  changed: readonly RawChange[],
): HoldProposal | undefined {
  const { spec } = context.resource;
  const base = { changes: changed };
  if (!context.live.canUpdate) {
    return {
      ...base,
      code: 'rule/cannot-update',
      message: `rule ${where(spec)} should change, but this server cannot change rules`,
      remedy: 'Change it in the console, or revert the change.',
    };
  }
  // Extensions that are not managed are not in the request, and the platform keeps them.
  const masked = updatedFields.filter(
    (field) => field.readBack === 'own listing' && field.want(spec) === undefined && isMasked(field.read?.(present)),
  );
  if (masked.length > 0) {
    return {
      ...base,
      code: 'rule/secret-value',
      message: `rule ${where(spec)} holds one of Portolan's own secrets in ${masked.map((field) => field.name).join(' and ')}, which is therefore not shown, and an update would write over it`,
      remedy: `Remove the secret from the rule in the console, and replace it: everyone who can read the rule can read it. Or write ${masked.map((field) => `spec.${field.name}`).join(' and ')} in the manifest.`,
    };
  }
  return undefined;
}

/** Returns the whole record for an update: fields that are not managed keep the value that the platform shows. */
function mergedRule(spec: HttpGatewayRuleSpec, present: RuleRecord, held: readonly RawChange[]): RuleWish {
  const isHeld = (name: string): boolean => held.some(({ field }) => field === name);
  return wishWith(
    present,
    updatedFields,
    (field) => (isHeld(field.name) ? undefined : field.want(spec)) ?? field.read?.(present),
  );
}
