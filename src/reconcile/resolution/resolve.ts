import {
  type LedgerView,
  ledgerRecordOf,
  type Resolution,
  type ScopeReader,
  type Step,
} from '../../kinds/reconciled.ts';
import type { ReconciledKinds } from '../../kinds/define.ts';
import type { LedgerOperation } from '../../ledger/ledger.ts';
import { kindName, parseScopeKey, type Scope } from '../../model/ids.ts';
import type { JsonObject } from '../../model/json.ts';
import type { Intent, Refused } from '../../model/owned.ts';
import type { Action } from '../../model/plan.ts';
import type { DesiredState, Resource } from '../../model/resource.ts';
import { asksToWait } from '../../platform/classifier.ts';
import { type AnswerSummary, answerText } from '../../platform/verdict.ts';
import type { DoubtfulIntent } from '../../plan/draft.ts';
import { failedObject, isNews, movedIntent, placeOf, recordedObject, toObject } from '../apply/journal.ts';
import { scopeFreeMs, settleWindow, settleStateOf, windowLeftMs } from './settle-window.ts';
import type { ApplyWorld } from '../apply/world.ts';

type Decision = Exclude<Resolution, { type: 'absent-so-far' }>;

export interface Doubts {
  /** Intents that are still undecided. */
  readonly pending: readonly DoubtfulIntent[];
  /** Some were decided: the ledger has changed. */
  readonly decided: boolean;
}

/**
 * Decides every intent of the scope whose outcome is not known, as far as its settle window and observation allow.
 * An intent found open was left by a process that died: its window starts now. Only reads, and the ledger.
 * @param resources what the source wants now: a refusal counts against that.
 * @param freshReader makes a reader that has read nothing yet.
 */
export async function resolveIntents(
  world: ApplyWorld,
  scope: Scope,
  intents: readonly Intent[],
  ledgerView: LedgerView,
  resources: DesiredState,
  freshReader: () => ScopeReader,
): Promise<Doubts> {
  const pending: DoubtfulIntent[] = [];
  let decided = false;
  for (const found of intents) {
    const begins = settleStateOf(found, world.clock).type === 'restarted';
    const intent = begins ? await startWindow(world, scope, found) : found;
    // Asked again, because the wall clock may have jumped while the ledger was written.
    const left = settleStateOf(intent, world.clock);
    if (left.type === 'until') {
      pending.push(doubtInWindow({ ...intent, settleMs: left.untilMs }, world.timing, world.clock.now()));
      continue;
    }
    const resolution = await observeTwice(
      world,
      (reader) => observeIntent(world.kinds, intent, ledgerView, reader),
      freshReader,
    );
    await decide(world, scope, intent, ledgerView, resources.get(intent.resource), resolution);
    if (resolution.type === 'hold') pending.push({ intent, state: 'held', evidence: resolution.evidence });
    else decided = true;
  }
  return { pending, decided };
}

/** Returns the same intents as a command that may not write sees them. */
export function unresolvedIntents(
  intents: readonly Intent[],
  timing: ApplyWorld['timing'],
  clock: ApplyWorld['clock'],
): readonly DoubtfulIntent[] {
  return intents.map((intent): DoubtfulIntent => {
    const left = settleStateOf(intent, clock);
    if (left.type === 'over') return { intent, state: 'due', evidence: '' };
    const untilMs = left.type === 'until' ? left.untilMs : clock.now() + windowLeftMs(intent, timing);
    return doubtInWindow({ ...intent, settleMs: untilMs }, timing, clock.now());
  });
}

function doubtInWindow(intent: Intent, timing: ApplyWorld['timing'], nowMs: number): DoubtfulIntent {
  const scopeUntilMs = scopeFreeMs(intent.settleMs, intent.idempotence, timing);
  return { intent, state: 'in-window', evidence: '', ...(nowMs < scopeUntilMs ? { scopeUntilMs } : {}) };
}

/**
 * Restarts settle windows, after the death of a process or a restart of the machine, in an application that cannot be read
 * now, so that the time until it can be read counts. The team is not compared: it may be written by id or by name.
 */
export async function startWindows(
  world: ApplyWorld,
  { region, appId }: { readonly region: string; readonly appId?: number },
): Promise<void> {
  for (const intent of await world.ledger.intents({ states: ['open', 'unknown'] })) {
    const scope = parseScopeKey(intent.scope);
    if (settleStateOf(intent, world.clock).type !== 'restarted') continue;
    if (scope?.platform !== world.client.name || scope.region !== region || scope.appId !== appId) continue;
    await startWindow(world, scope, intent);
  }
}

/**
 * The window of an intent that an earlier process, or an earlier start of the machine, left: it begins now, durably.
 * @returns the intent as the ledger has it now.
 */
