import { resourceId } from '../../model/ids.ts';
import type { RuleRecord } from './wire.ts';
import { type OwnedObject, refusalOf } from '../../model/owned.ts';
import type { Resource } from '../../model/resource.ts';
import { openingRule, ruleEffect, rulesOf } from '../component/port-rules.ts';
import type { ComponentSpec } from '../component/spec.ts';
import { portKey, portOuter, rulesEnabled } from '../component/steps.ts';
import {
  type Difference,
  type HoldProposal,
  holding,
  noDifference,
  noting,
  ofOtherSource,
  plainStep,
  type Recording,
  ledgerRecordOf,
  type RawChange,
  type StepProposal,
} from '../reconciled.ts';
import { activityOf, portNeeds, portSpecOf } from './activity.ts';
import { keyNeed } from './address.ts';
import { asserted, assertedChanges, assertedFields, plain, recordingOf, sentMarks, where } from './asserted.ts';
import { chooseCertificate, notTaken } from './certificate.ts';
import { isSameRoute, ownerOf, presentOf, recordOf } from './identity.ts';
import type { ObservedContext, RuleContext } from './live.ts';
import { CREATE_AGAIN, owedBy } from './owed.ts';
import { ruleKey, type RuleStep, type RuleWish } from './steps.ts';
import { updateRule } from './update.ts';
import { weightWarnings } from './weights.ts';

export function diffRule(context: RuleContext): Difference<RuleStep> {
  const { live, resource } = context;
  if (live.type === 'deferred') {
    return {
      ...noDifference,
      deferred: [
        {
          waitsFor: live.deferred.waitsFor,
          desired: plain(resource.spec),
          summary: `after ${live.deferred.waitsFor}, create the rule ${resource.spec.domain}${resource.spec.path}`,
        },
      ],
    };
  }
  if (live.type === 'held') return holding(live.hold);
  const key = ruleKey({ ...resource.spec, serviceId: live.serviceId });
  const mine = recordOf(context, key);
  if (mine !== undefined && mine.source !== context.source)
    return { ...noDifference, claims: [key], holds: [otherSource(context, mine)] };
  const choice = chooseCertificate(resource.spec, resource.id, live.certificates);
  const both = [...new Set([key, mine?.naturalKey ?? key])];
  if (choice.type === 'held') return { ...noDifference, claims: both, holds: [choice.hold] };
  const chosen = withCertificate({ ...context, live }, choice.id);
  const compared = live.rules.readable
    ? diffReadable(chosen, live.rules.value, key, mine)
    : diffUnreadable(chosen, key, mine);
  const outcome = withoutStoredNone(chosen, compared, mine);
  const claims = outcome.claims.length > 0 ? outcome.claims : [key];
  return { ...outcome, claims, notes: [...choice.notes, ...outcome.notes, ...weightNotes(context)] };
}

function weightNotes({ resource, siblings }: RuleContext): Difference['notes'] {
  const message = weightWarnings(siblings).get(resource.id);
  return message === undefined ? [] : [{ code: 'rule/weights', message }];
}

/** Returns the context with the number of the certificate instead of its alias, for comparing and sending. */
function withCertificate(context: ObservedContext, certificateId: number | undefined): ObservedContext {
  const { resource } = context;
  if (certificateId === undefined) return context;
  const { certificate: _alias, ...spec } = resource.spec;
  return { ...context, resource: { ...resource, spec: { ...spec, certificateId } } };
}

/** Holds a rule that asked for an unknown certificate and is https without one: an update would change nothing. */
function withoutStoredNone(
  { resource: { spec, id }, live }: ObservedContext,
  outcome: Difference<RuleStep>,
  mine: OwnedObject | undefined,
): Difference<RuleStep> {
  const { certificateId } = spec;
  if (certificateId === undefined || live.certificates.type === 'listed' || !live.rules.readable) return outcome;
  if (mine?.lastApplied['certificateId'] !== certificateId) return outcome;
  const present = live.rules.value.find(({ ruleId }) => ruleId === mine.remoteId);
  if (present?.protocol !== 'https' || (present.certificateId ?? 0) !== 0) return outcome;
  return { ...outcome, steps: [], holds: [...outcome.holds, notTaken(spec, id, certificateId)] };
}

