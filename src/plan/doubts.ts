import { makesCopies } from '../kinds/define.ts';
import { type HoldProposal, ledgerRecordOf } from '../kinds/reconciled.ts';
import { kindName, scopeKey } from '../model/ids.ts';
import { objectUid, type OwnedObject, REFUSAL, refusalOf, type Refused } from '../model/owned.ts';
import { type AnswerSummary, answerText } from '../platform/verdict.ts';
import { attributedHold, type DoubtfulIntent, type Draft, type PlanInput } from './draft.ts';
import type { PlacedStep } from './order.ts';
import { hash } from 'node:crypto';
import { canonicalJson, type Json } from '../model/json.ts';
import type { Resource } from '../model/resource.ts';

/** Number of failed or ineffective writes in a row after which an object is held. */
export const FAILURES_MAX = 3;

/** Leaves out steps on objects with an intent in doubt, and on objects that failed too often; each is held and says so. */
export function withoutDoubtful(input: PlanInput, draft: Draft): PlacedStep[] {
  const waiting = input.inDoubt.find((doubt) => doubt.scopeUntilMs !== undefined);
  const said = new Set<string>();
  return draft.steps.filter((step) => {
    const kind = kindName(step.resource);
    const uid = objectUid(input.source, scopeKey(input.scope), kind, step.proposal.object);
    const doubt = input.inDoubt.find(
      ({ intent }) =>
        intent.uid === uid || (intent.idempotence === 'duplicate-accepting' && makesCopies(input.kinds, kind)),
    );
    // One write at a time for an application: another one might overtake what is still on its way.
    const held = doubt === undefined ? (scopeHold(waiting) ?? pruneHold(input, step)) : doubtHold(doubt);
    const hold =
      held === undefined
        ? tooOften(input, kind, step)
        : { ...held, changes: step.proposal.changes, object: step.proposal.object };
    if (hold === undefined) return true;
    const key = `${step.resource} ${hold.code}`;
    if (!said.has(key)) draft.holds.push(attributedHold(input, kind, step.resource, hold));
    said.add(key);
    return false;
  });
}

/** Returns the hold of a step that waits only because another write of its application is in doubt. */
function scopeHold(doubt: DoubtfulIntent | undefined): HoldProposal | undefined {
  if (doubt?.scopeUntilMs === undefined) return undefined;
  const until = new Date(doubt.scopeUntilMs).toISOString();
  return {
    code: 'intent/scope-waits',
    message: `${whatIsInDoubt(doubt)} and may still be at work, so nothing else is sent for this application before ${until}`,
    remedy: `Run the same command again after ${until}, or with --wait.`,
    untilMs: doubt.scopeUntilMs,
  };
}

/** Nothing is removed while the ledger cannot say what the application holds. */
function pruneHold({ inDoubt: [doubt] }: PlanInput, step: PlacedStep): HoldProposal | undefined {
  if (doubt === undefined || !step.proposal.prune) return undefined;
  return {
    code: 'prune/in-doubt',
    message: `${whatIsInDoubt(doubt)}, so nothing is removed from this application before its outcome is known`,
    remedy: `Wait for the outcome of intent ${doubt.intent.id}. \`portolan ledger show ${doubt.intent.id}\` shows its state.`,
  };
}

/** A request in doubt, in words. */
export function whatIsInDoubt({ intent }: DoubtfulIntent): string {
  const { message, ...answer } = (intent.outcome ?? {}) as Partial<AnswerSummary>;
  const answered = message === undefined ? '' : ` (${answerText({ ...answer, message })})`;
  return `${intent.operation} for ${intent.resource} (intent ${intent.id}) was sent and its outcome is not known${answered}`;
}

