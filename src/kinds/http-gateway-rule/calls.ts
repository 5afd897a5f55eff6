import { keyOf } from '../../model/reading.ts';
import { listEndpoints, portsOf, portsReading } from '../component/readings.ts';
import { listAllRules, listCertificates, listRules } from './readings.ts';
import { updatePort } from '../component/requests.ts';
import { createRule, deleteRule, evidenceOf, shownRule, updateRule } from './requests.ts';
import type { Json, JsonObject } from '../../model/json.ts';
import { PortolanError } from '../../model/errors.ts';
import { unreachable } from '../../model/unreachable.ts';
import { writeRequest } from '../../platform/requests.ts';
import type { RuleFields, RuleRecord } from './wire.ts';
import type { WriteRequest } from '../../platform/writes.ts';
import {
  type AppliedContext,
  badId,
  type KindCalls,
  refuseId,
  seenDone,
  type ManualOutcome,
  type ManualContext,
} from '../calls.ts';
import { findComponent } from '../component/identity.ts';
import type { ComponentSpec } from '../component/spec.ts';
import type { OwnedObject } from '../../model/owned.ts';
import type { Resource } from '../../model/resource.ts';
import { resourceId } from '../../model/ids.ts';
import type { Readable } from '../../model/reading.ts';
import {
  type CallContext,
  type HoldProposal,
  inDoubt,
  type ObserveContext,
  recordedAs,
  type Recording,
  type Resolution,
  type ResolveContext,
  type ScopeReader,
  type ScopeReading,
  type Withdrawal,
} from '../reconciled.ts';
import { assumedMark, assuming, hiddenFields, openedMark, plain, readableFields, removalMarks } from './asserted.ts';
import { type CertificateView, wantsCertificate } from './certificate.ts';
import { isNone, ruleFields, updatedFields, wishWith } from './fields.ts';
import { ruleRows } from './identity.ts';
import type { RuleLive } from './live.ts';
import { absence, comparedAgain, madeBy, resolveUpdate, unrecorded } from './made-by.ts';
import type { HttpGatewayRuleSpec } from './spec.ts';
import { mayBeRecreated } from './recreate.ts';
import { type CreatedAgain, ruleKey, type RuleStep, type RuleWish } from './steps.ts';
import { observeWithdrawal, shownById } from './withdrawn.ts';

async function observe({
  resource,
  siblings,
  ledgerView,
  reader,
}: ObserveContext<HttpGatewayRuleSpec>): Promise<RuleLive> {
  const { spec } = resource;
  const component = siblings.get(resourceId('Component', spec.component)) as Resource<ComponentSpec> | undefined;
  if (component === undefined)
    throw new Error(`${resource.id} names a component that is not in its application: the loader forbids that`);
  const identity = await findComponent(component, ledgerView, reader);
  if (identity.type !== 'known') return identity;
  const [ports, shown] = await Promise.all([portsOf(reader, identity.serviceId), reader.read(listRules)]);
  const listed = await withRecorded(resource, { ledgerView, reader }, shown);
  if (ports === undefined) return { type: 'held', hold: componentMissing(component, identity.serviceId) };
  const isRecreated = listed.readable && mayBeRecreated(resource, ledgerView, listed.value);
  const rules = spec.extensions === undefined && !isRecreated ? listed : await withExtensions(listed, reader);
  const recreation = isRecreated
    ? { everyRule: await reader.read(listAllRules), canDelete: await reader.has(listRules) }
    : undefined;
  const canUpdate = rules.readable && (await reader.has(listRules));
  return {
    type: 'observed',
    serviceId: identity.serviceId,
    port: ports.find((port) => port.port === spec.port),
    rules,
    canUpdate,
    certificates: wantsCertificate(spec) ? await viewCertificates(reader) : { type: 'not-asked' },
    ...(recreation === undefined ? {} : { recreation }),
  };
}

/**
 * Adds the rule of the manifest that is on record, if the listing lacks it: an empty or old listing does not prove that the rule is
 * gone. If the manifest or another user has moved it to another address, a second rule would be created.
 */