function diffReadable(
  context: ObservedContext,
  rules: readonly RuleRecord[],
  key: string,
  mine: OwnedObject | undefined,
): Difference<RuleStep> {
  const { ledgerView, permissions, resource } = context;
  const recorded = mine === undefined || mine.origin === 'observed' ? undefined : presentOf(mine, rules, ledgerView);
  if (mine !== undefined && recorded !== undefined) {
    // Another recorded rule is moved to its own address.
    const isOther = (rule: RuleRecord): boolean => rule !== recorded && ownerOf(rule, ledgerView) === undefined;
    const equal = rules.filter((rule) => ruleKey(rule) === key && (rule === recorded || isOther(rule)));
    const isOne = equal.length < 2 || !equal.includes(recorded);
    const outcome = isOne
      ? watched(context, recorded, updateRule(context, recorded, mine, true))
      : holding(duplicateRule(context, equal));
    return { ...outcome, claims: [...new Set([key, mine.naturalKey, ...outcome.claims])] };
  }
  const matches = rules.filter((rule) => ruleKey(rule) === key);
  const owner = matches.map((rule) => ownerOf(rule, ledgerView)).find((row) => row !== undefined && row !== mine);
  if (owner !== undefined && owner.source !== context.source) return holding(otherSource(context, owner));
  const [present, second] = matches.filter((rule) => ownerOf(rule, ledgerView) === undefined);
  if (present === undefined) return claiming(createRule(context, mine), key, mine);
  if (second !== undefined) return holding(duplicateRule(context, matches));
  if (ledgerView.known && !permissions.adopt(resource.id)) return holding(notOurs(context, present, mine));
  const former = mine?.naturalKey === key ? mine : undefined;
  return watched(context, present, updateRule(context, present, former, false));
}

/** Adds the conditions under which the rule answers requests. */
function watched(context: ObservedContext, present: RuleRecord, outcome: Difference<RuleStep>): Difference<RuleStep> {
  const { expects, notes } = activityOf(context, present);
  return { ...outcome, expects: [...outcome.expects, ...expects], notes: [...outcome.notes, ...notes] };
}

/** Adds the key of an owed rule to the claims, because its manifest may ask for another key now. */
function claiming(difference: Difference<RuleStep>, key: string, mine: OwnedObject | undefined): Difference<RuleStep> {
  return owedBy(mine) === undefined || mine === undefined
    ? difference
    : { ...difference, claims: [...new Set([key, mine.naturalKey])] };
}

/** Compares a rule with the values that were last applied, on a server that does not list rules. */
function diffUnreadable(context: ObservedContext, key: string, row: OwnedObject | undefined): Difference<RuleStep> {
  // Without its id, a rule cannot be moved to another domain: the manifest then describes a new rule.
  const mine = row !== undefined && isSameRoute(row.naturalKey, key) ? row : undefined;
  const outcome = diffUnseen(context, mine);
  return { ...outcome, claims: mine === undefined ? [key] : [mine.naturalKey] };
}

function diffUnseen(context: ObservedContext, mine: OwnedObject | undefined): Difference<RuleStep> {
  const { resource, permissions } = context;
  if (mine === undefined) return createRule(context);
  const { naturalKey, remoteId, origin, state, remoteAux } = mine;
  const name = where(resource.spec);
  if (state === 'hold') return takenUnseen(context, mine);
  const changed = assertedChanges(resource.spec, (field) => mine.lastApplied[field.name]);
  const unchangedFields = asserted(resource.spec).length;
  if (state === 'unverified') {
    const message = `rule ${name} exists, but this server cannot show what it holds`;
    return { ...noting('rule/unverified', message), unchangedFields };
  }
  if (changed.length === 0) return { ...noDifference, unchangedFields };
  // Only --adopt with the name of the resource confirms that a person made this change.
  if (permissions.adoptNamed(resource.id)) {
    const message = `rule ${name} is recorded as its manifest says, because --adopt says that it was changed so; this server cannot show what it holds`;
    const recording = recordingOf(context, context.live.serviceId, naturalKey, remoteId, mine);
    const row = { ...recording, remoteAux: { ...remoteAux, ...recording.remoteAux }, origin, state };
    return { ...noting('rule/adopted', message), unchangedFields, inSync: [row] };
  }
  return holding({
    code: 'rule/cannot-update',
    message: `rule ${name} should change in ${changed.map((change) => change.path).join(', ')}, but this server cannot change rules`,
    remedy: `Change the rule in the console and record that with apply --adopt ${resource.id}, or revert the change.`,
    changes: changed,
  });
}

/** Decides about a rule that exists already, as the platform answered. */
function takenUnseen(context: ObservedContext, mine: OwnedObject): Difference<RuleStep> {
  const { id, spec } = context.resource;
  if (context.permissions.adopt(id)) {
    const message = `rule ${where(spec)} is adopted unseen: this server cannot show what it holds`;
    const recording = recordingOf(context, context.live.serviceId, mine.naturalKey, null, mine);
    const row: Recording = { ...recording, origin: 'adopted', state: 'unverified' };
    return { ...noting('rule/adopted', message), inSync: [row] };
  }
  const answer = refusalOf(mine)?.message;
  return holding({
    code: 'rule/exists-not-ours',
    message: `the platform says that a rule for ${where(spec)} exists already${answer === undefined ? '' : ` (${answer})`}, and this ledger has no record of it`,
    remedy: `Run apply --adopt ${id} to manage it (this server cannot show or change it), or remove it from the manifests.`,
  });
}

