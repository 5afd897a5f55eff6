import { bareRecording, type Recording } from '../../kinds/reconciled.ts';
import type { LedgerOperation, LedgerTransaction } from '../../ledger/ledger.ts';
import { kindName, type ResourceId, type Scope, scopeKey } from '../../model/ids.ts';
import { type Json, type JsonObject, plainJson, sameJson } from '../../model/json.ts';
import { type WriteClass, type Intent, objectUid, type OwnedObject, type Refused } from '../../model/owned.ts';
import type { Action } from '../../model/plan.ts';
import type { Resource } from '../../model/resource.ts';
import { withFailure } from '../../plan/doubts.ts';
import type { ActionResult, FailureReason } from '../../plan/result.ts';
import type { AnswerSummary } from '../../platform/verdict.ts';
import type { ApplyWorld } from './world.ts';

/** Identifies the ledger record of an action's object. */
export interface ObjectPlace {
  readonly scope: Scope;
  readonly kind: string;
  readonly resource: ResourceId;
}

/** Attempts to commit an outcome before the run stops. The intent stays open, which is safe. */
const OUTCOME_ATTEMPTS = 3;

export function placeOf(scope: Scope, resource: ResourceId): ObjectPlace {
  return { scope, kind: kindName(resource), resource };
}

export function uidOf(world: Pick<ApplyWorld, 'source'>, { scope, kind }: ObjectPlace, naturalKey: string): string {
  return objectUid(world.source, scopeKey(scope), kind, naturalKey);
}

/** The durable promise that comes before a request: what is about to be sent, on what, and how it was before. */
export function newIntent(
  world: ApplyWorld,
  place: ObjectPlace,
  facts: {
    readonly action: Action;
    readonly operation: string;
    readonly idempotence: WriteClass;
    readonly requestHash: string;
    readonly preimage: Json;
  },
): Intent {
  const nowMs = world.clock.now();
  return {
    id: world.random.hex(6),
    uid: uidOf(world, place, facts.action.object),
    scope: scopeKey(place.scope),
    resource: place.resource,
    operation: facts.operation,
    idempotence: facts.idempotence,
    action: plainJson(facts.action) as JsonObject,
    epoch: world.ledger.epoch,
    requestHash: facts.requestHash,
    preimage: facts.preimage,
    state: 'open',
    createdMs: nowMs,
    sendDeadlineMs: nowMs + world.timing.sendWithinMs,
    settleMs: 0,
    settleMark: '',
    outcome: null,
    resolvedBy: null,
  };
}

/** Returns the row of the history for an intent: the action with its values, and the run and the commit it belongs to. */
export function intentRecord(
  { origin }: Pick<ApplyWorld, 'origin'>,
  { id, uid }: Intent,
  { id: action, summary, resource, verb, cause, changes, prune }: Action,
  request: string,
): LedgerOperation {
  // The last member in the order of the history, so that a short line still shows the others.
  const write = plainJson({ resource, verb, cause, changes, prune, ...origin });
  return { op: 'record', event: 'intent', uid, detail: { intent: id, action, summary, request, write } };
}

/** A ledger row from what a kind says of its object. */
export function toObject(
  world: Pick<ApplyWorld, 'source' | 'snapshot'>,
  place: ObjectPlace,
  recording: Recording,
  prior: OwnedObject | undefined,
  failures: number,
): OwnedObject {
  const { replaces: _replaces, ...facts } = recording;
  return {
    uid: uidOf(world, place, recording.naturalKey),
    scope: scopeKey(place.scope),
    platform: place.scope.platform,
    source: world.source,
    kind: place.kind,
    resource: place.resource,
    ...facts,
    failures,
    lastSnapshot: prior?.lastSnapshot ?? world.snapshot,
  };
}

/** A row for an object that nothing is known of but that something went wrong with, or that is owed something. */
export function bareObject(world: ApplyWorld, place: ObjectPlace, naturalKey: string, former: Json): OwnedObject {
  return toObject(world, place, bareRecording(naturalKey, former), undefined, 0);
}

