import type { Obstacle } from '../../kinds/calls.ts';
import type { ReconciledKind } from '../../kinds/define.ts';
import { type CallContext, type LedgerView, ledgerRecordOf, type ScopeReader } from '../../kinds/reconciled.ts';
import { rememberSince } from '../../ledger/confirmation.ts';
import { momentOf, TimeLimit } from '../../runtime/time-limit.ts';
import type { LedgerOperation } from '../../ledger/ledger.ts';
import { PortolanError } from '../../model/errors.ts';
import type { Json } from '../../model/json.ts';
import type { Intent, OwnedObject, Refused } from '../../model/owned.ts';
import type { Action } from '../../model/plan.ts';
import type { Resource } from '../../model/resource.ts';
import { unreachable } from '../../model/unreachable.ts';
import { writeRequest } from '../../platform/requests.ts';
import {
  type AnswerSummary,
  answerText,
  type RejectionReason,
  type Verdict,
  type WriteEvidence,
} from '../../platform/verdict.ts';
import { NO_EVIDENCE, type WriteRequest } from '../../platform/writes.ts';
import {
  answerJson,
  bareObject,
  commitOutcome,
  failed,
  failedObject,
  intentRecord,
  isNews,
  movedIntent,
  newIntent,
  type ObjectPlace,
  recordedObject,
  toObject,
  transaction,
} from './journal.ts';
import type { ActionResult, FailureReason, SkipReason } from '../../plan/result.ts';
import { observeTwice } from '../resolution/resolve.ts';
import { scopeFreeMs, type SettleWindow, settleWindow, settleWindowMs } from '../resolution/settle-window.ts';
import type { ApplyWorld } from './world.ts';

/** One action with everything its kind wants to know. */
export interface Execution {
  readonly action: Action;
  readonly kind: ReconciledKind;
  readonly place: ObjectPlace;
  readonly resource: Resource | undefined;
  readonly live: unknown;
  readonly ledgerView: LedgerView;
  readonly calls: CallContext;
  /** Makes a reader of the scope that has read nothing yet. */
  freshReader(): ScopeReader;
  /** Returns why its request may not leave. Called when it would. */
  stop(): SkipReason | undefined;
}

/** The request was answered, and the ledger could not record it. The intent stays open and is resolved like any other. */
export class OutcomeNotRecorded extends Error {
  override readonly name = 'OutcomeNotRecorded';
  readonly result: ActionResult;
  readonly ledgerError: PortolanError;

  constructor(result: ActionResult, ledgerError: PortolanError) {
    super(ledgerError.message);
    this.result = result;
    this.ledgerError = ledgerError;
  }
}

interface Sent {
  readonly execution: Execution;
  readonly intent: Intent;
  readonly write: WriteRequest;
  readonly prior: OwnedObject | undefined;
}

/**
 * Intent, one send, outcome. The intent is durable before the first byte leaves; outcome, object and history commit
 * together. An outcome that the answer does not prove stays unknown until its settle window is over and it is observed.
 * @throws PortolanError of the ledger: nothing more may be sent then.
 */
