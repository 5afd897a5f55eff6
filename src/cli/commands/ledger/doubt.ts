import { type Settling, settlingOf, windowLeftMs } from '../../../reconcile/resolution/settle.ts';
import type { Timing } from '../../../reconcile/apply/world.ts';
import type { Intent } from '../../../model/owned.ts';
import type { Action } from '../../../model/plan.ts';
import { unreachable } from '../../../model/unreachable.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { safeLine } from '../../../model/text.ts';
import type { Surroundings } from '../../session/command.ts';
import { readConfiguration } from '../../session/configuration.ts';
import { timingOf } from '../../../reconcile/timing.ts';
import type { LedgerOptions } from './opening.ts';
import { instant, resolveCommands } from './words.ts';

/** What it takes to say how an intent without an outcome stands. */
export interface DoubtView {
  readonly options: LedgerOptions;
  readonly timing: Timing;
  readonly clock: Clock;
}

/** A configuration at fault must not hide the ledger: it only tells how long a request is waited for. */
export function doubtView(
  options: LedgerOptions & { readonly config?: string | undefined },
  surroundings: Surroundings,
): DoubtView {
  const { configuration } = readConfiguration(options.config, surroundings);
  return { options, timing: timingOf(configuration.settings), clock: surroundings.clock };
}

/** An intent whose outcome is not known, for people: what was sent, until when to wait, and how to settle it. */
export function doubtText(intent: Intent, view: DoubtView): string {
  const { id, operation, resource, scope, createdMs } = intent;
  const { summary } = intent.action as unknown as Partial<Action>;
  const { applied, notApplied } = resolveCommands(id, view.options);
  const lines = [
    `  ${id}  ${operation} for ${resource} in ${scope}`,
    ...(summary === undefined ? [] : [`    what        ${summary}`]),
    `    sent        ${instant(createdMs)}${intent.state === 'open' ? ', and its process has recorded no outcome' : ''}`,
    `    settles     ${settlesText(intent, settlingOf(intent, view.clock), view.timing)}`,
    `    happened    ${applied}`,
    `    did not     ${notApplied}`,
  ];
  return lines.map((line) => `${safeLine(line)}\n`).join('');
}

function settlesText(intent: Intent, left: Settling, timing: Timing): string {
  switch (left.type) {
    case 'over':
      return `since ${instant(intent.settleMs)}: the next apply looks at the platform and decides it, if it can`;
    case 'until':
      return `${instant(left.untilMs)}: until then it may still arrive, and what the platform shows proves nothing`;
    case 'restarted':
      return `${Math.round(windowLeftMs(intent, timing) / 1000)} s after the next apply has found it: until then it may still arrive`;
    default:
      return unreachable(left);
  }
}

/** The same for programs. `at` is null where nothing has begun to wait yet. */
export function doubtJson(intent: Intent, { options, clock }: DoubtView): object {
  const left = settlingOf(intent, clock);
  const atMs = left.type === 'until' ? left.untilMs : left.type === 'over' ? intent.settleMs : undefined;
  return {
    ...intent,
    settles: { isOver: left.type === 'over', at: atMs === undefined ? null : new Date(atMs).toISOString() },
    resolve: resolveCommands(intent.id, options),
  };
}