async function withRecorded(
  { id }: Resource<HttpGatewayRuleSpec>,
  { ledgerView, reader }: Pick<ObserveContext<HttpGatewayRuleSpec>, 'ledgerView' | 'reader'>,
  rules: Readable<readonly RuleRecord[]>,
): Promise<Readable<readonly RuleRecord[]>> {
  if (!rules.readable || reader.isShared) return rules;
  const missing = ruleRows(ledgerView).filter(
    ({ resource, origin, remoteId }) =>
      resource === id &&
      origin !== 'observed' &&
      remoteId !== null &&
      !rules.value.some(({ ruleId }) => ruleId === remoteId),
  );
  if (missing.length === 0) return rules;
  return { readable: true, value: [...rules.value, ...(await shownById(reader, missing))] };
}

/** Reads the certificates of the team. If that is not possible, an id in a manifest is sent unchecked. */
async function viewCertificates(reader: ScopeReader): Promise<CertificateView> {
  try {
    const listed = await reader.read(listCertificates);
    return listed.readable ? { type: 'listed', certificates: listed.value } : { type: 'unlisted' };
  } catch (error) {
    if (!(error instanceof PortolanError) || error.code === 'platform/stopped') throw error;
    // The token may lack only this permission. A platform that cannot be reached fails every read.
    if (error.disposition === 'unreachable' && error.code !== 'platform/forbidden') throw error;
    return { type: 'refused', message: error.message };
  }
}

/** Adds extensions, which only the listing of all rules shows. A rule that was read from there has them already. */
async function withExtensions(
  listed: Readable<readonly RuleRecord[]>,
  reader: ScopeReader,
): Promise<Readable<readonly RuleRecord[]>> {
  if (!listed.readable || listed.value.every((rule) => rule.extensions !== undefined)) return listed;
  const every = await reader.read(listAllRules);
  if (!every.readable) return listed;
  const extensions = new Map(every.value.map(({ rule }) => [rule.ruleId, rule.extensions]));
  const value = listed.value.map((rule) => {
    const shown = rule.extensions ?? extensions.get(rule.ruleId);
    return shown === undefined ? rule : { ...rule, extensions: shown };
  });
  return { readable: true, value };
}

function componentMissing(component: Resource<ComponentSpec>, serviceId: string): HoldProposal {
  return {
    code: 'rule/component-missing',
    message: `component ${serviceId} of ${component.id} is not in this application: it was deleted, or belongs to another application now; its rules were not changed`,
    remedy: `Correct ${component.id} (${component.position.file}:${component.position.line}), or remove it and its rules.`,
  };
}

/** Returns all present ids before a creation, so that a new rule is recognized; the whole record before an update. */
function preimage(step: RuleStep, live: RuleLive | undefined): Json {
  const former = step.type === 'create' && step.again !== undefined ? [step.again.former] : [];
  if (live?.type !== 'observed' || !live.rules.readable) return former.length === 0 ? null : { ids: former };
  const rules = live.rules.value;
  if (step.type === 'create') {
    const opens = step.open && live.port?.outer !== true;
    const ids = [...new Set([...rules.map((rule) => rule.ruleId), ...former])];
    return { ids, isEvery: true, ...(opens ? { opens } : {}) };
  }
  if (step.type === 'close_outer') return null;
  const present = rules.find((rule) => rule.ruleId === step.ruleId);
  return present === undefined ? null : (JSON.parse(JSON.stringify(present)) as JsonObject);
}

function toWrite(step: RuleStep, { app }: CallContext): WriteRequest {
  switch (step.type) {
    case 'create':
      return createRule({ app, rule: { ...fieldsOf(step.rule), ...(step.open ? { open: true } : {}) } });
    case 'update':
    case 'restore':
      return updateRule({ app, ruleId: step.ruleId, rule: fieldsOf(step.rule, updatedFields) });
    case 'recreate':
      // The rule is deleted only if the request that recreates it is valid.
      writeRequest(createRule({ app, rule: fieldsOf(step.rule) }));
      return deleteRule({ app, ruleId: step.ruleId });
    case 'delete':
      return deleteRule({ app, ruleId: step.ruleId });
    case 'close_outer': {
      const { serviceId, port } = step;
      return updatePort({ app, serviceId, port, change: { action: 'close_outer' } });
    }
    default:
      return unreachable(step);
  }
}

