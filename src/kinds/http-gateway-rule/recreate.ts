import { hasRewrites, type PlacedRule, type RuleRecord } from './wire.ts';
import type { OwnedObject } from '../../model/owned.ts';
import type { Resource } from '../../model/resource.ts';
import {
  type HoldProposal,
  type LedgerView,
  type Need,
  plainStep,
  type RawChange,
  type StepProposal,
} from '../reconciled.ts';
import { assertedChanges, assertedFields, where } from './asserted.ts';
import { isMasked, needsRecreation, presentValue, ruleFields, wishWith } from './fields.ts';
import type { RecreationFacts, RuleContext } from './live.ts';
import { CREATE_AGAIN, obligationOf, type OwedRule } from './owed.ts';
import { isCompleteConfiguration, type HttpGatewayRuleSpec } from './spec.ts';
import { protocolOf, type RuleStep, type RuleWish } from './steps.ts';

/** The two steps that recreate a rule, or the hold that prevents them. */
export type Recreation = { readonly steps: readonly StepProposal<RuleStep>[] } | { readonly hold: HoldProposal };

/** The place of a recreation among the other steps of its rule. */
export interface RecreationOrder {
  /** Natural key of the row. */
  readonly object: string;
  /** The address of the rule after the steps before. */
  readonly address: RuleWish;
  /** Conditions of the creation. */
  readonly needs: readonly Need[];
  /** Steps that come first. */
  readonly after: readonly string[];
}

/**
 * Proposes to delete a rule and to create it again, which is the only way to change fields that a server applies on creation.
 * It does so only if the creation should be accepted, and if no part of the rule is lost.
 */
export function recreateRule(
  context: RuleContext,
  facts: RecreationFacts,
  present: RuleRecord,
  mine: OwnedObject,
  changes: readonly RawChange[],
  order: RecreationOrder,
): Recreation {
  const { spec } = context.resource;
  const rule = { ...recreatedRule(spec, present, mine), ...order.address };
  const why = lossOf(context, facts, present, mine) ?? blockerOf(facts, rule, present);
  if (why !== undefined) return { hold: { ...why, changes } };
  const asserted = assertedFields(spec);
  const owed: OwedRule = { rule, former: present.ruleId, asserted };
  const paths = changes.map(({ path }) => path).join(', ');
  const shared = { ...plainStep, object: order.object, needs: order.needs } as const;
  return {
    steps: [
      {
        ...shared,
        key: 'recreate',
        step: { type: 'recreate', ruleId: present.ruleId, rule },
        verb: 'update',
        summary: `recreate rule ${where(spec)}: ${paths}`,
        changes,
        effects: [`deletes the rule and creates it again: requests to ${where(spec)} fail in between`],
        after: order.after,
        obligation: obligationOf(owed),
      },
      {
        ...shared,
        key: CREATE_AGAIN,
        step: { type: 'create', rule, open: false, again: { former: owed.former, asserted } },
        verb: 'create',
        summary: `create rule ${where(spec)} again`,
        after: ['recreate'],
        continues: 'recreate',
      },
    ],
  };
}

/** Returns whether a recorded rule needs recreation to match its manifest. Only then are the facts for that read. */
export function mayBeRecreated(
  resource: Resource<HttpGatewayRuleSpec>,
  ledgerView: LedgerView,
  rules: readonly RuleRecord[],
): boolean {
  if (resource.spec.onImmutableChange !== 'recreate') return false;
  return ledgerView.objects.some((row) => {
    const present = rules.find(({ ruleId }) => ruleId === row.remoteId);
    if (row.resource !== resource.id || present === undefined) return false;
    return assertedChanges(resource.spec, (field) => presentValue(field, present, row)).some(isImmutable);
  });
}

/** Returns whether a change needs recreation. */
export function isImmutable({ field: name, before, after }: RawChange): boolean {
  const field = ruleFields.find((candidate) => candidate.name === name);
  return field !== undefined && needsRecreation(field, before, after);
}

/** Returns the whole record: desired values of the manifest, and else the observed or last applied values. */
function recreatedRule(spec: HttpGatewayRuleSpec, present: RuleRecord, mine: OwnedObject): RuleWish {
  return wishWith(
    present,
    ruleFields,
    (field) =>
      field.want(spec) ??
      field.read?.(present) ??
      (field.readBack === 'never' ? mine.lastApplied[field.name] : undefined),
  );
}

type Why = Omit<HoldProposal, 'changes'>;

