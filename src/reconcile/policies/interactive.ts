import { transaction } from '../apply/journal.ts';
import type { ApplyWorld } from '../apply/world.ts';
import type { Action, ScopePlan } from '../../model/plan.ts';
import { expensesOf } from '../../plan/budget.ts';
import { closedWindow, type GuardLimits } from '../../plan/guard.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Refusal } from '../../model/plan-document.ts';
import { guardPlan } from '../guards.ts';
import type { Outcome } from '../outcome.ts';
import { type Next, type PassPolicy, type Reservation, unlimited } from '../policy.ts';
import { unusedOf } from '../removal-budget.ts';
import type { Prepared } from '../work.ts';
import type { BudgetOfRun } from './run.ts';
import { isSameAction } from '../../plan/difference.ts';

/** Interval at which a starting install is observed. */
const OBSERVE_EVERY_MS = 2_000;

/** Says what an interactive command waits for. */
export interface Waiting {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** For writes in doubt, too. */
  readonly forDoubts: boolean;
}

export interface InteractiveOptions {
  readonly limits: GuardLimits;
  /** undefined: nothing is counted, because the plan was agreed to as a whole. */
  readonly budget?: BudgetOfRun | undefined;
  /** undefined: one pass. */
  readonly waiting?: Waiting;
}

/**
 * The policy of a person who approves a plan. All passes of the call apply only actions of the first plan, and actions that
 * follow from its deferred ones.
 */
export function interactive(options: InteractiveOptions): PassPolicy {
  return agreeing(options, approvalOf);
}

/** The policy of a plan that was agreed to as a whole, saved or by its digest: every action must still be the agreed one. */
export function agreedPlan(options: Omit<InteractiveOptions, 'budget'>): PassPolicy {
  return agreeing(options, exactApprovalOf);
}

function agreeing(
  { limits, waiting, budget }: InteractiveOptions,
  approval: (plan: ScopePlan) => (action: Action) => boolean,
): PassPolicy {
  let approved: ((action: Action) => boolean) | undefined;
  let earlier: Outcome | undefined;
  return {
    refusals: (seen, world) => guardPlan(seen, limits, world),
    admit({ plan }) {
      approved ??= approval(plan);
      return 'go';
    },
    permits: (action) => approved?.(action) === true && !hasFailed(earlier, action),
    withheld: ({ scope, work: { application } }) => {
      const closed = closedWindow(limits.windows, scope, application.labels);
      return closed && { type: 'paused', by: `the window "${closed.window}" allows no change now` };
    },
    async reserve(actions, prepared, world) {
      if (actions.length > 0) {
        await recordIgnoredWindow(prepared, limits, world);
        await recordIgnoredPolicies(prepared, limits, world);
      }
      return budget === undefined ? unlimited : reserve(actions, prepared, budget);
    },
    next(outcome) {
      earlier = outcome;
      return waiting === undefined ? 'end' : nextOf(outcome, waiting);
    },
  };
}

async function reserve(
  actions: readonly Action[],
  prepared: Prepared,
  { kinds, budget, by, allowed, source }: BudgetOfRun,
): Promise<Reservation | readonly Refusal[]> {
  const { scope } = prepared;
  const { platform } = scope;
  const expenses = expensesOf(kinds, prepared, actions, source);
  const refusals = await budget.spend(platform, expenses, by, allowed !== undefined);
  if (refusals.length > 0) return refusals;
  return { release: (outcome) => budget.giveBack(platform, unusedOf(expenses, outcome, scope), by) };
}

/** Records the reason for ignoring a window in the history. */
async function recordIgnoredWindow(
  { scope, work: { application } }: Prepared,
  { windows }: GuardLimits,
  world: ApplyWorld,
): Promise<void> {
  if (windows?.ignoredBecause === undefined) return;
  const state = windows.at(scope, application.labels);
  if (state.type === 'open') return;
  const detail = { application: application.id, window: state.window, reason: windows.ignoredBecause };
  await world.ledger.commit(transaction(world, scope, [{ op: 'record', event: 'window-ignored', detail }]));
}

/** Records the reason for ignoring the policies that deny in the history. */
async function recordIgnoredPolicies(
  { scope, denied, work: { application } }: Prepared,
  { policiesIgnoredBecause: reason }: GuardLimits,
  world: ApplyWorld,
): Promise<void> {
  if (reason === undefined || denied.length === 0) return;
  const policies = [...new Set(denied.map(({ policy }) => policy))];
  const detail = { application: application.id, policies, reason };
  await world.ledger.commit(transaction(world, scope, [{ op: 'record', event: 'policies-ignored', detail }]));
}

/** Returns whether to wait for another pass, and until when. */
function nextOf(outcome: Outcome, { clock, signal, forDoubts }: Waiting): Next {
  if (outcome.type !== 'ended' || outcome.error !== undefined || signal.aborted) return 'end';
  const nowMs = clock.now();
  const [wait] = outcome.waits;
  if (wait !== undefined) return { message: wait.message, untilMs: wait.untilMs, sleepMs: OBSERVE_EVERY_MS, signal };
  if (!forDoubts) return 'end';
  const held = outcome.plan.holds.flatMap((hold) => (hold.untilMs === undefined ? [] : [hold.untilMs]));
  // One whose time is over was looked at: a person decides it.
  const doubtful = outcome.results.flatMap((result) =>
    result.status === 'in-doubt' && result.untilMs > nowMs ? [result.untilMs] : [],
  );
  const untilMs = Math.max(...held, ...doubtful);
  if (!Number.isFinite(untilMs)) return 'end';
  const sleepMs = Math.max(1000, untilMs - nowMs + 100);
  return { message: 'a write in doubt may still arrive', untilMs, sleepMs, signal };
}

/** Waiting is for something else: what was refused once is not sent again by the same command. */
function hasFailed(outcome: Outcome | undefined, { id }: Action): boolean {
  return (
    outcome?.type === 'ended' && outcome.results.some((result) => result.action.id === id && result.status === 'failed')
  );
}

/** Returns whether an action was part of the approved plan, or follows from one of its deferred actions. */
export function approvalOf(plan: ScopePlan): (action: Action) => boolean {
  const actions = new Set(plan.actions.map((action) => action.id));
  const deferred = new Set(plan.deferred.map((entry) => entry.resource));
  return (action) => actions.has(action.id) || (deferred.has(action.resource) && !action.prune);
}

/**
 * Does the same as `approvalOf` for a plan that was agreed to as a whole: an action that a later observation finds with
 * another former value, or another id, is not the agreed one.
 */
function exactApprovalOf(plan: ScopePlan): (action: Action) => boolean {
  const named = approvalOf(plan);
  const actions = new Map(plan.actions.map((action) => [action.id, action]));
  return (action) => {
    const agreed = actions.get(action.id);
    return named(action) && (agreed === undefined || isSameAction(agreed, action));
  };
}
