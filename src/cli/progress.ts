import type { EpochMs, MonotonicMs } from '../model/time.ts';
import { safeLine } from '../model/text.ts';
import { clockTime, relativeTime, shortDuration } from './age.ts';
import type { Surroundings } from './command.ts';
import { count } from './text.ts';

/**
 * What is going on, on stderr. On a terminal its bottom lines say which action of how many each application is at, for how
 * long, and what is waited for until when; what is finished stays above. Elsewhere there is a plain line for each thing
 * that is finished or waited for, and no line twice.
 */
export interface Progress {
  /** `lane` is at work on this, until it is told otherwise. */
  at(lane: string, text: string): void;
  /** `lane` waits. @param untilMs when it gives up waiting, or knows more. */
  waits(lane: string, text: string, untilMs: EpochMs): void;
  /** There is nothing more under way in `lane`. */
  rest(lane: string): void;
  /** How much is done of how much: the first line where several lanes are at work. */
  tally(text: string): void;
  /** A line that stays: an outcome. */
  line(text: string): void;
  /** Takes away what is drawn. Call it before anything else is printed, and at the end. */
  clear(): void;
}

interface Activity {
  readonly text: string;
  readonly sinceMs: MonotonicMs;
  readonly untilMs: EpochMs | undefined;
}

const REDRAW_MS = 1_000;
/** Without a terminal, what takes longer is said while it lasts: a log that says nothing looks dead. */
const LONG_MS = 30_000;
/** Shorter than this, the time says nothing. */
const WORTH_SAYING_MS = 2_000;

export function createProgress({ terminal, live, clock }: Pick<Surroundings, 'terminal' | 'live' | 'clock'>): Progress {
  const lanes = new Map<string, Activity>();
  const said = new Set<string>();
  const startedMs = clock.monotonic();
  let tally = '';
  let ticking: AbortController | undefined;
  /** One for each lane that is at something. */
  const alarms = new Map<string, AbortController>();

  function draw(): void {
    if (!live.isVisible) return;
    live.show(linesOf([...lanes], tally, clock.monotonic() - startedMs, live.rows, clock));
    if (lanes.size > 0) void tick();
  }

  async function tick(): Promise<void> {
    if (ticking !== undefined || !live.isVisible) return;
    const stop = new AbortController();
    ticking = stop;
    while (!stop.signal.aborted) {
      await clock.sleep(REDRAW_MS, stop.signal).catch(() => {});
      if (!stop.signal.aborted) draw();
    }
  }

  function sayOnce(text: string): void {
    if (live.isVisible || said.has(text)) return;
    said.add(text);
    terminal.err.write(`${safeLine(text)}\n`);
  }

  async function sayWhenLong(lane: string): Promise<void> {
    // One alarm goes on with what the lane comes to next: a plan comes to thousands of applications in one lane.
    if (live.isVisible || alarms.has(lane)) return;
    const stop = new AbortController();
    alarms.set(lane, stop);
    for (let leftMs = LONG_MS; leftMs > 0; ) {
      await clock.sleep(leftMs, stop.signal).catch(() => {});
      const activity = lanes.get(lane);
      if (stop.signal.aborted || activity === undefined) return;
      leftMs = activity.sinceMs + LONG_MS - clock.monotonic();
      if (leftMs <= 0) sayOnce(`wait  ${activity.text}, since ${shortDuration(LONG_MS)}`);
    }
    alarms.delete(lane);
  }

  function ended(lane: string): void {
    alarms.get(lane)?.abort(new Error('it is over'));
    alarms.delete(lane);
  }

  return {
    at(lane, text) {
      lanes.set(lane, { text, sinceMs: clock.monotonic(), untilMs: undefined });
      void sayWhenLong(lane);
      draw();
    },
    waits(lane, text, untilMs) {
      ended(lane);
      const former = lanes.get(lane);
      const goesOn = former?.text === text && former.untilMs !== undefined;
      lanes.set(lane, { text, sinceMs: goesOn ? former.sinceMs : clock.monotonic(), untilMs });
      sayOnce(`wait  ${text}, until ${new Date(untilMs).toISOString()}`);
      draw();
    },
    rest(lane) {
      ended(lane);
      lanes.delete(lane);
      draw();
    },
    tally(text) {
      tally = text;
      draw();
    },
    line: (text) => terminal.err.write(`${safeLine(text)}\n`),
    clear() {
      ticking?.abort(new Error('nothing is under way'));
      ticking = undefined;
      for (const lane of alarms.keys()) ended(lane);
      lanes.clear();
      live.show([]);
    },
  };
}

/** One lane is one line; several are a line each below a summary, as far as there is room. */
function linesOf(
  lanes: readonly (readonly [string, Activity])[],
  tally: string,
  elapsedMs: number,
  rows: number,
  clock: Surroundings['clock'],
): readonly string[] {
  const [first, second] = lanes;
  if (first === undefined) return [];
  if (second === undefined) return [activityLine(first[1], clock)];
  const waiting = lanes.filter(([, { untilMs }]) => untilMs !== undefined).length;
  const underWay = `${count(lanes.length, 'application')} under way${waiting > 0 ? `, ${waiting} of them waiting` : ''}`;
  const head = `${tally === '' ? '' : `${tally}, `}${underWay}  ${shortDuration(elapsedMs)}`;
  if (rows < 3) return [head];
  const room = rows - 1;
  const shown = lanes.length > room ? lanes.slice(0, room - 1) : lanes;
  const more = lanes.length - shown.length;
  return [
    head,
    ...shown.map(([lane, activity]) => `  ${safeLine(lane)}  ${activityLine(activity, clock)}`),
    ...(more > 0 ? [`  and ${count(more, 'application')} more`] : []),
  ];
}

/** How long, and until when, stand before what may have to be cut. */
function activityLine({ text, sinceMs, untilMs }: Activity, clock: Surroundings['clock']): string {
  if (untilMs !== undefined) {
    const nowMs = clock.now();
    const left = untilMs > nowMs ? relativeTime(untilMs, nowMs) : 'now';
    return `wait until ${clockTime(untilMs)} (${left})  ${safeLine(text)}`;
  }
  const elapsedMs = clock.monotonic() - sinceMs;
  return `${elapsedMs < WORTH_SAYING_MS ? '' : `${shortDuration(elapsedMs)}  `}${safeLine(text)}`;
}
