import type { Json, JsonObject } from '../../model/json.ts';
import { sameJson } from '../../model/json.ts';
import { resourceId } from '../../model/ids.ts';
import type { PortRecord, RuleRecord } from '../../model/observed.ts';
import type { OwnedObject } from '../../model/owned.ts';
import type { Resource } from '../../model/resource.ts';
import type { ComponentIdentity } from '../component/identity.ts';
import { openingRule } from '../component/opening-rule.ts';
import type { ComponentSpec } from '../component/spec.ts';
import { portExists, portInner, portOuter, portProtocol } from '../component/steps.ts';
import { type DiffContext, type Difference, type HoldProposal, type Need, noDifference, type RawChange, type Readable, type Recording, remembered, type StepProposal, type WithdrawContext } from '../reconciled.ts';
import { type RuleField, ruleFields } from './fields.ts';
import type { HttpGatewayRuleSpec } from './spec.ts';
import { ruleKey, type RuleStep, type RuleWish } from './steps.ts';

/** What the platform says about one rule and the port it hangs on. */
export type RuleLive =
  | Exclude<ComponentIdentity, { type: 'known' }>
  | {
      readonly type: 'observed';
      readonly serviceId: string;
      readonly port: PortRecord | undefined;
      readonly rules: Readable<readonly RuleRecord[]>;
      readonly canUpdate: boolean;
    };

type Context = DiffContext<HttpGatewayRuleSpec, RuleLive>;
type Observed = Extract<RuleLive, { type: 'observed' }>;

export function diffRule(context: Context): Difference<RuleStep> {
  const { live, resource } = context;
  if (live.type === 'deferred') {
    return { ...noDifference, deferred: [{ waitsFor: live.deferred.waitsFor, desired: plain(resource.spec), summary: `after ${live.deferred.waitsFor}, create the rule ${resource.spec.domain}${resource.spec.path}` }] };
  }
  if (live.type === 'held') return { ...noDifference, holds: [live.hold] };
  const key = ruleKey({ ...resource.spec, serviceId: live.serviceId });
  const mine = remembered(context.memory, 'HttpGatewayRule', key);
  const claims = [key];
  if (mine !== undefined && mine.source !== context.source) return { ...noDifference, claims, holds: [otherSource(context, mine)] };
  const outcome = live.rules.readable ? diffReadable(context, live, live.rules.value, key, mine) : diffUnreadable(context, live, key, mine);
  return { ...outcome, claims };
}

/** A rule that git no longer names. Only one that we made or adopted, and that is still the same, is deleted. */
export function withdrawRule(object: OwnedObject, { rules, canDeleteRules, permissions }: WithdrawContext): Difference<RuleStep> {
  const name = object.naturalKey.split('/').slice(3).join('/');
  const note = (code: string, message: string, forget: readonly string[] = []): Difference<RuleStep> => ({ ...noDifference, notes: [{ code, message }], forget });
  if (object.origin === 'observed') return note('rule/withdrawn', `rule ${name} is no longer in the source; it was never ours and stays`, [object.naturalKey]);
  if (object.remoteAux['prune'] === 'keep') return note('prune/kept', `rule ${name} is no longer in the source; it stays, because its manifest said portolan/prune: keep`);
  if (!rules.readable || !canDeleteRules) return note('prune/impossible', `rule ${name} is no longer in the source; this server cannot delete rules, so it stays until it is deleted in the console`);
  const present = rules.value.find((rule) => rule.ruleId === object.remoteId);
  if (present === undefined && object.state === 'deleting') return { ...noDifference, forget: [object.naturalKey] };
  if (present === undefined) return note('rule/gone', `rule ${name} is no longer in the source, nor on the platform`, [object.naturalKey]);
  if (!permissions.prune) return note('prune/not-asked', `rule ${name} is no longer in the source; it stays, and apply --prune would delete it`);
  return {
    ...noDifference,
    steps: [
      {
        key: `delete/${object.naturalKey}`,
        step: { type: 'delete', ruleId: present.ruleId, key: object.naturalKey },
        verb: 'delete',
        object: object.naturalKey,
        summary: `delete rule ${name}`,
        changes: ruleFields.filter((field) => field.read !== undefined && field.read(present) !== undefined).map((field) => changeOf(field, field.read?.(present), undefined)),
        effects: [],
        after: [],
        needs: [],
        provides: [],
        prune: true,
      },
    ],
  };
}

