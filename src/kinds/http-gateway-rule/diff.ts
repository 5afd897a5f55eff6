import { resourceId } from '../../model/ids.ts';
import type { RuleRecord } from '../../model/observed.ts';
import { type OwnedObject, refusalOf } from '../../model/owned.ts';
import type { Resource } from '../../model/resource.ts';
import { openingRule } from '../component/opening-rule.ts';
import type { ComponentSpec } from '../component/spec.ts';
import { portKey, portOuter } from '../component/steps.ts';
import {
  type Difference,
  type HoldProposal,
  noDifference,
  onRecord,
  type RawChange,
  remembered,
  type StepProposal,
} from '../reconciled.ts';
import { asserted, assertedChanges, assertedFields, isOnRecord, plain, recordingOf, where } from './asserted.ts';
import { chooseCertificate, notTaken } from './certificate.ts';
import type { ObservedRule, RuleContext } from './live.ts';
import { CREATE_AGAIN, owedBy } from './owed.ts';
import { portNeeds } from './port-needs.ts';
import { ruleKey, type RuleStep, type RuleWish } from './steps.ts';
import { updateRule } from './update.ts';

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
  if (live.type === 'held') return { ...noDifference, holds: [live.hold] };
  const key = ruleKey({ ...resource.spec, serviceId: live.serviceId });
  const mine = onRecord(context.memory, 'HttpGatewayRule', key);
  const claims = [key];
  if (mine !== undefined && mine.source !== context.source)
    return { ...noDifference, claims, holds: [otherSource(context, mine)] };
  const choice = chooseCertificate(resource.spec, resource.id, live.certificates);
  if (choice.type === 'held') return { ...noDifference, claims, holds: [choice.hold] };
  const chosen = withCertificate(context, choice.id);
  const outcome = withoutStoredNone(
    chosen,
    live,
    live.rules.readable
      ? diffReadable(chosen, live, live.rules.value, key, mine)
      : diffUnreadable(chosen, live, key, mine),
    mine,
  );
  return { ...outcome, notes: [...choice.notes, ...outcome.notes], claims };
}

/** The manifest with the number of its certificate in the place of the alias: what is compared and sent. */
function withCertificate(context: RuleContext, certificateId: number | undefined): RuleContext {
  const { resource } = context;
  if (certificateId === undefined) return context;
  const { certificate: _alias, ...spec } = resource.spec;
  return { ...context, resource: { ...resource, spec: { ...spec, certificateId } } };
}

/** A rule that asked for an unknown certificate is https without one. To ask again would change nothing. */
function withoutStoredNone(
  { resource: { spec, id } }: RuleContext,
  live: ObservedRule,
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
  context: RuleContext,
  live: ObservedRule,
  rules: readonly RuleRecord[],
  key: string,
  mine: OwnedObject | undefined,
): Difference<RuleStep> {
  const matches = rules.filter((rule) => ruleKey(rule) === key);
  const [present, second] = matches;
  if (present === undefined) return createRule(context, live);
  if (second !== undefined) return hold(duplicateRule(context, matches));
  const ours = mine !== undefined && mine.origin !== 'observed' && isOnRecord(mine, present);
  if (!ours && context.memory.known && !context.permissions.adopt(context.resource.id))
    return hold(notOurs(context, present));
  return updateRule(context, live, present, mine, ours);
}

/** The server lists no rules: what we last applied is all there is to compare with. */
function diffUnreadable(
  context: RuleContext,
  live: ObservedRule,
  key: string,
  mine: OwnedObject | undefined,
): Difference<RuleStep> {
  const { resource, permissions } = context;
  if (mine === undefined) return createRule(context, live);
  const answer = refusalOf(mine)?.message;
  if (mine.state === 'hold' && !permissions.adopt(resource.id)) {
    return hold({
      code: 'rule/exists-not-ours',
      message: `the platform says that a rule for ${where(resource.spec)} exists already${answer === undefined ? '' : ` (${answer})`}, and this ledger has no record of it`,
      remedy: `Run apply --adopt ${resource.id} to treat it as ours (this server cannot show or change it), or delete it in the console.`,
      changes: [],
    });
  }
  if (mine.state === 'hold') {
    return {
      ...noDifference,
      notes: [
        {
          code: 'rule/adopted',
          message: `rule ${where(resource.spec)} is adopted unseen: this server cannot show what it holds`,
        },
      ],
      settled: [{ ...recordingOf(context, live.serviceId, key, null, mine), origin: 'adopted', state: 'unverified' }],
    };
  }
  const changed = assertedChanges(resource.spec, (field) => mine.lastApplied[field.name]);
  const count = asserted(resource.spec).length;
  if (changed.length === 0 || mine.state === 'unverified') {
    return {
      ...noDifference,
      unchangedFields: count,
      notes:
        mine.state === 'unverified'
          ? [
              {
                code: 'rule/unverified',
                message: `rule ${where(resource.spec)} exists, but this server cannot show what it holds`,
              },
            ]
          : [],
    };
  }
  return hold({
    code: 'rule/cannot-update',
    message: `rule ${where(resource.spec)} shall change in ${changed.map((change) => change.path).join(', ')}, and this server offers no way to change a rule`,
    remedy: `Delete the rule in the console, then run \`portolan ledger forget ${resource.id} --reason "…"\` and apply again; or take the change back.`,
    changes: changed,
  });
}

