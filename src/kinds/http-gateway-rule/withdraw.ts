import { type JsonObject, sameJson } from '../../model/json.ts';
import type { RuleRecord } from './wire.ts';
import type { OwnedObject } from '../../model/owned.ts';
import {
  type Difference,
  holding,
  noDifference,
  noting,
  plainStep,
  type RawChange,
  ledgerRecordOf,
  type StepProposal,
  type WithdrawContext,
} from '../reconciled.ts';
import { rulesOf } from '../component/port-rules.ts';
import { componentKey, portKey, ruleGone } from '../component/steps.ts';
import { changeOf, isOnRecord, nameOfKey, where } from './asserted.ts';
import { needsRecreation, ruleFields, updatedFields, wishWith } from './fields.ts';
import { hasKeyOf } from './identity.ts';
import { fulfilOwed } from './owed.ts';
import { addressOf, type RuleStep } from './steps.ts';
import type { Resource } from '../../model/resource.ts';
import type { ComponentSpec } from '../component/spec.ts';
import type { HttpGatewayRuleSpec } from './spec.ts';

/**
 * Returns the difference for a rule removed from git. A rule that Portolan created is deleted by the rules of pruning. An adopted
 * rule stays, or gets its former values back, as its manifest said. Other rules stay.
 */
export function withdrawRule(object: OwnedObject, context: WithdrawContext): Difference<RuleStep> {
  const owed = fulfilOwed(object, context);
  if (owed !== undefined) return owed;
  const { rules, canDeleteRules, permissions } = context;
  const name = nameOfKey(object.naturalKey);
  const gone = `rule ${name} was removed from the source`;
  if (object.origin === 'observed') return note('rule/withdrawn', `${gone}; it was never managed and stays`, object);
  if (object.origin === 'adopted' && object.remoteAux['onRemoval'] !== 'restore') {
    return note('rule/left', `${gone}; it was adopted, not created by Portolan, and stays unchanged`, object);
  }
  if (object.remoteAux['prune'] === 'keep')
    return note('prune/kept', `${gone}; it stays, because its manifest said portolan/prune: keep`);
  if (!rules.readable || !canDeleteRules) {
    return note(
      'prune/impossible',
      `${gone}; this server cannot change or delete rules, so it stays until that is done in the console (then: portolan ledger forget ${object.resource} --reason "…")`,
    );
  }
  const [present, second] = rules.value.filter((rule) =>
    object.remoteId === null ? hasKeyOf(rule, object) : rule.ruleId === object.remoteId,
  );
  if (present === undefined && object.remoteId !== null && context.unproven.has(object.remoteId)) {
    return note(
      'rule/elsewhere',
      `${gone}, and this application does not show it, because its component is not in this application: the rule stays, and stays on record (to let go of it: portolan ledger forget ${object.uid} --reason "…")`,
    );
  }
  if (present === undefined) {
    const close = closing(object, undefined, undefined, context);
    if (close !== undefined) return permissions.prune ? { ...noDifference, steps: [close] } : notClosed(gone);
  }
  if (present === undefined && object.state === 'deleting') return { ...noDifference, forget: [object.naturalKey] };
  if (present === undefined) return note('rule/gone', `${gone}, nor on the platform`, object);
  if (second !== undefined)
    return note(
      'rule/left',
      `${gone}; several rules have its key, and its id was never known: all of them stay`,
      object,
    );
  if (!isOnRecord(object, present)) {
    const why = 'its id was never known, and it is not as it was last applied, so it may not be ours';
    return note('rule/left', `${gone}; there is a rule with its key, but ${why}, and stays`, object);
  }
  if (!hasKeyOf(present, object)) return changedSince(object, present, gone, permissions.prune);
  const step = object.origin === 'adopted' ? restoration(object, present, name) : deletion(object, present, name);
  if (step === undefined)
    return note('rule/left', `${gone}; it has the values again that it had when it was adopted`, object);
  if (!permissions.prune)
    return note(
      'prune/not-asked',
      `${gone}; it stays, and apply --prune would ${step.verb === 'delete' ? 'delete it' : 'give it back its former values'}`,
    );
  const close = step.verb === 'delete' ? closing(object, present, step.key, context) : undefined;
  return { ...noDifference, steps: close === undefined ? [step] : [step, close] };
}

function notClosed(gone: string): Difference<RuleStep> {
  return note('prune/not-asked', `${gone}; outer access of its port stays open, and apply --prune would close it`);
}

/** Holds a rule whose address was changed on the platform: it may serve other traffic now, so it is not deleted. */
function changedSince(
  { naturalKey, resource, uid }: OwnedObject,
  present: RuleRecord,
  gone: string,
  prune: boolean,
): Difference<RuleStep> {
  const { ruleId, port, serviceId } = present;
  const recorded = addressOf(naturalKey);
  const isElsewhere = recorded?.serviceId !== serviceId || recorded.port !== port;
  const at = isElsewhere ? ` on port ${port} of component ${serviceId}` : '';
  const message = `${gone}, and rule ${ruleId}, which is on record for it, is now ${where(present)}${at}: that is not what was last applied, so it stays`;
  if (!prune) return note('rule/changed', `${message}; apply --prune would not delete it either`);
  return holding({
    code: 'rule/changed',
    message,
    remedy: `If nothing needs the rule any more, delete rule ${ruleId} in the console, or change it back there and run apply --prune again. To keep it, run \`portolan ledger forget ${uid} --reason "…"\`; to manage it, put ${resource} back.`,
  });
}