function diffReadable(context: Context, live: Observed, rules: readonly RuleRecord[], key: string, mine: OwnedObject | undefined): Difference<RuleStep> {
  const matches = rules.filter((rule) => ruleKey(rule) === key);
  const [present, second] = matches;
  if (present === undefined) return createRule(context, live);
  if (second !== undefined) return hold(duplicateRule(context, matches));
  const ours = mine !== undefined && mine.origin !== 'observed' && (mine.remoteId === null || mine.remoteId === present.ruleId);
  if (!ours && context.memory.known && !context.permissions.adopt(context.resource.id)) return hold(notOurs(context, present));
  return updateRule(context, live, present, mine, ours);
}

/** The server lists no rules: what we last applied is all there is to compare with. */
function diffUnreadable(context: Context, live: Observed, key: string, mine: OwnedObject | undefined): Difference<RuleStep> {
  const { resource, permissions } = context;
  if (mine === undefined) return createRule(context, live);
  if (mine.state === 'hold' && !permissions.adopt(resource.id)) {
    return hold({
      code: 'rule/exists-not-ours',
      message: `the platform says that a rule for ${where(resource.spec)} exists already, and this ledger did not make it`,
      remedy: `Run apply --adopt ${resource.id} to treat it as ours (this server cannot show or change it), or delete it in the console.`,
      changes: [],
    });
  }
  if (mine.state === 'hold') {
    return { ...noDifference, settled: [{ ...recordingOf(context, live.serviceId, key, null), origin: 'adopted', state: 'unverified' }] };
  }
  const changed = assertedChanges(resource.spec, (field) => mine.lastApplied[field.name]);
  const count = asserted(resource.spec).length;
  if (changed.length === 0 || mine.state === 'unverified') {
    return {
      ...noDifference,
      unchangedFields: count,
      notes: mine.state === 'unverified' ? [{ code: 'rule/unverified', message: `rule ${where(resource.spec)} exists, but this server cannot show what it holds` }] : [],
    };
  }
  return hold({
    code: 'rule/cannot-update',
    message: `rule ${where(resource.spec)} shall change in ${changed.map((change) => change.path).join(', ')}, and this server offers no way to change a rule`,
    remedy: 'Delete the rule in the console, then run `portolan ledger forget` for it and apply again; or take the change back.',
    changes: changed,
  });
}

function createRule(context: Context, live: Observed): Difference<RuleStep> {
  const { resource } = context;
  const { spec } = resource;
  const opens = spec.openOuter === true || opensPort(context, live);
  const rule: RuleWish = { serviceId: live.serviceId, port: spec.port, domain: spec.domain, path: spec.path, ...Object.fromEntries(asserted(spec).map((field) => [field.name, field.want(spec)])) };
  const step: StepProposal<RuleStep> = {
    key: 'create',
    step: { type: 'create', rule, open: opens },
    verb: 'create',
    object: ruleKey(rule),
    summary: `create rule ${where(spec)} on port ${spec.port} of Component/${spec.component}`,
    changes: [
      ...['domain', 'path', 'port'].map((field): RawChange => ({ field, path: field, after: rule[field] ?? null })),
      ...assertedChanges(spec, () => undefined),
    ],
    effects: opens && live.port?.outer !== true ? [`opens outer access of port ${spec.port}; no default rule appears`] : [],
    after: [],
    needs: portNeeds(spec, live, opens),
    provides: opens ? [portOuter(live.serviceId, spec.port)] : [],
    prune: false,
  };
  return { ...noDifference, steps: [step] };
}

