import { portsOf } from '../component/readings.ts';
import { listAllRules, listRules } from './readings.ts';
import { parseScopeKey } from '../../model/ids.ts';
import type { Json, JsonObject } from '../../model/json.ts';
import type { Action } from '../../model/plan.ts';
import type { RuleRecord } from './wire.ts';
import {
  absentSoFar,
  inDoubt,
  type LedgerView,
  recordedAs,
  type Recording,
  type Resolution,
  type ResolveContext,
} from '../reconciled.ts';
import { hiddenFields, plain, readableFields, unlikeSent, where } from './asserted.ts';
import { ownerOf, PROTOCOL_UNRECORDED } from './identity.ts';
import { ruleKey, type RuleStep, type RuleWish } from './steps.ts';

/**
 * Decides about a creation whose rule is not in the listing of the application. The absence proves nothing if the component,
 * and the rule with it, belongs to another application now. The listing of all rules shows that, or else the component's ports.
 */
export async function absence(
  step: Extract<RuleStep, { type: 'create' }>,
  { reader, ledgerView, intent }: ResolveContext,
  listed: number,
): Promise<Resolution> {
  const name = ruleKey(step.rule).slice('rule/'.length);
  const every = await reader.read(listAllRules);
  if (!every.readable) {
    if ((await portsOf(reader, step.rule.serviceId)) !== undefined)
      return absentSoFar(`no rule for ${name} in the listing of ${listed} rules`);
    const evidence = `component ${step.rule.serviceId} is not in this application, so the rules of this application say nothing about its rules`;
    return inDoubt('rule/component-missing', evidence);
  }
  const rules = every.value.map(({ rule }) => rule);
  const found = madeBy(step.rule, unrecorded(rules, ledgerView, intent.uid), intent.preimage);
  if (found.type === 'none') return absentSoFar(`no rule for ${name} in the listing of all ${rules.length} rules`);
  if (found.type !== 'one') return inDoubt(`rule/${found.type}`, found.why);
  const { ruleId } = found.rule;
  const appId = every.value.find(({ rule }) => rule.ruleId === ruleId)?.appId;
  const place =
    appId === parseScopeKey(intent.scope)?.appId
      ? 'is in the listing of all rules and not in that of its application, so one of the two listings is old'
      : `belongs to application ${appId} now, with its component`;
  return inDoubt('rule/elsewhere', `rule ${ruleId}, which was not there before, ${place}`);
}

type Found =
  | { readonly type: 'one'; readonly rule: RuleRecord }
  | { readonly type: 'none' }
  | { readonly type: 'duplicate' | 'not-as-sent'; readonly why: string };

/** Returns the rules that are not recorded as another object. */
export function unrecorded(rules: readonly RuleRecord[], ledgerView: LedgerView, uid: string): readonly RuleRecord[] {
  return rules.filter((rule) => {
    const owner = ownerOf(rule, ledgerView);
    return owner === undefined || owner.uid === uid;
  });
}

/** Returns the rule that a request created: it has the key of the request and did not exist before. */
export function madeBy(sent: RuleWish, rules: readonly RuleRecord[], preimage: Json): Found {
  const key = ruleKey(sent);
  const { ids: listed = [], isEvery = false } =
    (preimage as { readonly ids?: readonly string[]; readonly isEvery?: boolean } | null) ?? {};
  const before = new Set(listed);
  const fresh = rules.filter((rule) => ruleKey(rule) === key && !before.has(rule.ruleId));
  const [rule, second] = fresh;
  // Intents of earlier versions list only the rules with the key, so that other rules are not known to be new.
  if (rule === undefined) return isEvery ? movedSince(sent, rules, before) : { type: 'none' };
  if (second !== undefined) {
    const ids = fresh.map(({ ruleId }) => ruleId).join(', ');
    return { type: 'duplicate', why: `${fresh.length} new rules have this key: ${ids}` };
  }
  const otherwise = unlikeSent(sent, rule);
  if (otherwise.length === 0) return { type: 'one', rule };
  return {
    type: 'not-as-sent',
    why: `rule ${rule.ruleId} has this key and was not there before, but its ${otherwise.join(' and ')} ${otherwise.length > 1 ? 'are' : 'is'} not what was sent: another request made it, or it was changed since`,
  };
}