/** Returns the hold of everything that an intent in doubt blocks. */
export function doubtHold(doubt: DoubtfulIntent): HoldProposal {
  const { intent, state, evidence } = doubt;
  const what = whatIsInDoubt(doubt);
  if (state === 'in-window') {
    const until = new Date(intent.settleMs).toISOString();
    return {
      code: 'intent/settling',
      message: `${what}; it may still arrive, so nothing is concluded or sent before ${until}`,
      remedy: `Run the same command again after ${until}, or with --wait.`,
      changes: [],
      untilMs: intent.settleMs,
    };
  }
  if (state === 'due') {
    return {
      code: 'intent/due',
      message: `${what}; enough time has passed to look, which the next apply does`,
      remedy: 'Run apply: it observes the platform first, and requires manual action only if that cannot decide it.',
      changes: [],
    };
  }
  return {
    code: 'intent/in-doubt',
    message: `${what}, and observation cannot decide it: ${evidence}`,
    remedy: `Look at the platform, then say what happened: portolan ledger resolve ${intent.id} --applied|--not-applied --reason "…"`,
    changes: [],
  };
}

/** An intent in doubt is named even where nothing is left to do: what was seen may be older than what arrives. */
export function holdDoubts(input: PlanInput, draft: Draft): void {
  for (const doubt of input.inDoubt) {
    const hold = { ...doubtHold(doubt), resource: doubt.intent.resource };
    if (!draft.holds.some((other) => other.resource === hold.resource && other.message === hold.message))
      draft.holds.push({ ...hold, changes: [] });
  }
}

function tooOften(input: PlanInput, kind: string, step: PlacedStep): HoldProposal | undefined {
  const object = ledgerRecordOf(input.ledgerView, kind, step.proposal.object);
  if (object === undefined) return undefined;
  const failures = failuresOf(object, input.resources.get(step.resource));
  const refusal = refusalOf(object);
  const { changes, object: touched, summary } = step.proposal;
  const refused = failures > 0 && refusal && input.kinds.get(kind)?.refusedHold?.(object, refusal, summary);
  if (refused) return { ...refused, changes, object: touched };
  if (failures < FAILURES_MAX) return undefined;
  const said = refusal === undefined ? '' : `. The platform said: ${refusal.message}`;
  const often = `was tried ${failures} times in a row, and each time it was refused or changed nothing, so "${summary}" is not sent`;
  const retry = `run \`portolan ledger retry ${object.uid}\` to try again`;
  const held = { code: 'effect/not-taken', changes, object: touched } as const;
  if (input.resources.get(step.resource) === undefined)
    return {
      ...held,
      message: `its removal ${often}${said}`,
      remedy: `See in the console why. Remove it there, or ${retry}.`,
    };
  const shown = changes
    .map(
      ({ path, before, after }) =>
        `${path} is ${JSON.stringify(before ?? null)}, wanted ${JSON.stringify(after ?? null)}`,
    )
    .join('; ');
  return {
    ...held,
    message: `what the manifest says of it ${often}: ${shown || 'the platform stayed as it was'}${said}`,
    remedy: `See in the console why. Change the manifest, or ${retry}.`,
  };
}

/** Name in `remoteAux` of the wish that failed. */
const FAILED_WISH = 'failedWish';

/**
 * Counts one more write that failed or had no effect. For another manifest than the one that failed, the count starts at 1.
 * @param refusal of the platform; absent where it accepted the write without effect.
 */
export function withFailure(object: OwnedObject, resource: Resource | undefined, refusal?: Refused): OwnedObject {
  const failures = failuresOf(object, resource) + 1;
  const { [REFUSAL]: _former, ...aux } = object.remoteAux;
  return {
    ...object,
    failures,
    remoteAux: { ...aux, [FAILED_WISH]: wishOf(resource), ...(refusal === undefined ? {} : { [REFUSAL]: refusal }) },
  };
}

/** Returns how many writes of the present manifest failed or had no effect, in a row. */
export function failuresOf(object: OwnedObject, resource: Resource | undefined): number {
  const failed = object.remoteAux[FAILED_WISH];
  return failed === undefined || failed === wishOf(resource) ? object.failures : 0;
}

function wishOf(resource: Resource | undefined): string {
  const spec = resource === undefined ? null : (resource.spec as Json);
  return hash('sha256', canonicalJson(spec)).slice(0, 16);
}