export async function execute(world: ApplyWorld, execution: Execution): Promise<ActionResult> {
  const { action, kind, place, ledgerView } = execution;
  let write: WriteRequest;
  let requestHash: string;
  try {
    write = kind.calls.toWrite(action.step, execution.calls);
    requestHash = world.client.requestHash(write);
  } catch (error) {
    if (!(error instanceof PortolanError) || error.disposition !== 'invalid') throw error;
    return failed(action, action.summary, { type: 'not-sent' }, { message: error.message }, error.remedy);
  }
  const prior = ledgerRecordOf(ledgerView, place.kind, action.object);
  const preimage = kind.calls.preimage(action.step, execution.live, ledgerView);
  const obstacle = await obstacleTo(execution, preimage);
  if (obstacle !== undefined) return kept(action, write, obstacle);
  // One deadline by all clocks, because a process that takes over waits no longer for the request to leave: while the machine is
  // suspended, the monotonic clock may stand still and the wall clock may be set back.
  const deadline = new TimeLimit(world.clock, world.timing.sendWithinMs, momentOf(world.clock));
  const isPast = (): boolean => world.clock.monotonic() >= deadline.untilMs();
  const { operation, declared } = write;
  const intent = newIntent(world, place, { action, operation, idempotence: declared.class, requestHash, preimage });
  const rows = rowsBefore(world, execution, preimage);
  await world.ledger.commit(
    transaction(world, place.scope, [
      { op: 'open-intent', intent },
      ...rows.map((object) => ({ op: 'put-object', object }) as const),
      intentRecord(world, intent, action, describeWrite(write)),
    ]),
  );
  const own = rows.find(({ naturalKey }) => naturalKey === action.object);
  const sent: Sent = { execution, intent, write, prior: own ?? prior };
  if (world.clock.now() >= intent.sendDeadlineMs || isPast()) return notSent(world, sent);
  let because: SkipReason | undefined;
  const mayLeave = (): boolean =>
    (because = isLate(world) || isPast() ? { type: 'interrupted' } : execution.stop()) === undefined;
  const verdict = await world.client.send(write, { sendBeforeMs: deadline.untilMs(), mayLeave });
  if (because !== undefined && isUnsent(verdict)) {
    await close(world, sent, 'rejected', verdict.answer, []);
    return { status: 'skipped', action, because };
  }
  try {
    return await record(world, sent, verdict);
  } catch (error) {
    if (!(error instanceof PortolanError)) throw error;
    const answer = { ...verdict.answer, message: `${verdict.answer.message}; the ledger could not record it` };
    const untilMs = world.clock.now() + settleWindowMs(intent.idempotence, world.timing);
    throw new OutcomeNotRecorded(inDoubt(world, sent, answer, untilMs), error);
  }
}

/** Returns the rows to write with the intent: what must be undone, now or if the manifest goes. */
function rowsBefore(
  world: ApplyWorld,
  { action, kind, place, resource, ledgerView }: Execution,
  preimage: Json,
): readonly OwnedObject[] {
  const known = (naturalKey: string): OwnedObject | undefined => ledgerRecordOf(ledgerView, place.kind, naturalKey);
  const rows = (kind.calls.recordedFirst?.(action.step, { ledgerView, preimage, resource }) ?? []).flatMap(
    (recording) => {
      const prior = known(recording.naturalKey);
      const row = toObject(world, place, recording, prior, prior?.failures ?? 0);
      return isNews(row, prior) ? [row] : [];
    },
  );
  const { object, obligation } = action;
  if (obligation === undefined) return rows;
  const own = rows.find(({ naturalKey }) => naturalKey === object);
  const owing = { ...(own ?? known(object) ?? bareObject(world, place, object, preimage)), obligation };
  return [...rows.filter((row) => row !== own), owing];
}

function isUnsent(verdict: Verdict): boolean {
  return verdict.verdict === 'rejected' && verdict.reason === 'unsent';
}

/** Returns whether another process may have taken the application over by the time that a request would leave. */
function isLate({ sendUntilMs, clock }: ApplyWorld): boolean {
  return sendUntilMs !== undefined && clock.monotonic() >= sendUntilMs();
}

function kept(action: Action, write: WriteRequest, { why, isUntaken }: Obstacle): ActionResult {
  const remedy = 'Run the same command again: it plans upon what is there now.';
  const type = isUntaken === true ? 'not-taken' : 'not-sent';
  return failed(action, describeWrite(write), { type }, { message: `not sent: ${why}` }, remedy);
}

/** Returns why a write that may never be sent twice must not leave: the platform has changed since the plan was made. */
async function obstacleTo({ kind, action, freshReader }: Execution, preimage: Json): Promise<Obstacle | undefined> {
  try {
    return await kind.calls.obstacle?.(action.step, { preimage, reader: freshReader() });
  } catch (error) {
    if (!(error instanceof PortolanError)) throw error;
    return { why: `the platform could not be read (${error.message})` };
  }
}

/** Closes an intent that was not sent in time: another process may have taken over meanwhile. */
async function notSent(world: ApplyWorld, sent: Sent): Promise<ActionResult> {
  const answer: AnswerSummary = {
    message: `not sent: more than ${world.timing.sendWithinMs} ms passed since the intent was written`,
  };
  await close(world, sent, 'rejected', answer, []);
  return failedAfter(sent, { type: 'not-sent' }, answer, 'Run the same command again.');
}

