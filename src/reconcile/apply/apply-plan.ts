import { kindOf, type ReconciledKind } from '../../kinds/define.ts';
import type { LedgerView, ScopeReader, ScopeReading, Step } from '../../kinds/reconciled.ts';
import { type ResourceId, scopeKey } from '../../model/ids.ts';
import type { Action, ScopePlan } from '../../model/plan.ts';
import type { DesiredState } from '../../model/resource.ts';
import { PortolanError } from '../../model/errors.ts';
import { execute, type Execution, OutcomeNotRecorded } from './execute.ts';
import type { Membership } from '../membership.ts';
import type { ActionResult, SkipReason } from '../../plan/result.ts';
import { failed } from './journal.ts';
import type { ApplyWorld } from './world.ts';

export interface ApplyInput {
  readonly plan: ScopePlan;
  /** The actions of the plan that may be done. */
  readonly actions: readonly Action[];
  readonly resources: DesiredState;
  readonly live: ReadonlyMap<ResourceId, unknown>;
  readonly ledgerView: LedgerView;
  readonly members: Membership;
  /** Makes sure that these readings are young enough to write upon. @throws PortolanError */
  readonly freshen: (readings: readonly ScopeReading[]) => Promise<Freshness>;
  /** Makes a reader of the scope that has read nothing yet. */
  freshReader(): ScopeReader;
  /** Returns why nothing may be sent at this moment. Called before each action, and when its request leaves. */
  withheld(): SkipReason | undefined;
}

/** The result of checking the age of readings before a write. */
export interface Freshness {
  /** They were too old, and were read again. */
  readonly read: readonly ScopeReading[];
  /** false: they are not what the plan was made from. */
  readonly isAsPlanned: boolean;
}

/** Nothing was read. */
const UNREAD: Freshness = { read: [], isAsPlanned: true };

export interface Applied {
  readonly results: readonly ActionResult[];
  /** Readings that are old now. */
  readonly touched: ReadonlySet<ScopeReading>;
  /** The rest waits for another plan: what the next action changes is not as it was planned for. */
  readonly stale: boolean;
  /** Nothing more may be sent for this scope in this run. */
  readonly stopped: SkipReason | undefined;
  /** Why, when it was the ledger: what cannot be written down is not sent. */
  readonly error?: PortolanError;
}

/**
 * Carries out actions one by one, in order: one write in flight per scope, ever. A failure stops what depends on it;
 * an unknown outcome, a refused token or a closed region stops the scope.
 */
export async function applyPlan(world: ApplyWorld, input: ApplyInput): Promise<Applied> {
  const results: ActionResult[] = [];
  const touched = new Set<ScopeReading>();
  const notDone = new Set<string>();
  let stopped: SkipReason | undefined;
  let hasInstalled = false;
  const ended = (how: Partial<Applied> = {}): Applied => ({ results, touched, stale: false, stopped, ...how });
  const skip = (action: Action, because: SkipReason): void => {
    notDone.add(action.id);
    results.push({ status: 'skipped', action, because });
  };
  for (const action of input.actions) {
    const asked = stopOf(world, input);
    // A change whose first half succeeded is completed, even when a stop was requested.
    const completes = results.some(({ status, action: { id } }) => status === 'done' && id === action.continues);
    if (stopped === undefined && asked !== undefined && !completes) stopped = asked;
    const blocker = action.after.find((id) => notDone.has(id));
    const because = stopped ?? (blocker === undefined ? undefined : ({ type: 'behind', action: blocker } as const));
    if (because !== undefined) {
      skip(action, because);
      continue;
    }
    const kind = kindOf(world.kinds, action.resource);
    // After each install, everything that the next one depends on is read again.
    if (hasInstalled && kind.calls.since !== undefined) return ended();
    const stop = (): SkipReason | undefined => (completes ? undefined : stopOf(world, input));
    const stranger = await notMember(kind, input, action);
    if (stranger !== undefined) {
      // If a stop interrupted the read, the action did not fail.
      stopped = stop();
      notDone.add(action.id);
      results.push(stopped === undefined ? stranger : { status: 'skipped', action, because: stopped });
      continue;
    }
    const readings = kind.calls.touches(action.step as Step);
    // The half that completes a change follows the other one at once.
    const seen = completes ? UNREAD : await freshened(input, readings);
    if (seen instanceof PortolanError) return ended({ stopped: stoppedBy(seen), error: seen });
    // Read after the last write to it, a reading need not be read back as well.
    for (const reading of seen.read) touched.delete(reading);
    if (!seen.isAsPlanned) return ended({ stale: true });
    // A stop that was requested during the read comes before the action.
    stopped = stop();
    if (stopped !== undefined) {
      skip(action, stopped);
      continue;
    }
    const { result, error } = await attempt(world, input, { action, kind, stop });
    hasInstalled ||= kind.calls.since !== undefined;
    for (const reading of readings) touched.add(reading);
    results.push(result);
    if (result.status !== 'done') notDone.add(action.id);
    if (error !== undefined) return ended({ stopped: stoppedBy(error), error });
    stopped = stopAfter(result);
  }
  return ended();
}