/** Whether this rule is the one that opens its port by being created; see `openingRule`. */
function opensPort(context: Context, live: Observed): boolean {
  const { spec, id } = context.resource;
  const component = context.siblings.get(resourceId('Component', spec.component)) as Resource<ComponentSpec> | undefined;
  const port = component?.spec.ports.find((candidate) => candidate.port === spec.port);
  if (component === undefined || port === undefined) return false;
  return openingRule({ component: component.name, serviceId: live.serviceId, spec: port, live: live.port, rules: live.rules, siblings: context.siblings }) === id;
}

function portNeeds(spec: HttpGatewayRuleSpec, { serviceId, port: live }: Observed, opens: boolean): Need[] {
  const { port } = spec;
  const remedy = `List port ${port} in Component/${spec.component} with outer: true (and inner: true).`;
  const always = (condition: string): Need => ({ condition, met: true, otherwise: { code: '', message: '', remedy: '' } });
  const exists: Need = {
    condition: portExists(serviceId, port),
    met: live !== undefined,
    otherwise: { code: 'rule/port-missing', message: `rule ${where(spec)} needs port ${port} of Component/${spec.component}, which does not exist and is not going to be added`, remedy },
  };
  if (opens) return [exists, always(portProtocol(serviceId, port)), always(portInner(serviceId, port))];
  return [
    exists,
    {
      condition: portOuter(serviceId, port),
      met: live?.outer === true,
      otherwise: { code: 'rule/port-closed', message: `rule ${where(spec)} needs outer access of port ${port} of Component/${spec.component}, which is closed and is not going to be opened`, remedy },
    },
  ];
}

