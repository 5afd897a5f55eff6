import type { EpochMs, MonotonicMs } from '../../model/time.ts';
import { safeLine } from '../../model/text.ts';
import { clockTime, relativeTime, shortDuration } from './age.ts';
import type { Surroundings } from '../session/command.ts';
import { count } from './text.ts';

interface Activity {
  readonly text: string;
  readonly sinceMs: MonotonicMs;
  readonly untilMs: EpochMs | undefined;
}

const REDRAW_MS = 1_000;
/** Without a terminal, work that takes longer is reported while it lasts: a silent log looks dead. */
const LONG_MS = 30_000;
/** A shorter time is not shown. */
const WORTH_SAYING_MS = 2_000;

/**
 * Shows work in progress on stderr. On a terminal, the bottom lines show the current action of each application, its
 * duration, and the end of waits; outcomes stay above. Elsewhere, each outcome and each wait is written once as a plain
 * line.
 */
export class Progress {
  readonly #around: Pick<Surroundings, 'terminal' | 'live' | 'clock'>;
  readonly #startedMs: MonotonicMs;
  readonly #lanes = new Map<string, Activity>();
  readonly #said = new Set<string>();
  /** One for each active lane. */
  readonly #alarms = new Map<string, AbortController>();
  #tally = '';
  #ticking: AbortController | undefined;

  constructor(around: Pick<Surroundings, 'terminal' | 'live' | 'clock'>) {
    this.#around = around;
    this.#startedMs = around.clock.monotonic();
  }

  /** Shows that `lane` works on this, until the next call for the lane. */
  at(lane: string, text: string): void {
    this.#lanes.set(lane, { text, sinceMs: this.#around.clock.monotonic(), untilMs: undefined });
    void this.#sayWhenLong(lane);
    this.#draw();
  }

  /** Shows that `lane` waits. @param untilMs end of the wait. */
  waits(lane: string, text: string, untilMs: EpochMs): void {
    this.#ended(lane);
    const former = this.#lanes.get(lane);
    const isSameWait = former?.text === text && former.untilMs !== undefined;
    this.#lanes.set(lane, { text, sinceMs: isSameWait ? former.sinceMs : this.#around.clock.monotonic(), untilMs });
    this.#sayOnce(`wait  ${text} (until ${new Date(untilMs).toISOString()})`);
    this.#draw();
  }

  /** Removes `lane`: it has no work any more. */
  rest(lane: string): void {
    this.#ended(lane);
    this.#lanes.delete(lane);
    this.#draw();
  }

  /** Shows the overall progress, in the first line when several lanes are active. */
  tally(text: string): void {
    this.#tally = text;
    this.#draw();
  }

  /** Writes an outcome, which stays on the screen. */
  line(text: string): void {
    this.#around.terminal.err.write(`${safeLine(text)}\n`);
  }

  /** Erases the live lines. Call it before other output, and at the end. */
  clear(): void {
    this.#ticking?.abort(new Error('nothing is under way'));
    this.#ticking = undefined;
    for (const lane of this.#alarms.keys()) this.#ended(lane);
    this.#lanes.clear();
    this.#around.live.show([]);
  }

  #draw(): void {
    if (!this.#around.live.isVisible) return;
    this.#around.live.show(this.#lines());
    if (this.#lanes.size > 0) void this.#tick();
  }

  /** Returns one line for a single lane; for several lanes a summary, and below it a line each as far as they fit. */
  #lines(): readonly string[] {
    const { clock, live } = this.#around;
    const lanes = [...this.#lanes];
    const [first, second] = lanes;
    if (first === undefined) return [];
    const tally = this.#tally === '' ? '' : `${this.#tally}, `;
    if (second === undefined) return [`${tally}${activityLine(first[1], clock)}`];
    const waiting = lanes.filter(([, { untilMs }]) => untilMs !== undefined).length;
    const underWay = `${count(lanes.length, 'application')} under way${waiting > 0 ? `, ${waiting} of them waiting` : ''}`;
    const head = `${tally}${underWay}  ${shortDuration(clock.monotonic() - this.#startedMs)}`;
    if (live.rows < 3) return [head];
    const room = live.rows - 1;
    const shown = lanes.length > room ? lanes.slice(0, room - 1) : lanes;
    const more = lanes.length - shown.length;
    return [
      head,
      ...shown.map(([lane, activity]) => `  ${safeLine(lane)}  ${activityLine(activity, clock)}`),
      ...(more > 0 ? [`  and ${count(more, 'application')} more`] : []),
    ];
  }

  async #tick(): Promise<void> {
    if (this.#ticking !== undefined || !this.#around.live.isVisible) return;
    const stop = new AbortController();
    this.#ticking = stop;
    while (!stop.signal.aborted) {
      await this.#around.clock.sleep(REDRAW_MS, stop.signal).catch(() => {});
      if (!stop.signal.aborted) this.#draw();
    }
  }

  #sayOnce(text: string): void {
    if (this.#around.live.isVisible || this.#said.has(text)) return;
    this.#said.add(text);
    this.#around.terminal.err.write(`${safeLine(text)}\n`);
  }

  async #sayWhenLong(lane: string): Promise<void> {
    // One alarm per lane follows its activities: a plan walks through thousands of applications in one lane.
    if (this.#around.live.isVisible || this.#alarms.has(lane)) return;
    const stop = new AbortController();
    this.#alarms.set(lane, stop);
    for (let leftMs = LONG_MS; leftMs > 0; ) {
      await this.#around.clock.sleep(leftMs, stop.signal).catch(() => {});
      const activity = this.#lanes.get(lane);
      if (stop.signal.aborted || activity === undefined) return;
      leftMs = activity.sinceMs + LONG_MS - this.#around.clock.monotonic();
      if (leftMs <= 0) this.#sayOnce(`wait  ${activity.text}, since ${shortDuration(LONG_MS)}`);
    }
    this.#alarms.delete(lane);
  }

  #ended(lane: string): void {
    this.#alarms.get(lane)?.abort(new Error('it is over'));
    this.#alarms.delete(lane);
  }
}

/** Puts the duration and the end of a wait before the text, which may have to be cut. */
function activityLine({ text, sinceMs, untilMs }: Activity, clock: Surroundings['clock']): string {
  if (untilMs !== undefined) {
    const nowMs = clock.now();
    const left = untilMs > nowMs ? relativeTime(untilMs, nowMs) : 'now';
    return `wait until ${clockTime(untilMs)} (${left})  ${safeLine(text)}`;
  }
  const elapsedMs = clock.monotonic() - sinceMs;
  return `${elapsedMs < WORTH_SAYING_MS ? '' : `${shortDuration(elapsedMs)}  `}${safeLine(text)}`;
}