function deletion(object: OwnedObject, present: RuleRecord, name: string): StepProposal<RuleStep> {
  return {
    ...pruning(object),
    provides: [ruleGone(present.ruleId)],
    key: `delete/${object.naturalKey}`,
    step: { type: 'delete', ruleId: present.ruleId, key: object.naturalKey },
    verb: 'delete',
    summary: `delete rule ${name}`,
    changes: ruleFields
      .filter((field) => field.read !== undefined && field.read(present) !== undefined)
      .map((field) => changeOf(field, field.read?.(present), undefined)),
  };
}

/** Returns the step that restores former values; undefined: the rule has all values that an update can restore. */
function restoration(object: OwnedObject, present: RuleRecord, name: string): StepProposal<RuleStep> | undefined {
  const former = (object.remoteAux['adopted'] ?? {}) as JsonObject;
  const changes = ruleFields.flatMap((field): RawChange[] => {
    const before = field.read?.(present);
    const after = former[field.name];
    const isLeft = after === undefined || field.readBack !== 'own listing' || needsRecreation(field, before, after);
    return isLeft || sameJson(before, after) ? [] : [changeOf(field, before, after)];
  });
  if (changes.length === 0) return undefined;
  const fields = updatedFields.filter(({ readBack }) => readBack === 'own listing');
  const rule = wishWith(present, fields, (field) => former[field.name] ?? field.read?.(present));
  return {
    ...pruning(object),
    key: `restore/${object.naturalKey}`,
    step: { type: 'restore', ruleId: present.ruleId, rule },
    verb: 'update',
    summary: `give rule ${name} back the values it had when it was adopted`,
    changes,
  };
}

function pruning(object: OwnedObject) {
  return { ...plainStep, object: object.naturalKey, prune: true } as const;
}

/** @param released the object that is removed from the ledger. */
function note(code: string, message: string, released?: OwnedObject): Difference<RuleStep> {
  return { ...noting(code, message), forget: released === undefined ? [] : [released.naturalKey] };
}

/**
 * Returns the step that closes a port which the creation of a rule opened, after that rule is gone. undefined: the port is closed,
 * or a manifest or another rule, active or inactive, still needs it.
 */
export function closing(
  object: OwnedObject,
  present: RuleRecord | undefined,
  deletion: string | undefined,
  context: WithdrawContext,
): StepProposal<RuleStep> | undefined {
  const opened = object.remoteAux['opened'];
  if (typeof opened !== 'string' || !context.rules.readable) return undefined;
  const [serviceId = '', number] = opened.split('/');
  const port = Number(number);
  const live = context.ports.get(serviceId)?.find((candidate) => candidate.port === port);
  if (live?.outer !== true || isWanted(serviceId, port, context) || goesWithPort(serviceId, port, context))
    return undefined;
  const others = rulesOf(context.rules, serviceId, port).filter(({ ruleId }) => ruleId !== present?.ruleId);
  if (!others.every((rule) => isDeparting(rule, object.source, context))) return undefined;
  return {
    ...plainStep,
    key: `close/${object.naturalKey}`,
    step: { type: 'close_outer', serviceId, port },
    verb: 'update',
    object: object.naturalKey,
    summary: `close outer access of port ${port}, which the rule opened`,
    changes: [{ field: 'outer', path: `ports[${port}].outer`, before: true, after: false }],
    after: deletion === undefined ? [] : [deletion],
    needs: others.map(({ ruleId, domain, path }) => ({
      condition: ruleGone(ruleId),
      met: false,
      otherwise: {
        code: 'prune/rule-on-port',
        message: `outer access of port ${port} stays open: rule ${domain}${path} (${ruleId}) is on it and is not deleted by this plan`,
        remedy: 'Resolve the hold of that rule. Outer access is closed after it.',
      },
    })),
    prune: true,
  };
}

function componentsNamed(
  serviceId: string,
  { resources, ledgerView }: WithdrawContext,
): readonly Resource<ComponentSpec>[] {
  const fixed = ledgerRecordOf(ledgerView, 'Component', componentKey(serviceId))?.resource;
  return [...resources.values()].flatMap((resource) => {
    if (resource.kind !== 'Component') return [];
    const component = resource as Resource<ComponentSpec>;
    const named = component.spec.serviceId;
    return named === serviceId || (named === undefined && component.id === fixed) ? [component] : [];
  });
}

function isWanted(serviceId: string, port: number, context: WithdrawContext): boolean {
  const components = componentsNamed(serviceId, context);
  const isListedOpen = components.some(({ spec }) =>
    spec.ports.some((entry) => entry.port === port && entry.outer === true),
  );
  const names = new Set(components.map(({ name }) => name));
  return (
    isListedOpen ||
    [...context.resources.values()].some(({ kind, spec }) => {
      const rule = spec as HttpGatewayRuleSpec;
      return kind === 'HttpGatewayRule' && rule.port === port && names.has(rule.component);
    })
  );
}

/** Returns whether the component's plan deletes the port, because Portolan created it and no manifest lists it any more. */
function goesWithPort(serviceId: string, port: number, context: WithdrawContext): boolean {
  const row = ledgerRecordOf(context.ledgerView, 'Component', portKey(serviceId, port));
  const isListed = componentsNamed(serviceId, context).some(({ spec }) =>
    spec.ports.some((entry) => entry.port === port),
  );
  return row?.origin === 'created' && row.remoteAux['listed'] !== undefined && !isListed;
}

/** Returns whether a managed rule is deleted too, because its manifest was removed. */
function isDeparting({ ruleId }: RuleRecord, source: string, { ledgerView, resources }: WithdrawContext): boolean {
  const row = ledgerView.objects.find((object) => object.kind === 'HttpGatewayRule' && object.remoteId === ruleId);
  return (
    row !== undefined &&
    row.source === source &&
    row.origin === 'created' &&
    row.remoteAux['prune'] !== 'keep' &&
    !resources.has(row.resource)
  );
}