/** Returns why a recreation would lose a part of the rule; undefined: it would not. */
function lossOf(
  { resource: { spec }, ledgerView }: RuleContext,
  facts: RecreationFacts,
  present: RuleRecord,
  mine: OwnedObject,
): Why | undefined {
  const rule = `rule ${where(spec)}`;
  if (!ledgerView.known || !facts.canDelete) {
    return {
      code: 'rule/cannot-recreate',
      message: `Portolan cannot recreate ${rule}: ${ledgerView.known ? 'this server cannot delete rules' : 'without a ledger, a rule that is deleted could be lost'}.`,
      remedy: ledgerView.known ? 'Revert the change.' : 'Use a ledger, or revert the change.',
    };
  }
  if (mine.origin !== 'created' && !isCompleteConfiguration(spec.configuration)) {
    return {
      code: 'rule/configuration-unknown',
      message: `Portolan does not recreate ${rule}, because it did not create the rule and no server shows the configuration, which would be lost.`,
      remedy:
        'Write all eight fields of spec.configuration in the manifest, so that the whole rule is known, or revert the change.',
    };
  }
  const masked = ruleFields.filter((field) => field.want(spec) === undefined && isMasked(field.read?.(present)));
  if (masked.length > 0) {
    const names = masked.map(({ path }) => `spec.${path}`).join(' and ');
    return {
      code: 'rule/secret-value',
      message: `Portolan does not recreate ${rule}, because it holds one of Portolan's own secrets, which is masked, in ${names}.`,
      remedy: `Replace the secret in the console, or write ${names} in the manifest.`,
    };
  }
  if (present.pathRewrite === true || hasRewrites(present)) {
    return {
      code: 'rule/cannot-recreate',
      message: `Portolan does not recreate ${rule}, because it has rewrites, which a creation through this API cannot carry.`,
      remedy: 'Remove the rewrites in the console, or revert the change.',
    };
  }
  if (spec.extensions === undefined && present.extensions === undefined) return unchecked(rule);
  return undefined;
}

function unchecked(rule: string): Why {
  return {
    code: 'rule/recreate-unchecked',
    message: `Portolan does not recreate ${rule}, because the listing of all rules is not readable or lacks the rule: whether the platform would accept the rule again is not known.`,
    remedy: 'Use a token that may read GET /openapi/v1/httpdomains, or revert the change.',
  };
}

/** Returns why the platform would refuse to create the rule again. */
function blockerOf({ everyRule }: RecreationFacts, rule: RuleWish, present: RuleRecord): Why | undefined {
  const name = `rule ${where(rule)}`;
  if (!everyRule.readable) return unchecked(name);
  const own = everyRule.value.find((other) => other.rule.ruleId === present.ruleId);
  if (own === undefined) return unchecked(name);
  const others = everyRule.value.filter((other) => other !== own && sameText(other.rule.domain, rule.domain));
  const beside = others.filter((other) => sameText(other.rule.path, rule.path));
  const blocker =
    beside.find((other) => other.rule.extensions === undefined || redirects(other.rule.extensions)) ??
    (redirects(rule['extensions']) ? beside.find((other) => other.rule.protocol === 'http') : undefined) ??
    beside.find((other) => hasSameKey(other.rule, rule)) ??
    others.find((other) => other.team !== own.team);
  if (blocker === undefined) return undefined;
  return {
    code: 'rule/recreate-blocked',
    message: `Portolan does not recreate ${name}, because the platform would refuse it while rule ${blocker.rule.ruleId} (${placeOf(blocker)}) exists.`,
    remedy: `Change or move rule ${blocker.rule.ruleId}, or revert the change.`,
  };
}

function placeOf({ team, region, appId, rule: { domain, path } }: PlacedRule): string {
  return `${domain}${path} of ${team}/${region}/${appId}`;
}

/** Returns whether extensions redirect to https. The server searches their text for this word. */
function redirects(extensions: unknown): boolean {
  return JSON.stringify(extensions ?? []).includes('httptohttps');
}

function hasSameKey(other: RuleRecord, rule: RuleWish): boolean {
  return (
    other.serviceId === rule.serviceId &&
    other.port === rule.port &&
    other.protocol === protocolOf({ certificateId: rule['certificateId'] })
  );
}

/** Compares texts without regard to case, as the server's database does. */
function sameText(left: string, right: string): boolean {
  return left.toLowerCase() === right.toLowerCase();
}