/** @param mine the row of a rule that is gone; a rule that it owes is recreated. */
function createRule(context: ObservedContext, mine?: OwnedObject): Difference<RuleStep> {
  const { spec } = context.resource;
  const { live } = context;
  const entry = portSpecOf(context);
  const protocol = entry?.protocol ?? live.port?.protocol;
  // Creating a rule opens a port without a TCP endpoint. If the component manages the port, the component opens it first.
  const isLeft = protocol !== 'http' && entry?.outer === true;
  const opens = (spec.openOuter === true && !isLeft) || opensPort(context);
  const owed = owedBy(mine);
  const rule: RuleWish = {
    ...owed?.rule,
    serviceId: live.serviceId,
    port: spec.port,
    domain: spec.domain,
    path: spec.path,
    ...assertedFields(spec),
  };
  const taken = { rule: where(spec), mine, ruleId: undefined };
  const step: StepProposal<RuleStep> = {
    ...plainStep,
    key: owed === undefined ? 'create' : CREATE_AGAIN,
    step: {
      type: 'create',
      rule,
      open: opens,
      ...sentMarks(context.resource),
      ...(owed === undefined ? {} : { again: { former: owed.former, asserted: assertedFields(spec) } }),
    },
    verb: 'create',
    object: owed === undefined || mine === undefined ? ruleKey(rule) : mine.naturalKey,
    summary: `create rule ${where(spec)} on port ${spec.port} of Component/${spec.component}${owed === undefined ? '' : ' again'}`,
    ...(owed === undefined ? {} : { cause: 'obligation' as const }),
    changes: [
      ...['domain', 'path', 'port'].map(
        (field): RawChange => ({ field, path: field, after: rule[field] ?? null, identifies: true }),
      ),
      ...assertedChanges(spec, () => undefined),
    ],
    effects: opens ? openingEffects(context, protocol) : [],
    needs: [
      ...(live.rules.readable ? [keyNeed(context, live.rules.value, ruleKey(rule), taken)] : []),
      ...portNeeds(context, opens),
    ],
    provides: opens ? [portOuter(live.serviceId, spec.port), rulesEnabled(live.serviceId, spec.port)] : [],
  };
  return { ...noDifference, steps: [step] };
}

/** Returns the effects of a creation that opens its port: it enables every rule on it, and creates nothing else. */
function openingEffects({ live, resource }: ObservedContext, protocol: string | undefined): readonly string[] {
  const { port } = resource.spec;
  const others = rulesOf(live.rules, live.serviceId, port).filter((rule) => !rule.outer);
  const missing = protocol === undefined || protocol === 'http' ? 'default rule' : 'TCP endpoint';
  const opening = live.port?.outer === true ? [] : [`opens outer access of port ${port}; no ${missing} appears`];
  return [...opening, ...ruleEffect(others, 'enables')];
}

/** Returns whether the creation of this rule opens its port; see `openingRule`. */
function opensPort(context: ObservedContext): boolean {
  const { live, resource } = context;
  const { spec, id } = resource;
  const component = context.siblings.get(resourceId('Component', spec.component)) as
    | Resource<ComponentSpec>
    | undefined;
  const port = component?.spec.ports.find((candidate) => candidate.port === spec.port);
  if (component === undefined || port === undefined) return false;
  return (
    openingRule({
      component: component.name,
      serviceId: live.serviceId,
      spec: port,
      live: live.port,
      rules: live.rules,
      siblings: context.siblings,
      owesOuter:
        ledgerRecordOf(context.ledgerView, 'Component', portKey(live.serviceId, spec.port))?.obligation?.['outer'] ===
        true,
      ledgerView: context.ledgerView,
    }) === id
  );
}

function notOurs({ resource }: RuleContext, present: RuleRecord, mine: OwnedObject | undefined): HoldProposal {
  const known =
    mine?.remoteId == null
      ? 'this ledger has no record of it'
      : `the rule on record, ${mine.remoteId}, does not exist any more`;
  return {
    code: 'rule/not-ours',
    message: `rule ${where(resource.spec)} exists on port ${present.port} (${present.ruleId}${present.type === 0 ? ", the platform's default" : ''}), and ${known}`,
    remedy: `Run apply --adopt ${resource.id} to take it over with its present values recorded, or remove it from the manifests.`,
  };
}

function duplicateRule({ resource }: RuleContext, matches: readonly RuleRecord[]): HoldProposal {
  return {
    code: 'rule/duplicate',
    message: `the platform has ${matches.length} rules with the same component, port, protocol, domain and path as ${where(resource.spec)} (${matches.map((rule) => rule.ruleId).join(', ')}), and answers requests to create one with an error`,
    remedy:
      'In the console, give all but one of them another domain or path, and run the command again: all of them keep serving. Then remove those that are not needed.',
  };
}

function otherSource({ resource, source }: RuleContext, owner: OwnedObject): HoldProposal {
  return ofOtherSource(`rule ${where(resource.spec)}`, owner, source);
}