export async function startWindow(
  world: Pick<ApplyWorld, 'ledger' | 'clock' | 'actor' | 'timing'>,
  scope: Scope,
  intent: Intent,
): Promise<Intent> {
  const window = settleWindow(world.clock, windowLeftMs(intent, world.timing));
  const why =
    intent.state === 'open'
      ? 'found open: the process that sent it did not live to record its outcome'
      : 'the machine was restarted: how much time passed is not known, so the window begins again';
  await world.ledger.commit(movedIntent(world, scope, intent, { state: 'unknown', ...window }, [], { why }));
  return { ...intent, state: 'unknown', ...window };
}

/** Observes the effect of a write; that there is none counts only when two readings show it. */
export async function observeTwice(
  world: Pick<ApplyWorld, 'clock' | 'timing'>,
  observe: (reader: ScopeReader) => Promise<Resolution>,
  freshReader: () => ScopeReader,
): Promise<Decision> {
  const first = await observe(freshReader());
  if (first.type !== 'absent-so-far') return first;
  // One empty answer does not prove absence: a replica may be behind.
  await world.clock.sleep(world.timing.absenceApartMs);
  const second = await observe(freshReader());
  return second.type === 'absent-so-far' ? { type: 'rejected', evidence: `${second.evidence}, twice` } : second;
}

/** Answers of the cluster behind the platform and of its licence: they pass, and say nothing of the request. */
const PASSING_CODES = [10_400, 10_411];

/** The platform has two rules with one key: it answers every creation of another one with this error. */
const SEVERAL = /returned more than one \w+/;

/**
 * Returns whether the platform itself refused the request, with an answer that no row of the classifier knows. It would
 * refuse it again, so the refusal is counted and reported. An answer that asks to wait is not a refusal.
 */
function wasRefused({ outcome }: Intent): boolean {
  const { status = 0, code, message = '' } = (outcome ?? {}) as Partial<AnswerSummary>;
  if (status === 500 && SEVERAL.test(message)) return true;
  if (status < 400 || status >= 500 || code === undefined || PASSING_CODES.includes(code)) return false;
  return !asksToWait({ status, message });
}

/** The platform's refusal: one that observation could not confirm when it came, or in words that no row knows. */
function refusalIn(intent: Intent): Refused | undefined {
  const outcome = intent.outcome as (AnswerSummary & { readonly refused?: string }) | null;
  return outcome === null ? undefined : { reason: outcome.refused ?? 'unproved', message: answerText(outcome) };
}

/** A refusal that observation contradicts is dropped for good: a count that is right again later does not bring it back. */
async function contradicted(world: ApplyWorld, scope: Scope, intent: Intent, evidence: string): Promise<void> {
  const { refused, ...outcome } = (intent.outcome ?? {}) as JsonObject;
  if (refused === undefined) return;
  const detail = { refused, evidence };
  await world.ledger.commit(movedIntent(world, scope, intent, { state: 'unknown', outcome }, [], detail));
}

async function observeIntent(
  kinds: ReconciledKinds,
  intent: Intent,
  ledgerView: LedgerView,
  reader: ScopeReader,
): Promise<Resolution> {
  const name = kindName(intent.resource);
  const kind = kinds.get(name);
  if (kind === undefined)
    return { type: 'hold', code: 'intent/unknown-kind', evidence: `this version does not know the kind ${name}` };
  const { step } = intent.action as unknown as Action;
  return kind.calls.resolve(step as Step, { intent, reader, ledgerView });
}

async function decide(
  world: ApplyWorld,
  scope: Scope,
  intent: Intent,
  ledgerView: LedgerView,
  wanted: Resource | undefined,
  resolution: Decision,
): Promise<void> {
  if (resolution.type === 'hold') return contradicted(world, scope, intent, resolution.evidence);
  const place = placeOf(scope, intent.resource);
  const object: LedgerOperation[] = [];
  const recording = resolution.type === 'rejected' ? undefined : resolution.recording;
  if (recording !== undefined) {
    const prior = ledgerRecordOf(ledgerView, place.kind, recording.replaces ?? recording.naturalKey);
    const row = toObject(world, place, recording, prior, prior?.failures ?? 0);
    if (isNews(row, prior)) object.push(...recordedObject(world, place, recording, prior));
  }
  if (resolution.type !== 'applied' && wasRefused(intent)) {
    const action = intent.action as unknown as Action;
    const prior = ledgerRecordOf(ledgerView, place.kind, action.object);
    const facts = { preimage: intent.preimage, resource: wanted, refusal: refusalIn(intent) };
    object.push({ op: 'put-object', object: failedObject(world, place, action, prior, facts) });
  }
  const { type: state, evidence } = resolution;
  const outcome = { resolution: state, evidence };
  await world.ledger.commit(
    movedIntent(world, scope, intent, { state, outcome, resolvedBy: 'observation' }, object, outcome),
  );
  world.emit({
    type: 'resolved',
    resource: intent.resource,
    scope: intent.scope,
    intent: intent.id,
    how: `${state}: ${evidence}`,
  });
}