function createRule(context: RuleContext, live: ObservedRule): Difference<RuleStep> {
  const { resource } = context;
  const { spec } = resource;
  const opens = spec.openOuter === true || opensPort(context, live);
  const owed = owedBy(remembered(context.memory, 'HttpGatewayRule', ruleKey({ ...spec, serviceId: live.serviceId })));
  const rule: RuleWish = {
    ...owed?.rule,
    serviceId: live.serviceId,
    port: spec.port,
    domain: spec.domain,
    path: spec.path,
    ...Object.fromEntries(asserted(spec).map((field) => [field.name, field.want(spec)])),
  };
  const step: StepProposal<RuleStep> = {
    key: owed === undefined ? 'create' : CREATE_AGAIN,
    step: {
      type: 'create',
      rule,
      open: opens,
      ...(owed === undefined ? {} : { again: { former: owed.former, asserted: assertedFields(spec) } }),
    },
    verb: 'create',
    object: ruleKey(rule),
    summary: `create rule ${where(spec)} on port ${spec.port} of Component/${spec.component}${owed === undefined ? '' : ' again'}`,
    ...(owed === undefined ? {} : { cause: 'obligation' as const }),
    changes: [
      ...['domain', 'path', 'port'].map(
        (field): RawChange => ({ field, path: field, after: rule[field] ?? null, identifies: true }),
      ),
      ...assertedChanges(spec, () => undefined),
    ],
    effects:
      opens && live.port?.outer !== true ? [`opens outer access of port ${spec.port}; no default rule appears`] : [],
    after: [],
    needs: portNeeds(spec, live, opens),
    provides: opens ? [portOuter(live.serviceId, spec.port)] : [],
    prune: false,
  };
  return { ...noDifference, steps: [step] };
}

/** Whether this rule is the one that opens its port by being created; see `openingRule`. */
function opensPort(context: RuleContext, live: ObservedRule): boolean {
  const { spec, id } = context.resource;
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
        remembered(context.memory, 'Component', portKey(live.serviceId, spec.port))?.obligation?.['outer'] === true,
    }) === id
  );
}

function hold(refusal: HoldProposal): Difference<RuleStep> {
  return { ...noDifference, holds: [refusal] };
}

function notOurs({ resource }: RuleContext, present: RuleRecord): HoldProposal {
  return {
    code: 'rule/not-ours',
    message: `rule ${where(resource.spec)} exists on port ${present.port} (${present.ruleId}${present.type === 0 ? ", the platform's default" : ''}), and this ledger has no record of it`,
    remedy: `Run apply --adopt ${resource.id} to take it over with its present values recorded, or delete it in the console.`,
    changes: [],
  };
}

function duplicateRule({ resource }: RuleContext, matches: readonly RuleRecord[]): HoldProposal {
  return {
    code: 'rule/duplicate',
    message: `the platform holds ${matches.length} rules for ${where(resource.spec)} on one port (${matches.map((rule) => rule.ruleId).join(', ')}); it refuses any further one and it is not clear which is meant`,
    remedy: 'Delete all but one of them in the console, then run this again.',
    changes: [],
  };
}

function otherSource({ resource, source }: RuleContext, owner: OwnedObject): HoldProposal {
  return {
    code: 'source/other-owner',
    message: `rule ${where(resource.spec)} belongs to the source "${owner.source}" (${owner.resource}); this run is for "${source}"`,
    remedy: 'Take it out of one of the two sources, or run with the --source that owns it.',
    changes: [],
  };
}
