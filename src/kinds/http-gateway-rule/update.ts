import type { Json } from '../../model/json.ts';
import type { RuleRecord } from '../../model/observed.ts';
import type { OwnedObject } from '../../model/owned.ts';
import { SECRET_MASK } from '../../model/secret.ts';
import { type Difference, type HoldProposal, noDifference, type RawChange } from '../reconciled.ts';
import { asserted, assertedChanges, plain, readableFields, recordingOf, where } from './asserted.ts';
import { ruleFields } from './fields.ts';
import type { ObservedRule, RuleContext } from './live.ts';
import type { HttpGatewayRuleSpec } from './spec.ts';
import { ruleKey, type RuleStep, type RuleWish } from './steps.ts';

/** What a rule that exists, and that we may change, needs. */
export function updateRule(
  context: RuleContext,
  live: ObservedRule,
  present: RuleRecord,
  mine: OwnedObject | undefined,
  ours: boolean,
): Difference<RuleStep> {
  const { resource } = context;
  const { spec } = resource;
  const changed = assertedChanges(spec, (field) =>
    field.read === undefined ? mine?.lastApplied[field.name] : field.read(present),
  );
  const recording = recordingOf(context, live.serviceId, ruleKey(present), present.ruleId, mine);
  const origin = ours ? (mine?.origin ?? 'created') : 'adopted';
  const adopted = ours ? mine?.remoteAux['adopted'] : plain(readableFields(present));
  const aux = { ...recording.remoteAux, ...(adopted === undefined ? {} : { adopted }) };
  const unchangedFields = asserted(spec).length - changed.length;
  const adoption =
    ours || !context.memory.known
      ? []
      : [{ code: 'rule/adopted', message: `rule ${where(spec)} (${present.ruleId}) is adopted as it is` }];
  if (changed.length === 0) {
    return {
      ...noDifference,
      unchangedFields,
      notes: adoption,
      settled: context.memory.known ? [{ ...recording, origin, remoteAux: aux }] : [],
    };
  }
  const refusal = cannotUpdate(context, live, present, mine, changed, origin === 'created');
  if (refusal !== undefined) return { ...noDifference, holds: [refusal], unchangedFields };
  const rule = mergedRule(spec, present, mine);
  return {
    ...noDifference,
    unchangedFields,
    steps: [
      {
        key: 'update',
        step: {
          type: 'update',
          ruleId: present.ruleId,
          rule,
          asserted: Object.fromEntries(asserted(spec).map((field) => [field.name, field.want(spec)])),
        },
        verb: 'update',
        object: ruleKey(present),
        summary: `update rule ${where(spec)}: ${changed.map((change) => change.path).join(', ')}`,
        changes: changed,
        effects: [],
        after: [],
        needs: [],
        provides: [],
        prune: false,
        ...(ours ? {} : { cause: 'adopt' as const }),
      },
    ],
  };
}

/** A PUT always carries the whole record, so a value that it cannot carry, or that nobody can read, would be lost. */
function cannotUpdate(
  context: RuleContext,
  live: ObservedRule,
  present: RuleRecord,
  mine: OwnedObject | undefined,
  changed: readonly RawChange[],
  made: boolean,
): HoldProposal | undefined {
  const { spec, annotations } = context.resource;
  const base = { changes: changed };
  if (!live.canUpdate) {
    return {
      ...base,
      code: 'rule/cannot-update',
      message: `rule ${where(spec)} shall change, and this server offers no way to change a rule`,
      remedy: 'Change it in the console, or delete it there and apply again.',
    };
  }
  if (present.header !== '' || spec.header !== undefined) {
    return {
      ...base,
      code: 'rule/header-lost',
      message: `rule ${where(spec)} has a header condition, which the platform does not accept in an update and would drop`,
      remedy: 'Delete the rule in the console and apply again: it is then created whole.',
    };
  }
  const hidden = ruleFields.filter(
    (field) =>
      field.read === undefined && field.want(spec) === undefined && mine?.lastApplied[field.name] === undefined,
  );
  if (!made && hidden.length > 0 && annotations['portolan/overwrite-hidden'] !== 'true') {
    return {
      ...base,
      code: 'rule/hidden-values',
      message: `rule ${where(spec)} was not made by Portolan, and an update would reset ${hidden.map((field) => field.name).join(' and ')}, which no server shows`,
      remedy: `Write ${hidden.map((field) => `spec.${field.name}`).join(' and ')} in the manifest, or annotate it portolan/overwrite-hidden: "true" if they may be lost.`,
    };
  }
  const masked = ruleFields.filter(
    (field) => field.want(spec) === undefined && JSON.stringify(field.read?.(present) ?? '').includes(SECRET_MASK),
  );
  if (masked.length > 0) {
    return {
      ...base,
      code: 'rule/secret-value',
      message: `rule ${where(spec)} holds one of Portolan's own secrets in ${masked.map((field) => field.name).join(' and ')}, which is therefore not shown, and an update would write over it`,
      remedy: `Take the secret out of the rule in the console, and replace it: whoever can see the rule can see it. Or write ${masked.map((field) => `spec.${field.name}`).join(' and ')} in the manifest.`,
    };
  }
  return undefined;
}

function mergedRule(spec: HttpGatewayRuleSpec, present: RuleRecord, mine: OwnedObject | undefined): RuleWish {
  const fields = ruleFields.map((field): [string, Json | undefined] => {
    const wanted = field.want(spec);
    return [field.name, wanted ?? (field.read === undefined ? mine?.lastApplied[field.name] : field.read(present))];
  });
  return {
    serviceId: present.serviceId,
    port: present.port,
    domain: present.domain,
    path: present.path,
    ...Object.fromEntries(fields.filter(([, value]) => value !== undefined)),
  };
}