/** Returns the fields to send. The platform refuses null and "", and takes certificate 0 for none: these are left out. */
function fieldsOf(rule: RuleWish, fields = ruleFields): RuleFields {
  return wishWith(rule, fields, (field) => (isNone(field, rule[field.name]) ? undefined : rule[field.name]));
}

function applied(
  step: RuleStep,
  { evidence, prior, resource, preimage: before }: AppliedContext,
): Recording | 'gone' | 'released' {
  if (step.type === 'delete' || step.type === 'close_outer') return 'gone';
  if (step.type === 'restore') return 'released';
  if (step.type === 'recreate') {
    if (prior === undefined) throw new Error('a rule is recreated only with a row that says what is owed');
    return recordedAs(prior);
  }
  if (step.type === 'create' && step.again !== undefined && prior !== undefined)
    return createdAgain(step.rule, step.again, prior, { evidence, resource, preimage: before });
  const fields = step.type === 'create' ? step.rule : step.asserted;
  const { serviceId, port: _port, domain: _domain, path: _path, ...lastApplied } = fields as RuleWish;
  const key = ruleKey(step.rule);
  const isCreate = step.type === 'create';
  const shown = shownRule(evidence);
  return {
    naturalKey: key,
    ...(isCreate || prior === undefined || prior.naturalKey === key ? {} : { replaces: prior.naturalKey }),
    remoteId: step.type === 'update' ? step.ruleId : (shown?.ruleId ?? null),
    remoteAux: {
      serviceId: isCreate ? serviceId : step.rule.serviceId,
      ...marksOf(step.marks, resource, prior),
      ...(isCreate ? openedBy(step.rule, before, prior) : openedMark(prior)),
      ...(isCreate ? {} : assumedMark(prior)),
      // An update of an unmanaged rule adopts it with the values that it had.
      ...(isCreate || prior?.origin === 'created'
        ? {}
        : { adopted: prior?.remoteAux['adopted'] ?? formerFields(before) }),
    },
    origin: isCreate ? 'created' : (prior?.origin ?? 'adopted'),
    state: isCreate && shown === undefined ? 'unverified' : 'present',
    lastApplied: isCreate ? lastApplied : { ...keptFields(prior), ...lastApplied },
    obligation: null,
  };
}

/** Returns the removal marks: those of the manifest, or after it was removed those that the request was sent with, or on record. */
function marksOf(
  sent: JsonObject | undefined,
  resource: Resource | undefined,
  prior: OwnedObject | undefined,
): JsonObject {
  if (resource !== undefined) return removalMarks(resource);
  const { prune, onRemoval } = prior?.remoteAux ?? {};
  return plain({ prune, onRemoval, ...sent });
}

/** Returns the mark of a creation that opened its port: the port was closed before the request. */
function openedBy({ serviceId, port }: RuleWish, before: Json, prior: OwnedObject | undefined): JsonObject {
  const opens = (before as { readonly opens?: boolean } | null)?.opens === true;
  return opens ? { opened: `${serviceId}/${port}` } : openedMark(prior);
}

/** Returns the row of a recreated rule. It has the origin of the rule that was deleted. */
function createdAgain(
  rule: RuleWish,
  { asserted }: CreatedAgain,
  prior: OwnedObject,
  { evidence, resource, preimage: before }: Pick<AppliedContext, 'evidence' | 'resource' | 'preimage'>,
): Recording {
  const { adopted } = prior.remoteAux as Partial<Record<string, Json>>;
  const naturalKey = ruleKey(rule);
  const shown = shownRule(evidence);
  return {
    naturalKey,
    ...(prior.naturalKey === naturalKey ? {} : { replaces: prior.naturalKey }),
    remoteId: shown?.ruleId ?? null,
    remoteAux: plain({
      serviceId: rule.serviceId,
      adopted,
      ...marksOf(undefined, resource, prior),
      ...openedBy(rule, before, prior),
    }),
    origin: prior.origin,
    state: shown === undefined ? 'unverified' : 'present',
    lastApplied: { ...hiddenFields(rule), ...asserted },
    obligation: null,
  };
}

