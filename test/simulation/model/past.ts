import type { Beginning } from './beginning.ts';
import { ModelWorld } from './world.ts';
import type { Scenario } from './scenario.ts';

/** What commands that nothing disturbs leave for a scenario, once its first commits are done. undefined: there are none. */
export async function pastOf(scenario: Scenario): Promise<Beginning | undefined> {
  if (scenario.done.length === 0) return undefined;
  const past = { ...scenario, done: [], commits: scenario.done };
  const pair = ['command', 'command'] as const;
  const world = new ModelWorld({ scenario: past, pair, faults: 0, from: undefined, tracing: false });
  await world.play('command', ([first]) => first);
  world.end();
  if (world.violation !== undefined) throw new Error(`the past of ${scenario.name}: ${world.violation.message}`);
  const { commits, ...others } = world.beginning(false);
  return { ...others, commits: commits + 1, approvalsLeft: scenario.approvals };
}
