import type { ActionResult } from '../../plan/result.ts';
import type { ApplyEvent, WorldHooks } from '../../reconcile/apply/world.ts';
import type { Action } from '../../model/plan.ts';
import { isOwnChange } from '../../plan/words.ts';
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
  /** The changes that were shown and approved, as `changeKey`. */
  readonly approved: ReadonlySet<string>;
  readonly failFast: boolean;
  /** Returns the application of a scope. */
  readonly laneOf: (scope: string) => string;
  readonly surroundings: Pick<Surroundings, 'clock' | 'env' | 'signal'>;
  /** Receives every event too. */
  readonly lines: LiveLines | undefined;
}

/** Identifies a change of a run. */
export function changeKey(scope: string, { id }: Pick<Action, 'id'>): string {
  return `${scope} ${id}`;
}

/** Returns hooks that report each action's start, outcome and duration, and that stop the run on a signal or failure. */
export function applyHooks({
  progress,
  approved,
  failFast,
  laneOf,
  surroundings,
  lines,
}: ApplyHooksOptions): WorldHooks {
  const { clock, env, signal } = surroundings;
  const { marks } = glyphsFor(env);
  const begunMs = new Map<string, MonotonicMs>();
  const tally = new Tally(approved);
  const ended = { done: 0, failed: 0, 'in-doubt': 0, skipped: 0 } satisfies Record<ActionResult['status'], number>;
  const label = (action: Action): string => `${action.resource}: ${action.summary}`;

  const showTally = (): void => progress.tally(`apply: ${tally.text}${troubleOf(ended)}`);

  function finished({ action, scope, result }: Extract<ApplyEvent, { type: 'finished' }>): void {
    const key = changeKey(scope, action);
    const startMs = begunMs.get(key);
    ended[result.status] += 1;
    const tookMs = startMs === undefined ? 0 : clock.monotonic() - startMs;
    const facts = [...tally.finish(key, action), ...(tookMs < 1000 ? [] : [shortDuration(tookMs)])];
    progress.line(
      `${marks[MARKS[result.status]]} ${label(action)}${facts.length === 0 ? '' : `  (${facts.join(', ')})`}`,
    );
    showTally();
    progress.at(laneOf(scope), 'observing the result');
  }

  return {
    stopRequested: () =>
      signal.aborted ? 'interrupted' : failFast && ended.failed + ended['in-doubt'] > 0 ? 'fail-fast' : undefined,
    emit(event) {
      lines?.emit(event);
      switch (event.type) {
        case 'started':
          begunMs.set(changeKey(event.scope, event.action), clock.monotonic());
          showTally();
          return progress.at(laneOf(event.scope), label(event.action));
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

function troubleOf(ended: Readonly<Record<ActionResult['status'], number>>): string {
  const failed = ended.failed > 0 ? `, ${ended.failed} failed` : '';
  return ended['in-doubt'] > 0 ? `${failed}, ${ended['in-doubt']} in doubt` : failed;
}

/**
 * Counts finished changes, each once, so that the number only grows. Its total is the number of approved changes; those of
 * pending resources were not known then, and are counted beside it.
 */
class Tally {
  readonly #approved: ReadonlySet<string>;
  readonly #finished = new Set<string>();
  readonly #pending = new Set<string>();

  constructor(approved: ReadonlySet<string>) {
    this.#approved = approved;
  }

  /** Counts a change. @returns its number, for its line; nothing for the completion of another change. */
  finish(key: string, action: Action): readonly string[] {
    if (!isOwnChange(action)) return [];
    if (!this.#approved.has(key)) {
      this.#pending.add(key);
      return [`+${this.#pending.size} that was pending`];
    }
    this.#finished.add(key);
    return [`${this.#finished.size}/${this.#approved.size}`];
  }

  get text(): string {
    const pending = this.#pending.size === 0 ? '' : `, and ${count(this.#pending.size, 'pending change')}`;
    return `${this.#finished.size} of ${this.#approved.size} finished${pending}`;
  }
}

/** Returns the duration and the number of requests of a run. It goes to standard error: it is not part of the result. */
export function renderEffort(tookMs: number, { reads, writes }: Traffic): string {
  if (reads + writes === 0) return '';
  const changes = writes === 0 ? 'no writes' : `including ${count(writes, 'write')}`;
  return `Took ${shortDuration(tookMs)}, ${count(reads + writes, 'request')} to the platform, ${changes}.\n`;
}
