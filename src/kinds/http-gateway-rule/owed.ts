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

/** Key of the step that recreates a rule, in the run that deleted it or in a later one. */
export const CREATE_AGAIN = 'recreate/create';

/** Minimum time between two readings that show the former rule, before the obligation ends: one of them may be old. */
const SEEN_APART_MS = 60_000;

/** The obligation to recreate a rule. It begins before the deletion and ends when the rule exists again. */
export interface OwedRule {
  /** The whole record to create. */
  readonly rule: RuleWish;
  /** Id of the deleted rule. */
  readonly former: string;
  /** The fields of the record that the manifest manages. */
  readonly asserted: JsonObject;
  /** Time of the first reading that still showed the former rule. */
  readonly seenMs?: number;
}

export function obligationOf(owed: OwedRule): JsonObject {
  return { recreate: plainJson(owed) };
}

/** Returns the obligation of a row; undefined if there is none. */
export function owedBy(object: Pick<OwnedObject, 'obligation'> | undefined): OwedRule | undefined {
  return object?.obligation?.['recreate'] as unknown as OwedRule | undefined;
}

/**
 * Returns the obligation that remains while a rule is observed. If the rule that was to be deleted still exists, its deletion was
 * not done, or the reading is old: only a second reading, later by `SEEN_APART_MS`, ends the obligation.
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
 * Returns the steps for an owed rule that its manifest does not recreate, because the manifest was removed, is held, is only
 * reported, or is not a target; undefined without an obligation.
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
