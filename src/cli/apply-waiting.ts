import type { ApplyWorld } from '../apply/world.ts';
import { PortolanError } from '../model/errors.ts';
import { scopeKey } from '../model/ids.ts';
import type { Action } from '../model/plan.ts';
import { unreachable } from '../model/unreachable.ts';
import type { ActionResult } from '../plan/result.ts';
import type { Outcome } from '../reconcile/outcome.ts';
import { type approvalOf, carryOut, prepare, type Prepared } from '../reconcile/reconcile.ts';
import type { Surroundings } from './command.ts';
import type { Session, SessionHooks } from './session.ts';

/** How often an install that must come to run is looked at. */
const LOOK_EVERY_MS = 2_000;

/**
 * Passes over one scope until nothing is waited for: an install that must come to run, or with `--wait` a write in doubt,
 * ends its pass and not the command. What a person saw and agreed to bounds all of them.
 */
export async function untilDone(
  waitsForSettling: boolean,
  first: Prepared,
  approved: ReturnType<typeof approvalOf>,
  session: Session,
  hooks: SessionHooks,
  { clock, signal }: Pick<Surroundings, 'clock' | 'signal'>,
): Promise<Outcome> {
  const world = session.world(first.work, hooks);
  let outcome = await carryOut(first, world, session.options, approved);
  for (;;) {
    const pause = pauseAfter(outcome, waitsForSettling, clock.now());
    if (pause === undefined || signal.aborted) return outcome;
    hooks.emit({ type: 'waiting', scope: scopeKey(first.scope), message: pause.message, untilMs: pause.untilMs });
    try {
      await clock.sleep(pause.sleepMs, signal);
    } catch {
      return outcome;
    }
    const earlier = outcome;
    try {
      const next = await carryOut(
        await prepare(first.work, world, session.options),
        world,
        session.options,
        (action) => approved(action) && !hasFailed(earlier, action),
      );
      outcome = earlier.type === 'ended' ? await goneOn(earlier, next, world) : next;
    } catch (error) {
      if (!(error instanceof PortolanError) || earlier.type !== 'ended') throw error;
      return { ...earlier, error };
    }
  }
}

/** What is worth waiting for, and when to look again. */
function pauseAfter(outcome: Outcome, waitsForSettling: boolean, nowMs: number) {
  if (outcome.type !== 'ended' || outcome.error !== undefined) return undefined;
  const [wait] = outcome.waits;
  if (wait !== undefined) return { message: wait.message, untilMs: wait.untilMs, sleepMs: LOOK_EVERY_MS };
  if (!waitsForSettling) return undefined;
  const held = outcome.plan.holds.flatMap((hold) => (hold.untilMs === undefined ? [] : [hold.untilMs]));
  // One whose time is over was looked at: a person decides it.
  const doubtful = outcome.results.flatMap((result) =>
    result.status === 'in-doubt' && result.untilMs > nowMs ? [result.untilMs] : [],
  );
  const untilMs = Math.max(...held, ...doubtful);
  if (!Number.isFinite(untilMs)) return undefined;
  return { message: 'a write in doubt may still arrive', untilMs, sleepMs: Math.max(1000, untilMs - nowMs + 100) };
}

/** Waiting is for something else: what was refused once is not sent again by the same command. */
function hasFailed(outcome: Outcome, { id }: Action): boolean {
  return (
    outcome.type === 'ended' && outcome.results.some((result) => result.action.id === id && result.status === 'failed')
  );
}

type Ended = Extract<Outcome, { type: 'ended' }>;

/** The outcome of both: whatever the later pass came to, what the earlier one has sent was sent. */
async function goneOn(earlier: Ended, next: Outcome, world: ApplyWorld): Promise<Ended> {
  switch (next.type) {
    case 'ended':
      return { ...next, results: await latest(earlier.results, next, world) };
    case 'unobserved':
      return { ...earlier, error: next.error };
    case 'refused': {
      const [refusal] = next.refusals;
      const error = new PortolanError({
        code: refusal?.code ?? 'guard/refused',
        disposition: 'ask-human',
        message: next.refusals.map(({ message }) => message).join('; '),
        remedy: `To let it through: ${next.refusals.map(({ override }) => override).join(', ')}.`,
      });
      return { ...earlier, plan: next.plan, waits: [], error };
    }
    default:
      return unreachable(next);
  }
}

/** The last word on each action. */
async function latest(
  earlier: readonly ActionResult[],
  { results, plan }: Ended,
  world: ApplyWorld,
): Promise<readonly ActionResult[]> {
  const again = new Set(results.map((result) => result.action.id));
  const left = new Set(plan.actions.map((action) => action.id));
  const stands = ({ status, action }: ActionResult): boolean => status !== 'skipped' || left.has(action.id);
  const before = earlier.filter((result) => stands(result) && !again.has(result.action.id));
  const now = before.map(async (result) => (result.status === 'in-doubt' ? decided(result, world, left) : result));
  return [...(await Promise.all(now)), ...results];
}

/** What observation has made of a write in doubt since. */
async function decided(
  result: Extract<ActionResult, { status: 'in-doubt' }>,
  { ledger }: ApplyWorld,
  left: ReadonlySet<string>,
): Promise<ActionResult> {
  const { action, answer, request } = result;
  const [intent] = await ledger.intents({ id: result.intent });
  const state = intent?.state;
  if (state === undefined || state === 'open' || state === 'unknown') return result;
  // Of a write that may be repeated, the plan says whether it took.
  const isDone = state === 'applied' || (state === 'superseded' && !left.has(action.id));
  if (isDone) return { status: 'done', action, answer };
  return {
    status: 'failed',
    action,
    answer,
    request,
    reason: { type: 'refused' },
    remedy: 'It did not take effect. Run the same command again.',
  };
}
