import { type JsonObject, plainJson } from '../../model/json.ts';
import type { OwnedObject } from '../../model/owned.ts';
import type { EpochMs } from '../../model/time.ts';
import {
  type Difference,
  holding,
  noDifference,
  noting,
  plainStep,
  recordedAs,
  type Recording,
  type WithdrawContext,
} from '../reconciled.ts';
import { where } from './asserted.ts';
import { ruleKey, type RuleStep, type RuleWish } from './steps.ts';

/** Key of the step that creates a rule again, in the run that deleted it and in a later one. */
export const CREATE_AGAIN = 'recreate/create';

/** How far apart two readings must be that show the former rule, before nothing is owed any more: one may be old. */
const SEEN_APART_MS = 60_000;

/** A rule that is deleted to be created again: it is owed from before the deletion until the rule exists again. */
export interface OwedRule {
  /** The whole record that is created again. */
  readonly rule: RuleWish;
  /** Id of the rule that is deleted for it. */
  readonly former: string;
  /** Of the record, the fields that the manifest manages. */
  readonly asserted: JsonObject;
  /** When the former rule was first seen although it was to be deleted. */
  readonly seenMs?: number;
}

export function obligationOf(owed: OwedRule): JsonObject {
  return { recreate: plainJson(owed) };
}

/** Returns what a row of the ledger owes; undefined if nothing. */
export function owedBy(object: Pick<OwnedObject, 'obligation'> | undefined): OwedRule | undefined {
  return object?.obligation?.['recreate'] as unknown as OwedRule | undefined;
}

/**
 * Returns what is still owed while a rule is seen. If it is the one that was to be deleted, its deletion was not done, or
 * the reading is old: only a second reading, long after the first, ends what is owed.
 */
export function stillOwed(
  object: Pick<OwnedObject, 'obligation'> | undefined,
  seenId: string,
  nowMs: EpochMs,
): Pick<Recording, 'obligation'> & Pick<Difference, 'waits'> {
  const owed = owedBy(object);
  if (owed === undefined || owed.former !== seenId) return { obligation: null, waits: [] };
  const seenMs = owed.seenMs === undefined || nowMs < owed.seenMs ? nowMs : owed.seenMs;
  const untilMs = seenMs + SEEN_APART_MS;
  if (nowMs >= untilMs) return { obligation: null, waits: [] };
  const message = `an earlier run was about to recreate rule ${where(owed.rule)}, and the rule still exists; a second reading confirms that`;
  return { obligation: obligationOf({ ...owed, seenMs }), waits: [{ message, untilMs }] };
}

/**
 * Returns what an owed rule needs whose manifest does not bring it back: it was removed, is held, is only reported, or is
 * not a target. undefined if nothing is owed.
 */
export function fulfilOwed(object: OwnedObject, context: WithdrawContext): Difference<RuleStep> | undefined {
  const owed = owedBy(object);
  const { rules, ports, nowMs } = context;
  if (owed === undefined || !rules.readable) return undefined;
  const { rule, former, asserted } = owed;
  const isThere = rules.value.some(({ ruleId }) => ruleId === former);
  if (isThere) {
    const { obligation, waits } = stillOwed(object, former, nowMs);
    return { ...noDifference, inSync: [recordedAs(object, { obligation })], waits };
  }
  const other = rules.value.find((candidate) => ruleKey(candidate) === ruleKey(rule));
  if (other !== undefined) {
    const message = `rule ${where(rule)} was deleted to be created again, and exists again as ${other.ruleId}, which Portolan did not create`;
    return { ...noting('rule/exists-again', message), inSync: [recordedAs(object, { obligation: null })] };
  }
  const port = ports.get(rule.serviceId)?.find((candidate) => candidate.port === rule.port);
  if (port?.outer !== true) {
    return holding({
      code: 'rule/owed',
      message: `Rule ${where(rule)} was deleted to be created again, and port ${rule.port} ${port === undefined ? 'does not exist' : 'has no outer access'} now, so it cannot be created.`,
      remedy: `Open outer access of the port in the console, and run apply again. If the rule should not exist, run \`portolan ledger forget ${object.uid} --reason "…"\`.`,
    });
  }
  return {
    ...noDifference,
    steps: [
      {
        ...plainStep,
        key: CREATE_AGAIN,
        step: { type: 'create', rule, open: false, again: { former, asserted } },
        verb: 'create',
        object: object.naturalKey,
        summary: `create rule ${where(rule)} again`,
        cause: 'obligation',
      },
    ],
  };
}