/** Returns the row that counts a refusal, or a write without effect, on the object of an action. */
export function failedObject(
  world: ApplyWorld,
  place: ObjectPlace,
  { object, verb }: Pick<Action, 'object' | 'verb'>,
  prior: OwnedObject | undefined,
  { preimage, resource, refusal }: { preimage: Json; resource: Resource | undefined; refusal: Refused | undefined },
): OwnedObject {
  const row = prior ?? bareObject(world, place, object, preimage);
  // A creation that was refused leaves nothing behind but its count: no row may say that the object is there.
  const state = prior === undefined && verb === 'create' ? 'gone' : row.state;
  return withFailure({ ...row, state }, resource, refusal);
}

/** Returns the ledger operations for a step that was done: its object's row is written or dropped. */
export function recordedObject(
  world: Pick<ApplyWorld, 'source' | 'snapshot'>,
  place: ObjectPlace,
  recording: Recording | 'gone' | 'released',
  prior: OwnedObject | undefined,
): LedgerOperation[] {
  if (typeof recording === 'object') {
    const object = toObject(world, place, recording, prior, prior?.failures ?? 0);
    // The unique key of the new row may be that of the old one.
    const replaced = prior !== undefined && recording.replaces === prior.naturalKey ? prior.uid : undefined;
    return replaced === undefined ? [{ op: 'put-object', object }] : renamed(replaced, object);
  }
  if (prior === undefined) return [];
  // A deleted object is dropped only when its absence has been read back.
  return recording === 'released'
    ? [{ op: 'drop-object', uid: prior.uid }]
    : [{ op: 'put-object', object: { ...prior, state: 'deleting' } }];
}

/** The row goes whose object has another natural key now; the history of either says so. */
export function renamed(from: string, object: OwnedObject): LedgerOperation[] {
  const { uid: to, resource } = object;
  const detail = { resource, from, to };
  return [
    { op: 'drop-object', uid: from },
    { op: 'put-object', object },
    { op: 'record', event: 'renamed', uid: from, detail },
    { op: 'record', event: 'renamed', uid: to, detail },
  ];
}

/** Returns whether `next` differs from `prior`. The snapshot in which an object was seen does not count. */
export function isNews(next: OwnedObject, prior: OwnedObject | undefined): boolean {
  if (prior === undefined) return true;
  return !sameJson(
    { ...next, lastSnapshot: '' } as unknown as JsonObject,
    { ...prior, lastSnapshot: '' } as unknown as JsonObject,
  );
}

/** Returns the result of an action that failed. */
export function failed(
  action: Action,
  request: string,
  reason: FailureReason,
  answer: AnswerSummary,
  remedy: string,
): ActionResult {
  return { status: 'failed', action, answer, request, reason, remedy };
}

/** An answer as JSON, for the ledger and the history. */
export function answerJson(answer: AnswerSummary): JsonObject {
  return {
    ...(answer.status === undefined ? {} : { status: answer.status }),
    ...(answer.code === undefined ? {} : { code: answer.code }),
    message: answer.message,
  };
}

export function transaction(
  world: Pick<ApplyWorld, 'actor' | 'clock'>,
  scope: Scope,
  operations: readonly LedgerOperation[],
): LedgerTransaction {
  return { scope: scopeKey(scope), actor: world.actor, atMs: world.clock.now(), operations };
}

/** Gives an intent another state, with what that changes in the ledger and a line of history of the same name. */
export function movedIntent(
  world: Pick<ApplyWorld, 'actor' | 'clock'>,
  scope: Scope,
  { id, uid }: Pick<Intent, 'id' | 'uid'>,
  move: Omit<Extract<LedgerOperation, { op: 'move-intent' }>, 'op' | 'id'>,
  changes: readonly LedgerOperation[],
  detail: JsonObject,
): LedgerTransaction {
  return transaction(world, scope, [
    { op: 'move-intent', id, ...move },
    ...changes,
    { op: 'record', event: move.state, uid, detail: { intent: id, ...detail } },
  ]);
}

/**
 * Records what came of a write. Tried a few times, because the request is done and only its memory is at stake.
 * @throws PortolanError of the ledger, when it cannot be written: nothing more may be sent, the intent stays open.
 */
export async function commitOutcome(world: ApplyWorld, outcome: LedgerTransaction): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await world.ledger.commit(outcome);
      return;
    } catch (error) {
      if (attempt >= OUTCOME_ATTEMPTS) throw error;
      await world.clock.sleep(100 * attempt);
    }
  }
}