async function record(world: ApplyWorld, sent: Sent, verdict: Verdict): Promise<ActionResult> {
  const { answer } = verdict;
  switch (verdict.verdict) {
    case 'applied':
      return done(world, sent, answer, verdict.evidence);
    case 'rejected':
      return verdict.needsObservation === true
        ? refusedIfSeen(world, sent, answer, verdict.reason)
        : refused(world, sent, answer, verdict.reason);
    case 'exists':
      return exists(world, sent, answer);
    case 'throttled':
      // Earlier calls behind the server may have run: only a target-state write is known to be harmless.
      return sent.intent.idempotence === 'target-state'
        ? throttled(world, sent, answer, verdict.retryAfterMs)
        : doubtful(world, sent, answer);
    case 'unknown':
      return doubtful(world, sent, answer);
    default:
      return unreachable(verdict);
  }
}

async function done(
  world: ApplyWorld,
  sent: Sent,
  answer: AnswerSummary,
  evidence: WriteEvidence,
): Promise<ActionResult> {
  const { execution, intent, prior } = sent;
  const { action, kind, resource } = execution;
  const recording = kind.calls.applied(action.step, {
    evidence,
    prior,
    preimage: intent.preimage,
    resource,
    nowMs: world.clock.now(),
  });
  const known = kind.calls.since?.(action.step, { evidence, preimage: intent.preimage }) ?? {};
  const object = recordedObject(world, execution.place, recording, prior);
  await close(world, sent, 'applied', answer, [...object, ...rememberSince(intent.scope, known)]);
  return { status: 'done', action, answer };
}

/**
 * A refusal that the answer alone does not prove: a proxy that filters answers may return it after the effect. The
 * platform is read before anything is concluded; where that does not confirm it, the write stays in doubt.
 */
async function refusedIfSeen(
  world: ApplyWorld,
  sent: Sent,
  answer: AnswerSummary,
  reason: RejectionReason,
): Promise<ActionResult> {
  const { execution } = sent;
  const { action, kind, ledgerView } = execution;
  const intent: Intent = { ...sent.intent, outcome: { ...answerJson(answer), refused: reason } };
  try {
    const seen = await observeTwice(
      world,
      (reader) => kind.calls.resolve(action.step, { intent, reader, ledgerView }),
      () => execution.freshReader(),
    );
    if (seen.type === 'rejected') return await refused(world, sent, answer, reason);
    // An observation contradicts the refusal, so the refusal is not recorded, whatever later observations show.
    return await doubtful(
      world,
      sent,
      { ...answer, message: `${answer.message}; but ${seen.evidence}` },
      'contradicted',
    );
  } catch (error) {
    if (!(error instanceof PortolanError) || error.code.startsWith('ledger/')) throw error;
    const message = `${answer.message}; whether it happened could not be read (${error.message})`;
    return doubtful(world, sent, { ...answer, message }, reason);
  }
}

/** Remedies of refusals that stop the application. */
const SCOPE_REMEDIES = {
  credentials:
    "Renew the platform's token (spec.auth of Platform in the file given by --config), then run the same command again.",
  'region-not-ready': 'Wait until the region is enabled, then run the same command again.',
  unsent: 'Nothing was sent. See that the platform can be reached, then run the same command again.',
} as const;

/** Remedy of any other refusal. */
const REFUSED_REMEDY =
  'The platform refused it and nothing changed. Correct the manifest or the platform; the next run tries again.';

async function refused(
  world: ApplyWorld,
  sent: Sent,
  answer: AnswerSummary,
  reason: RejectionReason,
): Promise<ActionResult> {
  if (reason === 'credentials' || reason === 'region-not-ready' || reason === 'unsent') {
    await close(world, sent, 'rejected', answer, []);
    return failedAfter(sent, { type: 'stop-scope', why: reason }, answer, SCOPE_REMEDIES[reason]);
  }
  const object = refusedObject(world, sent, { reason, message: answerText(answer) });
  await close(world, sent, 'rejected', answer, [{ op: 'put-object', object }]);
  const remedy = sent.execution.kind.calls.remedies?.[reason] ?? REFUSED_REMEDY;
  return failedAfter(sent, { type: 'refused' }, answer, remedy);
}