/** Returns a new rule of the same port, which may be the created one: an edit of its address keeps its id. */
function movedSince(sent: RuleWish, rules: readonly RuleRecord[], before: ReadonlySet<string>): Found {
  // The platform's own default rules have type 0.
  const fresh = rules.filter(
    ({ ruleId, serviceId, port, type }) =>
      type !== 0 && serviceId === sent.serviceId && port === sent.port && !before.has(ruleId),
  );
  if (fresh.length === 0) return { type: 'none' };
  const named = fresh.map((rule) => `${rule.ruleId} (${where(rule)})`).join(', ');
  return {
    type: 'not-as-sent',
    why: `no rule has this key, but the port has ${fresh.length > 1 ? 'rules' : 'a rule'} that was not there before: ${named}. The request may have created it, with its address changed since`,
  };
}

/**
 * Decides an update in doubt. It can be repeated, so there is nothing to decide, with one exception: if it moved the rule to
 * another address and the platform shows that address, the row follows. Otherwise, after the rule was removed from git, the
 * move would look like a change by a person, and the rule would never be deleted.
 */
export async function resolveUpdate(
  { ruleId, rule: sent, asserted, marks }: Extract<RuleStep, { type: 'update' }>,
  { reader, ledgerView, intent }: ResolveContext,
): Promise<Resolution> {
  const prior = ledgerView.objects.find((object) => object.uid === intent.uid);
  const key = ruleKey(sent);
  const isMove = prior?.remoteId === ruleId && prior.origin !== 'observed' && prior.naturalKey !== key;
  const { cause } = intent.action as unknown as Action;
  // The row of a rule that was moved has another uid.
  if (prior === undefined && cause === 'adopt' && intent.preimage !== null)
    return { ...comparedAgain, recording: adoptedRule(intent.preimage as unknown as RuleRecord, marks) };
  if (!isMove || ledgerView.objects.some(({ naturalKey }) => naturalKey === key)) return comparedAgain;
  const rules = await reader.read(listRules);
  const present = rules.readable ? rules.value.find((rule) => rule.ruleId === ruleId) : undefined;
  if (present === undefined || ruleKey(present) !== key) return comparedAgain;
  const { naturalKey, remoteAux, lastApplied } = prior;
  const { [PROTOCOL_UNRECORDED]: _unrecorded, ...aux } = remoteAux;
  const hidden = hiddenFields(asserted);
  const shown = Object.entries(asserted).filter(([name]) => hidden[name] === undefined);
  return {
    type: 'applied',
    recording: recordedAs(prior, {
      naturalKey: key,
      replaces: naturalKey,
      remoteAux: { ...aux, serviceId: sent.serviceId },
      // Nothing proves that the platform took the hidden fields: they keep their former values.
      lastApplied: { ...lastApplied, ...Object.fromEntries(shown) },
    }),
    evidence: `rule ${ruleId} has the address that was sent`,
  };
}

/** Returns the row of an unmanaged rule whose adoption by an update is in doubt, with its values before that. */
function adoptedRule(before: RuleRecord, marks: JsonObject = {}): Recording {
  return {
    naturalKey: ruleKey(before),
    remoteId: before.ruleId,
    remoteAux: { serviceId: before.serviceId, adopted: plain(readableFields(before)), ...marks },
    origin: 'adopted',
    state: 'present',
    lastApplied: {},
    obligation: null,
  };
}

/** The resolution of a write that can be repeated. */
export const comparedAgain: Extract<Resolution, { type: 'superseded' }> = {
  type: 'superseded',
  evidence: 'the request can be repeated safely; the rules are read and compared again',
};
