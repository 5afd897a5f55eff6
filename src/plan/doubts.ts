import { type HoldProposal, remembered } from '../kinds/reconciled.ts';
import { scopeKey } from '../model/ids.ts';
import { objectUid, type OwnedObject, refusalOf, type Refused } from '../model/owned.ts';
import { type AnswerSummary, answerText } from '../platform/verdict.ts';
import { attributedHold, type DoubtfulIntent, type Draft, type PlanInput } from './draft.ts';
import { failuresOf } from './failures.ts';
import type { PlacedStep } from './order.ts';

/** How often a write may be accepted without effect, or refused, before a person is asked. */
export const FAILURES_MAX = 3;

/** Leaves out steps on objects with an intent in doubt, and on objects that failed too often; each is held and says so. */
export function withoutDoubtful(input: PlanInput, draft: Draft): PlacedStep[] {
  const waiting = input.inDoubt.find((doubt) => doubt.scopeUntilMs !== undefined);
  const said = new Set<string>();
  return draft.steps.filter((step) => {
    const kind = step.resource.slice(0, step.resource.indexOf('/'));
    const uid = objectUid(input.source, scopeKey(input.scope), kind, step.proposal.object);
    const doubt = input.inDoubt.find(
      ({ intent }) => intent.uid === uid || (intent.idempotence === 'duplicate-accepting' && isInstall(step)),
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

function isInstall(step: PlacedStep): boolean {
  return step.proposal.step.type === 'install' || step.proposal.step.type === 'upgrade';
}

/** What is held only because something else of its application is in doubt. */
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

/** What is there may be what a request in doubt has made: nobody takes it over, and nobody calls it somebody else's. */
export function copyHold(doubt: DoubtfulIntent): HoldProposal {
  return {
    code: 'install/other-in-doubt',
    message: `${whatIsInDoubt(doubt)}, and what is installed may be what it made; nothing is taken over or installed here before that is settled`,
    remedy: `Settle intent ${doubt.intent.id} first: portolan ledger show ${doubt.intent.id} says how it stands.`,
  };
}

/** Nothing is removed while the ledger cannot say what the application holds. */
function pruneHold({ inDoubt: [doubt] }: PlanInput, step: PlacedStep): HoldProposal | undefined {
  if (doubt === undefined || !step.proposal.prune) return undefined;
  return {
    code: 'prune/in-doubt',
    message: `${whatIsInDoubt(doubt)}, so nothing is removed from this application before that is settled`,
    remedy: `Settle intent ${doubt.intent.id} first: portolan ledger show ${doubt.intent.id} says how it stands.`,
  };
}

function whatIsInDoubt({ intent }: DoubtfulIntent): string {
  const { message, ...answer } = (intent.outcome ?? {}) as Partial<AnswerSummary>;
  const answered = message === undefined ? '' : ` (${answerText({ ...answer, message })})`;
  return `${intent.operation} for ${intent.resource} (intent ${intent.id}) was sent and its outcome is not known${answered}`;
}

/** What is said of an intent in doubt, wherever it stands in the way. */
export function doubtHold(doubt: DoubtfulIntent): HoldProposal {
  const { intent, state, evidence } = doubt;
  const what = whatIsInDoubt(doubt);
  if (state === 'settling') {
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
      remedy: 'Run apply: it looks at the platform first, and asks a person only if that cannot decide it.',
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
  const object = remembered(input.memory, kind, step.proposal.object);
  if (object === undefined) return undefined;
  const failures = failuresOf(object, input.resources.get(step.resource));
  const refusal = refusalOf(object);
  if (failures > 0 && refusal?.reason === 'store-credentials') return keyKept(object, step, refusal);
  if (failures < FAILURES_MAX) return undefined;
  const shown = step.proposal.changes
    .map(
      ({ path, before, after }) =>
        `${path} is ${JSON.stringify(before ?? null)}, wanted ${JSON.stringify(after ?? null)}`,
    )
    .join('; ');
  return {
    code: 'effect/not-taken',
    message: `what the manifest says of it was tried ${failures} times in a row, and each time it was refused or changed nothing, so "${step.proposal.summary}" is not sent: ${shown || 'the platform stayed as it was'}${refusal === undefined ? '' : `. The platform said: ${refusal.message}`}`,
    remedy: `See in the console why. Change the manifest, or run \`portolan ledger retry ${object.uid}\` to try again.`,
    changes: step.proposal.changes,
    object: step.proposal.object,
  };
}

/** A wrong key stays wrong however often it is sent: the platform uses the first one that it was given. */
function keyKept({ uid }: OwnedObject, { proposal }: PlacedStep, { message }: Refused): HoldProposal {
  return {
    code: 'install/store-key-refused',
    message: `the application store refused the platform's access key, so "${proposal.summary}" is not sent again. The platform said: ${message}. It keeps the first access key that it gets for the address of a store, even from an install that fails, and ignores any other key for that address`,
    remedy: `Correct the key of this store in the console; or write spec.url of the Store in another way, such as with its port (https://store.example.com:443), which makes a new entry with the key of the Store. Then run \`portolan ledger retry ${uid}\`.`,
    changes: proposal.changes,
    object: proposal.object,
  };
}