/** Returns the last applied values of fields that only a creation sets. */
function keptFields(prior: OwnedObject | undefined): JsonObject {
  return Object.fromEntries(
    ruleFields.flatMap(({ name, change }) => {
      const value = change === 'recreate-or-hold' ? prior?.lastApplied[name] : undefined;
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

function formerFields(before: Json): JsonObject {
  return before === null ? {} : plain(readableFields(before as unknown as RuleRecord));
}

async function resolve(step: RuleStep, context: ResolveContext): Promise<Resolution> {
  const { reader, ledgerView, intent } = context;
  if (step.type === 'update') return resolveUpdate(step, context);
  if (step.type !== 'create') return comparedAgain;
  const rules = await reader.read(listRules);
  // The rules cannot be observed: the request is repeated, and "exists already" then proves the first one.
  if (!rules.readable)
    return {
      type: 'superseded',
      evidence:
        'this server does not list rules; the same request is sent once more, and the server refuses it if the first one was done',
    };
  const found = madeBy(step.rule, unrecorded(rules.value, ledgerView, intent.uid), intent.preimage);
  if (found.type === 'none') return await absence(step, context, rules.value.length);
  if (found.type !== 'one') return inDoubt(`rule/${found.type}`, found.why);
  const { rule } = found;
  const recording = applied(step, seenDone(context, evidenceOf(rule)));
  if (typeof recording === 'string') throw new Error('creating a rule cannot remove it');
  const assumed = assuming(step.rule);
  const unread =
    Object.keys(assumed).length === 0 ? '' : '; no answer shows its configuration, which is assumed to be as sent';
  return {
    type: 'applied',
    recording: { ...recording, remoteAux: { ...recording.remoteAux, ...assumed } },
    evidence: `rule ${rule.ruleId} is in the listing and was not before${unread}`,
  };
}

const NOTHING_NEW =
  'the platform lists no new rule with this key since the request was sent (if the rule was deleted again, use --not-applied)';

async function appliedManually(step: RuleStep, context: ManualContext): Promise<ManualOutcome> {
  const { id } = context;
  const recording = applied(step, { ...context, evidence: { type: 'none' } });
  if (step.type !== 'create' || typeof recording !== 'object') {
    refuseId(id, 'this intent names its rule already');
    return { recording, warnings: [] };
  }
  if (id !== undefined) return { recording: { ...recording, remoteId: id, state: 'present' }, warnings: [] };
  const rules = await (await context.platform())?.read(listRules);
  if (rules?.readable === true) {
    const others = unrecorded(rules.value, context.ledgerView, context.prior?.uid ?? '');
    const found = madeBy(step.rule, others, context.preimage);
    if (found.type !== 'one') throw badId(undefined, found.type === 'none' ? NOTHING_NEW : found.why);
    return { recording: { ...recording, remoteId: found.rule.ruleId, state: 'present' }, warnings: [] };
  }
  return {
    recording,
    warnings: [
      'no --id was given: the rule is recorded as existing. On a server that cannot list rules, Portolan can neither change nor delete it. If rules are listed, a rule with its key is accepted only if it is exactly as sent',
    ],
  };
}

/** Returns the outdated readings. Creating a rule may open its port. */
function touches(step: RuleStep): readonly ScopeReading[] {
  const rules: readonly ScopeReading[] = [keyOf(listRules), keyOf(listAllRules)];
  if (step.type === 'close_outer') return [...rules, keyOf(listEndpoints), portsReading(step.serviceId)];
  return step.type === 'create' && step.open ? [...rules, portsReading(step.rule.serviceId)] : rules;
}

function component(step: RuleStep): string {
  if (step.type === 'close_outer') return step.serviceId;
  return step.type === 'delete' ? (step.key.split('/')[1] as string) : step.rule.serviceId;
}

/** Reads and writes of gateway rules. */
export const ruleCalls: KindCalls<HttpGatewayRuleSpec, RuleLive, RuleStep, Withdrawal> = {
  observe,
  observeWithdrawn: observeWithdrawal,
  preimage,
  component,
  touches,
  toWrite,
  applied,
  appliedManually,
  resolve,
};
