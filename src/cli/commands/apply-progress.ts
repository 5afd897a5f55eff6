import type { ActionResult } from '../../plan/result.ts';
import type { ApplyEvent, WorldHooks } from '../../reconcile/apply/world.ts';
import type { Action } from '../../model/plan.ts';
import type { MonotonicMs } from '../../model/time.ts';
import { unreachable } from '../../model/unreachable.ts';
import { shortDuration } from '../terminal/age.ts';
import type { Surroundings } from '../session/command.ts';
import { glyphsFor, type Mark } from '../terminal/drawing/glyphs.ts';
import type { LiveLines } from '../terminal/live-lines.ts';
import type { Progress } from '../terminal/progress.ts';
import type { Traffic } from '../session/session.ts';
import { count } from '../terminal/text.ts';

export interface ApplyHooksOptions {
  readonly progress: Progress;
  /** Number of actions of all plans. Actions found later are added. */
  readonly total: number;
  readonly failFast: boolean;
  /** Returns the application of a scope. */
  readonly laneOf: (scope: string) => string;
  readonly surroundings: Pick<Surroundings, 'clock' | 'env' | 'signal'>;
  /** Receives every event too. */
  readonly lines: LiveLines | undefined;
}

/** Returns hooks that report each action's start, outcome and duration, and that stop the run on a signal or failure. */
export function applyHooks({ progress, total, failFast, laneOf, surroundings, lines }: ApplyHooksOptions): WorldHooks {
  const { clock, env, signal } = surroundings;
  const { marks } = glyphsFor(env);
  const begun = new Map<string, { readonly nth: number; readonly atMs: MonotonicMs }>();
  let nth = 0;
  const ended = { done: 0, failed: 0, 'in-doubt': 0, skipped: 0 } satisfies Record<ActionResult['status'], number>;
  const label = (action: Action): string => `${action.resource}: ${action.summary}`;
  const of = (at: number): string => `${at}/${Math.max(total, nth)}`;

  function finished({ action, scope, result }: Extract<ApplyEvent, { type: 'finished' }>): void {
    const start = begun.get(`${scope} ${action.id}`);
    ended[result.status] += 1;
    // This action was counted as done when the platform accepted it.
    if (result.status === 'failed' && result.reason.type === 'not-taken') ended.done -= 1;
    const tookMs = start === undefined ? 0 : clock.monotonic() - start.atMs;
    const facts = [...(start === undefined ? [] : [of(start.nth)]), ...(tookMs < 1000 ? [] : [shortDuration(tookMs)])];
    progress.line(
      `${marks[MARKS[result.status]]} ${label(action)}${facts.length === 0 ? '' : `  (${facts.join(', ')})`}`,
    );
    progress.tally(tallyOf(ended, Math.max(total, nth)));
    progress.at(laneOf(scope), 'observing the result');
  }

  return {
    stopRequested: () =>
      signal.aborted ? 'interrupted' : failFast && ended.failed + ended['in-doubt'] > 0 ? 'fail-fast' : undefined,
    emit(event) {
      lines?.emit(event);
      switch (event.type) {
        case 'started':
          nth += 1;
          begun.set(`${event.scope} ${event.action.id}`, { nth, atMs: clock.monotonic() });
          return progress.at(laneOf(event.scope), `apply ${of(nth)}  ${label(event.action)}`);
        case 'finished':
          return finished(event);
        case 'resolved':
          return progress.line(`i ${event.resource}: intent ${event.intent} of an earlier run: ${event.how}`);
        case 'waiting':
          return progress.waits(laneOf(event.scope), event.message, event.untilMs);
        default:
          return unreachable(event);
      }
    },
  };
}

const MARKS: Readonly<Record<ActionResult['status'], Mark>> = {
  done: 'good',
  failed: 'bad',
  'in-doubt': 'unknown',
  skipped: 'skipped',
};

function tallyOf(ended: Readonly<Record<ActionResult['status'], number>>, total: number): string {
  const trouble = [
    ...(ended.failed > 0 ? [`, ${ended.failed} failed`] : []),
    ...(ended['in-doubt'] > 0 ? [`, ${ended['in-doubt']} in doubt`] : []),
  ];
  return `apply: ${ended.done} of ${total} done${trouble.join('')}`;
}

/** Returns the duration and the number of requests of a run. It goes to standard error: it is not part of the result. */
export function renderEffort(tookMs: number, { reads, writes }: Traffic): string {
  if (reads + writes === 0) return '';
  const changes = writes === 0 ? 'no writes' : `including ${count(writes, 'write')}`;
  return `Took ${shortDuration(tookMs)}, ${count(reads + writes, 'request')} to the platform, ${changes}.\n`;
}
