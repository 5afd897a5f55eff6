import type { ApplyWorld } from './apply/world.ts';
import { PortolanError } from '../model/errors.ts';
import { scopeKey } from '../model/ids.ts';
import { unreachable } from '../model/unreachable.ts';
import type { ActionResult } from '../plan/result.ts';
import { failed } from './apply/journal.ts';
import type { Outcome } from './outcome.ts';
import type { Next } from './policy.ts';

/** Waits until another pass is useful. @returns false if the wait was interrupted. */
export async function waitForPass(
  { message, untilMs, sleepMs, signal }: Exclude<Next, 'end'>,
  outcome: Outcome,
  world: ApplyWorld,
): Promise<boolean> {
  const scope = outcome.type === 'unobserved' ? '' : scopeKey(outcome.plan.scope);
  world.emit({ type: 'waiting', scope, message, untilMs });
  try {
    await world.clock.sleep(sleepMs, signal);
    return true;
  } catch {
    return false;
  }
}

type Ended = Extract<Outcome, { type: 'ended' }>;

/** The outcome of both: whatever the later pass came to, what the earlier one has sent was sent. */
export async function mergeOutcomes(earlier: Outcome, next: Outcome, world: ApplyWorld): Promise<Outcome> {
  if (earlier.type !== 'ended') return next;
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

/** Returns the result of a write that was in doubt, as observation has decided it since. */
async function decided(
  result: Extract<ActionResult, { status: 'in-doubt' }>,
  { ledger }: ApplyWorld,
  left: ReadonlySet<string>,
): Promise<ActionResult> {
  const { action, answer, request } = result;
  const [intent] = await ledger.intents({ id: result.intent });
  const state = intent?.state;
  if (state === undefined || state === 'open' || state === 'unknown') return result;
  // For a write that may be repeated, the plan shows whether it took effect.
  const isDone = state === 'applied' || (state === 'superseded' && !left.has(action.id));
  if (isDone) return { status: 'done', action, answer };
  return failed(action, request, { type: 'refused' }, answer, 'It did not take effect. Run the same command again.');
}