function stoppedBy({ message }: PortolanError): SkipReason {
  return { type: 'scope-stopped', by: message };
}

function stopOf(world: ApplyWorld, { withheld }: ApplyInput): SkipReason | undefined {
  const asked = world.stopRequested();
  return asked === undefined ? withheld() : { type: asked };
}

/** Nothing is sent for a component unless it is proved to belong to the application. */
async function notMember(
  { calls }: ReconciledKind,
  { members, plan }: ApplyInput,
  action: Action,
): Promise<ActionResult | undefined> {
  const serviceId = calls.component?.(action.step as Step);
  const belonging = serviceId === undefined ? undefined : await members.of(serviceId);
  if (belonging === undefined || belonging.type === 'member') return undefined;
  const unsent = (message: string, remedy: string): ActionResult =>
    failed(action, action.summary, { type: 'not-sent' }, { message: `not sent: ${message}` }, remedy);
  return belonging.type === 'stranger'
    ? unsent(
        `component ${serviceId} is not in application ${scopeKey(plan.scope)} any more`,
        'Correct the manifest of the component, or take it out.',
      )
    : unsent(`whether component ${serviceId} is in the application is unknown: ${belonging.message}`, belonging.remedy);
}

/** Returns an error of a read instead of throwing it, because the actions before it are part of the result. */
async function freshened(input: ApplyInput, readings: readonly ScopeReading[]): Promise<Freshness | PortolanError> {
  try {
    return await input.freshen(readings);
  } catch (error) {
    if (error instanceof PortolanError) return error;
    throw error;
  }
}

/** A ledger that cannot be written ends the run; whether the request had left by then is part of the result. */
async function attempt(
  world: ApplyWorld,
  input: ApplyInput,
  chosen: Pick<Execution, 'action' | 'kind' | 'stop'>,
): Promise<{ readonly result: ActionResult; readonly error?: PortolanError }> {
  try {
    // The pass, or an earlier action, may have recorded the same object.
    const objects = await world.ledger.objects({ scope: scopeKey(input.plan.scope) });
    return { result: await run(world, input, { ...input.ledgerView, objects }, chosen) };
  } catch (error) {
    if (error instanceof OutcomeNotRecorded) return { result: error.result, error: error.ledgerError };
    if (!(error instanceof PortolanError)) throw error;
    const { action } = chosen;
    const answer = { message: `not sent: its intent could not be written down (${error.message})` };
    return { result: failed(action, action.summary, { type: 'not-sent' }, answer, error.remedy), error };
  }
}

async function run(
  world: ApplyWorld,
  input: ApplyInput,
  ledgerView: LedgerView,
  chosen: Pick<Execution, 'action' | 'kind' | 'stop'>,
): Promise<ActionResult> {
  const { action, kind } = chosen;
  const { scope } = input.plan;
  const key = scopeKey(scope);
  const { team, region, appId } = scope;
  world.emit({ type: 'started', action, scope: key });
  const result = await execute(world, {
    ...chosen,
    place: { scope, kind: kind.kind, resource: action.resource },
    resource: input.resources.get(action.resource),
    live: input.live.get(action.resource),
    ledgerView,
    calls: { app: { team, region, appId }, stores: world.stores },
    freshReader: () => input.freshReader(),
  });
  world.emit({ type: 'finished', action, scope: key, result });
  return result;
}

function stopAfter(result: ActionResult): SkipReason | undefined {
  const by = (why: string): SkipReason => ({ type: 'scope-stopped', by: `${result.action.id}: ${why}` });
  if (result.status === 'in-doubt') return by('its outcome is not known');
  if (result.status === 'skipped') return result.because;
  if (result.status !== 'failed') return undefined;
  if (result.reason.type === 'stop-scope') return by(result.answer.message);
  return result.reason.type === 'throttled' ? by('the platform asked to slow down') : undefined;
}
