import type { CallContext, Memory, ScopeReader, ScopeReading, Step } from '../../kinds/reconciled.ts';
import { type ResourceId, scopeKey } from '../../model/ids.ts';
import type { Action, ScopePlan } from '../../model/plan.ts';
import type { DesiredState } from '../../model/resource.ts';
import { PortolanError } from '../../model/errors.ts';
import { execute, type Execution, OutcomeNotRecorded } from './execute.ts';
import type { Membership } from '../membership.ts';
import { scopeFreeMs, settleWindowMs } from '../resolution/settle.ts';
import type { ActionResult, SkipReason } from '../../plan/result.ts';
import { failed } from './journal.ts';
import type { ApplyWorld } from './world.ts';

export interface ApplyInput {
  readonly plan: ScopePlan;
  /** The actions of the plan that may be done. */
  readonly actions: readonly Action[];
  readonly resources: DesiredState;
  readonly live: ReadonlyMap<ResourceId, unknown>;
  readonly memory: Memory;
  readonly members: Membership;
  /** Makes sure that these readings are young enough to write upon. @throws PortolanError */
  readonly freshen: (readings: readonly ScopeReading[]) => Promise<Freshness>;
  /** Makes a reader of the scope that has read nothing yet. */
  freshReader(): ScopeReader;
  /** Returns why nothing may be sent at this moment. Called before each action, and when its request leaves. */
  withheld(): SkipReason | undefined;
}

/** What a look at readings before a write found. */
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
 * an outcome that nobody knows, a refused token or a closed region stops the scope.
 */
export async function applyPlan(world: ApplyWorld, input: ApplyInput): Promise<Applied> {
  const results: ActionResult[] = [];
  const touched = new Set<ScopeReading>();
  const notDone = new Set<string>();
  let stopped: SkipReason | undefined;
  let sent = 0;
  let hasInstalled = false;
  for (const action of input.actions) {
    const asked = stopOf(world, input);
    // What is only half done is completed, whatever asks to stop: its other half has succeeded.
    const completes = results.some(({ status, action: { id } }) => status === 'done' && id === action.continues);
    if (stopped === undefined && asked !== undefined && !completes) stopped = asked;
    const blocker = action.after.find((id) => notDone.has(id));
    const because = stopped ?? (blocker === undefined ? undefined : ({ type: 'behind', action: blocker } as const));
    if (because !== undefined) {
      notDone.add(action.id);
      results.push({ status: 'skipped', action, because });
      continue;
    }
    // What an install rests on is read again after each of them.
    if (hasInstalled && kindOf(world, action).calls.since !== undefined)
      return { results, touched, stale: false, stopped };
    const stop = (): SkipReason | undefined => (completes ? undefined : stopOf(world, input));
    const stranger = await notMember(world, input, action);
    if (stranger !== undefined) {
      // Whoever asked to stop cut the question off: that is no failure.
      stopped = stop();
      notDone.add(action.id);
      results.push(stopped === undefined ? stranger : { status: 'skipped', action, because: stopped });
      continue;
    }
    const readings = kindOf(world, action).calls.touches(action.step as Step);
    // The half that completes a change follows the other one at once.
    const seen = completes ? UNREAD : await freshened(input, readings);
    if (seen instanceof PortolanError) {
      const because: SkipReason = { type: 'scope-stopped', by: seen.message };
      return { results, touched, stale: false, stopped: because, error: seen };
    }
    // Read after the last write to it, a reading need not be read back as well.
    for (const reading of seen.read) touched.delete(reading);
    if (!seen.isAsPlanned) return { results, touched, stale: true, stopped };
    // Whoever asked to stop while that was read asked before anything was begun.
    stopped = stop();
    if (stopped !== undefined) {
      notDone.add(action.id);
      results.push({ status: 'skipped', action, because: stopped });
      continue;
    }
    const { result, error } = await attempt(world, input, action, { isFirst: sent === 0, stop });
    sent += 1;
    hasInstalled ||= kindOf(world, action).calls.since !== undefined;
    for (const reading of readings) touched.add(reading);
    results.push(result);
    if (result.status !== 'done') notDone.add(action.id);
    if (error !== undefined)
      return { results, touched, stale: false, stopped: { type: 'scope-stopped', by: error.message }, error };
    stopped = stopAfter(result);
  }
  return { results, touched, stale: false, stopped };
}

