import { forgetSince } from '../../ledger/confirmation.ts';
import { movedIntent, placeOf, recordedObject } from '../apply/journal.ts';
import { startWindow } from './resolve.ts';
import { settleStateOf } from './settle-window.ts';
import type { ApplyWorld } from '../apply/world.ts';
import { ledgerRecordOf, type ScopeReader, type Step } from '../../kinds/reconciled.ts';
import type { LedgerOperation } from '../../ledger/ledger.ts';
import { invalidInput, PortolanError } from '../../model/errors.ts';
import { parseScopeKey, type Scope } from '../../model/ids.ts';
import type { Intent, OwnedObject } from '../../model/owned.ts';
import type { Action } from '../../model/plan.ts';
import { unreachable } from '../../model/unreachable.ts';
import { readLedgerView } from '../ledger-view.ts';

/** The outcome of a request in doubt, as a person states it. */
export type Decision =
  /** It was done; `id`: the platform's id of what it made, where there is one. */
  { readonly type: 'applied'; readonly id: string | undefined } | { readonly type: 'not-applied' };

export interface ManualResolution {
  /** Id of the intent. */
  readonly intent: string;
  readonly decision: Decision;
  /** Why the person says so, for the history. */
  readonly reason: string;
  /** Although the request may still arrive. */
  readonly force: boolean;
  /** A platform to look up what the request made; undefined where there is none at hand. Asked at most once. */
  platform(scope: Scope): Promise<ScopeReader | undefined>;
}

export interface ManuallyResolved {
  readonly intent: Intent;
  /** The row that the ledger has now because of it; undefined where it has none. */
  readonly object: OwnedObject | undefined;
  readonly warnings: readonly string[];
}

/** A ledger, and who speaks to it. */
export type ManualWorld = Pick<ApplyWorld, 'kinds' | 'ledger' | 'clock' | 'actor' | 'timing'>;

/**
 * Resolves an intent on a person's word: its state, the object as the outcome would have written it, and the history, in
 * one transaction. Nothing is sent to the platform.
 * @throws PortolanError `invalid` when there is no such intent, it is decided already, or the id does not fit;
 * `ask-human` while it may still arrive and `force` is not set; and those of the platform and the ledger.
 */
export async function resolveManually(world: ManualWorld, request: ManualResolution): Promise<ManuallyResolved> {
  const { decision, reason } = request;
  const intent = await pendingIntent(world, request.intent);
  const scope = parseScopeKey(intent.scope);
  if (scope === undefined) throw new Error(`intent ${intent.id} is of ${intent.scope}, which is not a scope`);
  const early = await earlyWarnings(world, scope, intent, request.force);
  const recorded =
    decision.type === 'applied'
      ? await manuallyApplied(world, intent, scope, decision.id, () => request.platform(scope))
      : { operations: [], warnings: [] };
  const detail = {
    decision: decision.type,
    reason,
    ...(decision.type === 'applied' && decision.id !== undefined ? { id: decision.id } : {}),
    ...(early.length > 0 ? { forced: true } : {}),
  };
  // A person has looked: what the application had before says nothing any more.
  const { verb } = intent.action as unknown as Action;
  const isNewCopy = intent.idempotence === 'duplicate-accepting' && verb === 'create';
  const changes = [...recorded.operations, ...(isNewCopy ? forgetSince(intent.scope) : [])];
  await world.ledger.commit(
    movedIntent(world, scope, intent, { state: 'resolved', outcome: detail, resolvedBy: world.actor }, changes, detail),
  );
  const [operation] = recorded.operations;
  const object = operation?.op === 'put-object' ? operation.object : undefined;
  return { intent, object, warnings: [...early, ...recorded.warnings] };
}

async function pendingIntent({ ledger }: ManualWorld, id: string): Promise<Intent> {
  const [intent] = await ledger.intents({ id });
  if (intent === undefined) {
    throw invalidInput(
      'ledger/no-intent',
      `The ledger ${ledger.location} has no intent ${id}. Nothing was recorded.`,
      'List those whose outcome is not known: portolan ledger list.',
    );
  }
  switch (intent.state) {
    case 'open':
    case 'unknown':
      return intent;
    case 'applied':
    case 'rejected':
    case 'superseded':
    case 'resolved':
      throw invalidInput(
        'ledger/intent-decided',
        `Intent ${id}, ${intent.operation} of ${intent.resource}, is ${intent.state} already${intent.resolvedBy === null ? '' : `, by ${intent.resolvedBy}`}. Nothing was recorded.`,
        `See what became of it: portolan ledger show ${id}. If the ledger is wrong about the object, portolan ledger forget ${intent.resource} lets go of it.`,
      );
    default:
      return unreachable(intent.state);
  }
}

/**
 * A request that may still arrive is not to be called undone: the next apply would send it a second time. A window that
 * an earlier process left begins now, so that coming back later is of use.
 */
async function earlyWarnings(
  world: ManualWorld,
  scope: Scope,
  intent: Intent,
  force: boolean,
): Promise<readonly string[]> {
  const left = settleStateOf(intent, world.clock);
  if (left.type === 'over') return [];
  const what = `intent ${intent.id}, ${intent.operation} of ${intent.resource}, may still reach the platform`;
  if (force) return [`${what}; it was resolved all the same, because of --force`];
  const untilMs = left.type === 'until' ? left.untilMs : (await startWindow(world, scope, intent)).settleMs;
  const until = new Date(untilMs).toISOString();
  throw new PortolanError({
    code: 'ledger/intent-settling',
    disposition: 'ask-human',
    message: `${what.charAt(0).toUpperCase()}${what.slice(1)} before ${until}. The present state of the platform proves nothing, so the intent was not resolved.`,
    remedy: `Look at the platform after ${until} and resolve it then. If you are sure that the request is over, add --force.`,
  });
}

async function manuallyApplied(
  world: ManualWorld,
  intent: Intent,
  scope: Scope,
  id: string | undefined,
  platform: () => Promise<ScopeReader | undefined>,
): Promise<{ readonly operations: readonly LedgerOperation[]; readonly warnings: readonly string[] }> {
  const { ledger } = world;
  const place = placeOf(scope, intent.resource);
  const kind = world.kinds.get(place.kind);
  if (kind === undefined) throw unknownKind(intent, place.kind);
  const action = intent.action as unknown as Action;
  const ledgerView = await readLedgerView(world, scope, { ledgerKnown: true });
  const prior = ledgerRecordOf(ledgerView, place.kind, action.object);
  const { recording, warnings } = await kind.calls.appliedManually(action.step as Step, {
    prior,
    preimage: intent.preimage,
    resource: undefined,
    nowMs: world.clock.now(),
    id,
    ledgerView,
    platform,
  });
  const source = sourceOf(intent);
  const snapshot = (await ledger.lastSnapshot(source))?.id ?? '-';
  return { operations: recordedObject({ source, snapshot }, place, recording, prior), warnings };
}

/** An intent names its source only in its object's uid, `<source>:<scope>:…`. */
function sourceOf({ id, uid, scope }: Intent): string {
  const end = uid.indexOf(`:${scope}:`);
  if (end < 0) throw new Error(`intent ${id} is on ${uid}, which is not of scope ${scope}`);
  return uid.slice(0, end);
}

function unknownKind({ id, resource }: Intent, kind: string): PortolanError {
  return invalidInput(
    'ledger/unknown-kind',
    `Intent ${id} is for ${resource}, and this version of Portolan does not know the kind ${kind}: it cannot write down what was applied. Nothing was recorded.`,
    'Use the version that wrote the intent.',
  );
}