function failedAfter(sent: Sent, reason: FailureReason, answer: AnswerSummary, remedy: string): ActionResult {
  return failed(sent.execution.action, describeWrite(sent.write), reason, answer, remedy);
}

/** A creation that the platform says is there already. Ours only if we sent the same before and never knew its end. */
async function exists(world: ApplyWorld, sent: Sent, answer: AnswerSummary): Promise<ActionResult> {
  const { execution, intent, prior } = sent;
  const earlier = (await world.ledger.intents({ scope: intent.scope, states: ['superseded'] })).some(
    (other) => other.uid === intent.uid && other.operation === intent.operation,
  );
  if (earlier) return done(world, sent, answer, NO_EVIDENCE);
  const failed = refusedObject(world, sent, { reason: 'exists', message: answerText(answer) });
  const marked: OwnedObject = prior === undefined || prior.state === 'gone' ? { ...failed, state: 'hold' } : failed;
  await close(world, sent, 'rejected', answer, [{ op: 'put-object', object: marked }]);
  const remedy =
    prior?.obligation == null
      ? `It exists and is not ours, so it was not touched. Run apply --adopt ${execution.place.resource} to take it over, or take it out of the manifests.`
      : 'One like it exists, so it was not created again. The next run looks which one it is.';
  return failedAfter(sent, { type: 'exists' }, answer, remedy);
}

async function throttled(
  world: ApplyWorld,
  sent: Sent,
  answer: AnswerSummary,
  retryAfterMs: number | null,
): Promise<ActionResult> {
  await close(world, sent, 'rejected', answer, []);
  const remedy = 'The platform asked to slow down; it did nothing. The next run tries again.';
  return failedAfter(sent, { type: 'throttled', retryAfterMs }, answer, remedy);
}

/** @param refusal the platform's own, which observation has contradicted, or could not confirm yet. */
async function doubtful(
  world: ApplyWorld,
  sent: Sent,
  answer: AnswerSummary,
  refusal?: RejectionReason | 'contradicted',
): Promise<ActionResult> {
  const { timing } = world;
  // The platform has finished the request that it refuses itself, so there is no long wait for it.
  const lengthMs = refusal === undefined ? settleWindowMs(sent.intent.idempotence, timing) : timing.settleTargetStateMs;
  const window = settleWindow(world.clock, lengthMs);
  await close(world, sent, 'unknown', answer, [], {
    ...window,
    ...(refusal === undefined || refusal === 'contradicted' ? {} : { refusal }),
  });
  return inDoubt(world, sent, answer, window.settleMs);
}

function inDoubt(
  { timing }: ApplyWorld,
  { execution: { action }, write, intent: { id, idempotence } }: Sent,
  answer: AnswerSummary,
  untilMs: number,
): ActionResult {
  const scopeUntilMs = scopeFreeMs(untilMs, idempotence, timing);
  return { status: 'in-doubt', action, answer, request: describeWrite(write), intent: id, untilMs, scopeUntilMs };
}

function refusedObject(world: ApplyWorld, { execution, intent, prior }: Sent, refusal: Refused): OwnedObject {
  const { place, action, resource } = execution;
  return failedObject(world, place, action, prior, { preimage: intent.preimage, resource, refusal });
}

async function close(
  world: ApplyWorld,
  { execution, intent }: Sent,
  state: 'applied' | 'rejected' | 'unknown',
  answer: AnswerSummary,
  object: readonly LedgerOperation[],
  { refusal, ...window }: Partial<SettleWindow> & { readonly refusal?: RejectionReason | undefined } = {},
): Promise<void> {
  const outcome = { ...answerJson(answer), ...(refusal === undefined ? {} : { refused: refusal }) };
  await commitOutcome(
    world,
    movedIntent(world, execution.place.scope, intent, { state, outcome, ...window }, object, {
      action: execution.action.id,
      answer: outcome,
    }),
  );
}

/** Method and path, for people: the API call that an action is. */
function describeWrite(write: WriteRequest): string {
  const { method, path } = writeRequest(write);
  return `${method} ${path}`;
}