function updateRule(context: Context, live: Observed, present: RuleRecord, mine: OwnedObject | undefined, ours: boolean): Difference<RuleStep> {
  const { resource } = context;
  const { spec } = resource;
  const changed = assertedChanges(spec, (field) => (field.read === undefined ? mine?.lastApplied[field.name] : field.read(present)));
  const recording = recordingOf(context, live.serviceId, ruleKey(present), present.ruleId);
  const origin = ours ? (mine?.origin ?? 'created') : 'adopted';
  const aux = ours ? recording.remoteAux : { ...recording.remoteAux, adopted: plain(readableFields(present)) };
  const unchangedFields = asserted(spec).length - changed.length;
  const adoption = ours || !context.memory.known ? [] : [{ code: 'rule/adopted', message: `rule ${where(spec)} (${present.ruleId}) is adopted as it is` }];
  if (changed.length === 0) {
    return { ...noDifference, unchangedFields, notes: adoption, settled: context.memory.known ? [{ ...recording, origin, remoteAux: aux }] : [] };
  }
  const refusal = cannotUpdate(context, live, present, mine, changed, origin === 'created');
  if (refusal !== undefined) return { ...hold(refusal), unchangedFields };
  const rule = mergedRule(spec, present, mine);
  return {
    ...noDifference,
    unchangedFields,
    steps: [
      {
        key: 'update',
        step: { type: 'update', ruleId: present.ruleId, rule, asserted: Object.fromEntries(asserted(spec).map((field) => [field.name, field.want(spec)])) },
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
function cannotUpdate(context: Context, live: Observed, present: RuleRecord, mine: OwnedObject | undefined, changed: readonly RawChange[], made: boolean): HoldProposal | undefined {
  const { spec, annotations } = context.resource;
  const base = { changes: changed };
  if (!live.canUpdate) {
    return { ...base, code: 'rule/cannot-update', message: `rule ${where(spec)} shall change, and this server offers no way to change a rule`, remedy: 'Change it in the console, or delete it there and apply again.' };
  }
  if (present.header !== '' || spec.header !== undefined) {
    return {
      ...base,
      code: 'rule/header-lost',
      message: `rule ${where(spec)} has a header condition, which the platform does not accept in an update and would drop`,
      remedy: 'Delete the rule in the console and apply again: it is then created whole.',
    };
  }
  const hidden = ruleFields.filter((field) => field.read === undefined && field.want(spec) === undefined && mine?.lastApplied[field.name] === undefined);
  if (!made && hidden.length > 0 && annotations['portolan/overwrite-hidden'] !== 'true') {
    return {
      ...base,
      code: 'rule/hidden-values',
      message: `rule ${where(spec)} was not made by Portolan, and an update would reset ${hidden.map((field) => field.name).join(' and ')}, which no server shows`,
      remedy: `Write ${hidden.map((field) => `spec.${field.name}`).join(' and ')} in the manifest, or annotate it portolan/overwrite-hidden: "true" if they may be lost.`,
    };
  }
  return undefined;
}

function mergedRule(spec: HttpGatewayRuleSpec, present: RuleRecord, mine: OwnedObject | undefined): RuleWish {
  const fields = ruleFields.map((field): [string, Json | undefined] => {
    const wanted = field.want(spec);
    return [field.name, wanted ?? (field.read === undefined ? mine?.lastApplied[field.name] : field.read(present))];
  });
  return { serviceId: present.serviceId, port: present.port, domain: present.domain, path: present.path, ...Object.fromEntries(fields.filter(([, value]) => value !== undefined)) };
}

function recordingOf({ resource }: Context, serviceId: string, key: string, ruleId: string | null): Recording {
  const { spec } = resource;
  return {
    naturalKey: key,
    remoteId: ruleId,
    remoteAux: { serviceId, ...keepMark(resource) },
    origin: 'created',
    state: 'present',
    lastApplied: Object.fromEntries(asserted(spec).map((field) => [field.name, field.want(spec)])),
    obligation: null,
  };
}

/** Remembered, because the annotation goes with the manifest that carried it. */
export function keepMark(resource: Resource | undefined): JsonObject {
  return resource?.annotations['portolan/prune'] === 'keep' ? { prune: 'keep' } : {};
}

function asserted(spec: HttpGatewayRuleSpec): readonly RuleField[] {
  return ruleFields.filter((field) => field.want(spec) !== undefined);
}

function assertedChanges(spec: HttpGatewayRuleSpec, present: (field: RuleField) => Json | undefined): RawChange[] {
  return asserted(spec).flatMap((field) => {
    const before = present(field);
    const after = field.want(spec);
    return before !== undefined && sameJson(before, after) ? [] : [changeOf(field, before, after)];
  });
}

function changeOf(field: RuleField, before: Json | undefined, after: Json | undefined): RawChange {
  return { field: field.name, path: field.path, ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) };
}

function readableFields(rule: RuleRecord): JsonObject {
  return Object.fromEntries(ruleFields.flatMap((field) => (field.read === undefined ? [] : [[field.name, field.read(rule)]])));
}

function where(spec: { readonly domain: string; readonly path: string }): string {
  return `${spec.domain}${spec.path}`;
}

function hold(refusal: HoldProposal): Difference<RuleStep> {
  return { ...noDifference, holds: [refusal] };
}

function plain(value: unknown): JsonObject {
  return JSON.parse(JSON.stringify(value)) as JsonObject;
}

function notOurs({ resource }: Context, present: RuleRecord): HoldProposal {
  return {
    code: 'rule/not-ours',
    message: `rule ${where(resource.spec)} exists on port ${present.port} (${present.ruleId}, ${present.type === 0 ? "the platform's default" : 'made by someone else'}), and this ledger did not make it`,
    remedy: `Run apply --adopt ${resource.id} to take it over with its present values recorded, or delete it in the console.`,
    changes: [],
  };
}

function duplicateRule({ resource }: Context, matches: readonly RuleRecord[]): HoldProposal {
  return {
    code: 'rule/duplicate',
    message: `the platform holds ${matches.length} rules for ${where(resource.spec)} on one port (${matches.map((rule) => rule.ruleId).join(', ')}); it refuses any further one and it is not clear which is meant`,
    remedy: 'Delete all but one of them in the console, then run this again.',
    changes: [],
  };
}

function otherSource({ resource, source }: Context, owner: OwnedObject): HoldProposal {
  return {
    code: 'source/other-owner',
    message: `rule ${where(resource.spec)} belongs to the source "${owner.source}" (${owner.resource}); this run is for "${source}"`,
    remedy: 'Take it out of one of the two sources, or run with the --source that owns it.',
    changes: [],
  };
}