function stopOf(world: ApplyWorld, { withheld }: ApplyInput): SkipReason | undefined {
  const asked = world.stopRequested();
  return asked === undefined ? withheld() : { type: asked };
}

/** Nothing is sent for a component unless it is proved to belong to the application. */
async function notMember(
  world: ApplyWorld,
  { members, plan }: ApplyInput,
  action: Action,
): Promise<ActionResult | undefined> {
  const serviceId = kindOf(world, action).calls.component?.(action.step as Step);
  const belonging = serviceId === undefined ? undefined : await members.of(serviceId);
  if (belonging === undefined || belonging.type === 'member') return undefined;
  const base = { status: 'failed', action, request: action.summary, reason: { type: 'not-sent' } } as const;
  return belonging.type === 'stranger'
    ? {
        ...base,
        answer: { message: `not sent: component ${serviceId} is not in application ${scopeKey(plan.scope)} any more` },
        remedy: 'Correct the manifest of the component, or take it out.',
      }
    : {
        ...base,
        answer: {
          message: `not sent: whether component ${serviceId} is in the application is unknown: ${belonging.message}`,
        },
        remedy: belonging.remedy,
      };
}

/** What was done before a read that failed is part of the result, so the error is one too. */
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
  action: Action,
  { isFirst, stop }: { readonly isFirst: boolean } & Pick<Execution, 'stop'>,
): Promise<{ readonly result: ActionResult; readonly error?: PortolanError }> {
  try {
    // What an earlier action recorded of the same object is built upon.
    const objects = isFirst ? input.memory.objects : await world.ledger.objects({ scope: scopeKey(input.plan.scope) });
    return { result: await run(world, input, { ...input.memory, objects }, action, stop) };
  } catch (error) {
    if (error instanceof OutcomeNotRecorded) {
      const { intent, answer, request, ledgerError } = error;
      const untilMs = world.clock.now() + settleWindowMs(intent.idempotence, world.timing);
      const scopeUntilMs = scopeFreeMs(untilMs, intent.idempotence, world.timing);
      return {
        result: { status: 'in-doubt', action, answer, request, intent: intent.id, untilMs, scopeUntilMs },
        error: ledgerError,
      };
    }
    if (!(error instanceof PortolanError)) throw error;
    const answer = { message: `not sent: its intent could not be written down (${error.message})` };
    return { result: failed(action, action.summary, { type: 'not-sent' }, answer, error.remedy), error };
  }
}

async function run(
  world: ApplyWorld,
  input: ApplyInput,
  memory: Memory,
  action: Action,
  stop: Execution['stop'],
): Promise<ActionResult> {
  const { scope } = input.plan;
  const key = scopeKey(scope);
  const calls: CallContext = {
    app: { team: scope.team, region: scope.region, appId: scope.appId },
    stores: world.stores,
  };
  world.emit({ type: 'started', action, scope: key });
  const kind = kindOf(world, action);
  const result = await execute(world, {
    action,
    kind,
    place: { scope, kind: kind.kind, resource: action.resource },
    resource: input.resources.get(action.resource),
    live: input.live.get(action.resource),
    memory,
    calls,
    freshReader: () => input.freshReader(),
    stop,
  });
  world.emit({ type: 'finished', action, scope: key, result });
  return result;
}

function stopAfter(result: ActionResult): SkipReason | undefined {
  if (result.status === 'in-doubt')
    return { type: 'scope-stopped', by: `${result.action.id}: its outcome is not known` };
  if (result.status === 'skipped') return result.because;
  if (result.status !== 'failed') return undefined;
  if (result.reason.type === 'stop-scope')
    return { type: 'scope-stopped', by: `${result.action.id}: ${result.answer.message}` };
  if (result.reason.type === 'throttled')
    return { type: 'scope-stopped', by: `${result.action.id}: the platform asked to slow down` };
  return undefined;
}

function kindOf({ kinds }: ApplyWorld, action: Action) {
  const kind = kinds.get(action.resource.slice(0, action.resource.indexOf('/')));
  if (kind === undefined) throw new Error(`${action.resource} is of a kind that is not reconciled`);
  return kind;
}
